package trainers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"missingscore/data/diagnose"
	"missingscore/data/transform"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/debias"
)

// A table of counted rows knows the rows that these stand for by their moments
// (data/moments). What follows from rows in another way is refused.

const takeTable = "take the table itself in place of its moments"

// byMoments tells whether an estimator's loss of a normal model depends on the rows of a
// pattern of gaps by their moments alone; of moments of pairs, whether it knows no others.
func (p *Prepared) byMoments(e estimator.Estimator) bool {
	if c := p.original.Counted; c == nil || e.OfMatrix() {
		return true
	} else if c.Pairs != nil {
		return false
	}
	needs := e.Loss.Needs()
	return !e.Draws() && (needs.Moments || needs.Normal || e.NeedsCompleteRows())
}

// checkMoments refuses of a table of counted rows what is asked for before there is an estimator.
func (p *Prepared) checkMoments() error {
	c, s := p.original.Counted, &p.Spec
	if c == nil {
		return nil
	}
	switch {
	case s.Model.New != nil || s.Model.Kind != DefaultModel:
		return setting.Errorf("model", s.Model.Kind, "moments of rows tell of the gaussian model only: %s", takeTable)
	case s.Domain.Bounded():
		return setting.Errorf("domain", "", "on a support the loss depends on rows, not on their moments: %s", takeTable)
	case s.Missingness != nil:
		return setting.Errorf("missingness", "", "a law of missing cells is of rows, not of their moments: %s", takeTable)
	case s.Transform.Others == transform.OrdinalKind || slices.Contains(slices.Collect(maps.Values(s.Transform.Columns)), transform.OrdinalKind):
		return setting.Errorf("ordinal", "", "moments are means and products of numbers, and how often each category was seen is not in them: %s", takeTable)
	case len(s.Transform.Columns) > 0 || s.Transform.Others != "":
		return setting.Errorf("transform", "", "moments cannot be transformed: transform the table before its moments are taken, or %s", takeTable)
	case s.KeepUnits:
		return setting.Errorf("keep_units", true, "moments are standardised: %s", takeTable)
	case s.Network == nil && s.Inference.Asked():
		return setting.Errorf("inference", s.Inference.Kind, "errors by the rows need rows: %s", takeTable)
	case s.Network == nil && s.Descent.Validation != nil && *s.Descent.Validation > 0:
		return setting.Errorf("validation", *s.Descent.Validation, "moments have no rows to hold out: %s", takeTable)
	case s.Network == nil && s.Descent.Optimiser == "adam":
		return setting.Errorf("optimiser", "adam", "it goes by batches of rows: leave it out, or %s", takeTable)
	}
	return p.checkNetworkMoments()
}

// checkNetworkMoments is checkMoments of a network.
func (p *Prepared) checkNetworkMoments() error {
	n, c := p.Spec.Network, &p.Spec.Inference
	if n == nil {
		return nil
	}
	if n.Select.Resamples() {
		return setting.Errorf("select", n.Select.Kind, "it divides the rows, and moments have none to divide: take ebic or fdr, or %s", takeTable)
	}
	if c.Stability > 0 {
		return setting.Errorf("stability", c.Stability, "it leaves rows out, and moments have none: %s", takeTable)
	}
	if c.Asked() && (c.Kind == debias.Robust || inference.Kinds[c.Kind].Resamples) {
		return setting.Errorf("inference", c.Kind, "it goes by the rows, and moments have none: take --inference model, or %s", takeTable)
	}
	if asks := c.Asked() || p.byTests(); asks && p.original.D > debias.DirectColumns {
		return setting.Errorf("inference", c.Kind, "of more than %d columns it goes by the rows, and moments have none: %s", debias.DirectColumns, takeTable)
	}
	return nil
}

// checkByMoments refuses an estimator that goes by more of the rows than their moments.
func (p *Prepared) checkByMoments(e estimator.Estimator) error {
	if p.byMoments(e) {
		if _, classical := p.objective.(losses.Classical); p.original.Counted != nil && !classical {
			return setting.Errorf("objective", p.Spec.Objective.Kind, "with it a loss depends on more of the rows than their moments: take classical, or %s", takeTable)
		}
		return nil
	}
	var names []string
	for _, other := range estimator.All {
		if p.byMoments(other) && p.suits(other) == nil {
			names = append(names, other.Name)
		}
	}
	if p.original.Counted.Pairs != nil {
		return setting.Errorf("method", e.Name, "the file has moments of pairs of columns alone (--pairs-only), which %s goes by: take it (the command network), or %s", strings.Join(names, ", "), takeTable)
	}
	return setting.Errorf("method", e.Name, "it goes by more of the rows than their moments: take %s, or %s", strings.Join(names, ", "), takeTable)
}

// countedFindings are those that moments tell of.
func (p *Prepared) countedFindings() []diagnose.Finding {
	return append(append(diagnose.Apart(p.original), diagnose.Copies(p.original)...), diagnose.Finding{Kind: "moments", Severity: diagnose.Note, Columns: []string{},
		Message: fmt.Sprintf("a fit of moments of %d rows: whether cells are missing at random, and what is wrong with columns, is to be seen in rows only (missingscore check TABLE.csv)", p.original.Counted.Rows)})
}
