package trainers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/transform"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/inference/debias"
	"missingscore/internal/trainers/inference/sandwich"
	"missingscore/internal/trainers/regpath"
	"missingscore/internal/trainers/rows"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
)

// refusal is why settings cannot be combined.
type refusal struct {
	applies bool
	err     error
}

func first(all []refusal) error {
	for _, r := range all {
		if r.applies {
			return r.err
		}
	}
	return nil
}

func (s Spec) check() error {
	const readable = "a saved model could not be read back; register the name in %s or leave Kind out"
	m, i, o := s.Model, s.Steps.Imputer, s.Objective
	if err := first([]refusal{
		{m.New != nil && m.Kind != "" && model.Models[m.Kind] == nil, setting.Errorf("model", m.Kind, readable, "model.Models")},
		{m.New != nil && m.Options != nil, setting.Errorf("model", m.Kind, "ModelSpec.New makes the model and ignores Options; leave one of the two out")},
		{i.New != nil && i.Options != nil, setting.Errorf("imputer", i.Kind, "ImputerSpec.New makes the imputer and ignores Options; leave one of the two out")},
		{i.New != nil && i.Kind != "" && nets.Imputers[i.Kind] == nil, setting.Errorf("imputer", i.Kind, readable, "nets.Imputers")},
	}); err != nil || s.Network == nil {
		return err
	}
	return first([]refusal{
		{m.New != nil || m.Kind != DefaultModel, setting.Errorf("model", m.Kind, "a network needs the model gaussian")},
		{o.New != nil || o.Kind != "auto", setting.Errorf("objective", o.Kind, "a network needs the objective auto")},
		{s.Descent != descent.Config{}, setting.Errorf("descent", "", "Descent configures fits of parameters, not networks; leave Descent out")},
		{s.Truth != nil, fmt.Errorf("a truth is for fits of parameters; compare a network by NetworkResult.Rates")},
	})
}

func (p *Prepared) allows(e estimator.Estimator) bool {
	if p.mixed() != nil {
		return e.Name == p.Estimator.Name
	}
	return checkKindOfTable(p, e) == nil && byMoments(e, p.Original.Counted) && e.Check(p.Model, p.objective, p.Support) == nil && e.CheckTable(p.Table) == nil
}

// e must support the kinds of columns; estimators for networks only do not fit parameters.
func checkKindOfTable(p *Prepared, e estimator.Estimator) error {
	ordinal, cuts := e.NeedsOrdinal(), p.Table.Cuts != nil
	refused := func(applies bool, why string) refusal {
		return refusal{applies, setting.Errorf("method", e.Name, "%s", why)}
	}
	return first([]refusal{
		refused(p.wide && !ordinal, "the method needs numbers, but some columns have unordered levels; use em-latent"),
		refused(!p.wide && cuts && !e.OfMatrix(), fmt.Sprintf("the method needs numbers, not ordered categories (%s); use em-latent or pairwise, or leave Spec.Transform=ordinal out", p.Transform.Describe(p.Table.Names))),
		refused(!p.wide && !cuts && ordinal, "the table has no ordered categories; use em-exact, or name them by Spec.Transform=ordinal"),
		refused(!p.wide && !ordinal && e.OfMatrix() && p.Spec.Network == nil, "the method is for networks only; use em-exact or exact, or the command network"),
	})
}

// checkSettings checks the settings against the table and fills in the defaults of Spec.Inference.
func checkSettings(p *Prepared) error {
	s := &p.Spec
	if err := cmp.Or(s.Steps.Check(), setting.NotNegative(setting.Field{Name: "g_cap", Value: s.Weight.Cap})); err != nil {
		return err
	}
	if s.Network == nil {
		if err := cmp.Or(s.Descent.Check(), checkParameters(p)); err != nil {
			return err
		}
		return checkMemory(p)
	}
	if err := s.Network.Check(p.Estimator); err != nil {
		return err
	}
	if err := cmp.Or(checkInference(p), checkWeights(p)); err != nil {
		return err
	}
	if err := checkMemory(p); err != nil {
		return err
	}
	t := p.Original
	if pairs := t.NeverTogether(); len(pairs) > 0 && len(pairs) == t.D*(t.D-1)/2 {
		return fmt.Errorf("%s are never observed in the same row, nor is any other pair; a network needs rows with two or more values", diagnose.PairsText(t, pairs))
	}
	return nil
}

func checkOrdinal(s Spec, t *data.Table, columns []int) error {
	if columns == nil {
		return nil
	}
	var names, bounded []string
	for _, j := range columns {
		if names = append(names, t.Names[j]); s.Domain != nil && s.Domain.BoundedColumn(j) {
			bounded = append(bounded, t.Names[j])
		}
	}
	refused := func(applies bool, why string) refusal {
		return refusal{applies, setting.Errorf(transform.OrdinalKind, strings.Join(names, ","), "%s", why)}
	}
	fit, d := s.Network == nil, s.Descent
	descends := d != descent.Config{Optimiser: d.Optimiser} || d.Optimiser != "" && d.Optimiser != "auto"
	return first([]refusal{
		refused(s.Model.New != nil || s.Model.Kind != DefaultModel, "ordered categories need Spec.Model.Kind gaussian"),
		refused(s.Missingness != nil, "ordered categories cannot be combined with Spec.Missingness"),
		refused(fit && s.Inference.Asked(), "a latent normal model has no standard errors; use the command network with Spec.Inference bootstrap=N"),
		refused(fit && descends, "a latent normal model is fitted by stochastic EM, without an optimiser; leave its settings out"),
		refused(bounded != nil, "the categories of "+strings.Join(bounded, ", ")+" cannot have bounds"),
	})
}

const takeTable = "use the table itself instead of its moments"

func checkCounted(t *data.Table, s Spec) error {
	if t.Counted == nil {
		return nil
	}
	needs := func(applies bool, field string, value any) refusal {
		return refusal{applies, setting.Errorf(field, value, "it needs the rows; %s", takeTable)}
	}
	c, d, fit := s.Inference, s.Descent, s.Network == nil
	err := first([]refusal{
		needs(s.Model.New != nil || s.Model.Kind != DefaultModel, "model", s.Model.Kind),
		needs(s.Domain.Bounded(), "domain", ""),
		needs(s.Missingness != nil, "missingness", ""),
		needs(s.Transform.Others == transform.OrdinalKind || slices.Contains(slices.Collect(maps.Values(s.Transform.Columns)), transform.OrdinalKind), "ordinal", ""),
		needs(len(s.Transform.Columns) > 0 || s.Transform.Others != "", "transform", ""),
		needs(s.KeepUnits, "keep_units", true),
		needs(fit && c.Asked() || c.Asked() && (c.Kind == debias.Robust || inference.Kinds[c.Kind].Resamples), "inference", c.Kind),
		needs(fit && d.Validation != nil && *cmp.Or(d.Validation, new(float64)) > 0, "validation", ""),
		needs(fit && d.Optimiser == "adam", "optimiser", "adam"),
		needs(!fit && c.Stability > 0, "stability", c.Stability),
	})
	if err != nil || fit {
		return err
	}
	by := s.Network.Select
	return first([]refusal{
		needs(by.Resamples(), "select", by.Kind),
		needs((c.Asked() || by.ByTests()) && t.D > debias.DirectColumns, "inference", c.Kind),
	})
}

// A Gaussian loss of e depends on the rows only through the moments in c; true if c is nil.
func byMoments(e estimator.Estimator, c *data.Counted) bool {
	switch needs := e.Loss.Needs(); {
	case c == nil || e.OfMatrix():
		return true
	case c.Pairs != nil:
		return false
	default:
		return !e.Draws() && (needs.Moments || needs.Normal || e.NeedsCompleteRows())
	}
}

func checkByMoments(p *Prepared, e estimator.Estimator) error {
	c := p.Original.Counted
	return first([]refusal{
		{!byMoments(e, c) && c != nil && c.Pairs != nil, setting.Errorf("method", e.Name, "the file has moments of pairs only; use pairwise with the command network, or the table itself")},
		{!byMoments(e, c), setting.Errorf("method", e.Name, "it needs the rows; %s", takeTable)},
		{c != nil && p.objective != losses.Classical, setting.Errorf("objective", p.Spec.Objective.Kind, "it needs the rows; %s", takeTable)},
	})
}

func checkStreamed(p *Prepared, e estimator.Estimator) error {
	s := p.Spec
	switch {
	case p.file == nil:
		return nil
	case e.Source.Memory != nil:
		return notStreamed(fmt.Sprintf("method %s keeps a chain for every row; use em-var, em-full or another method without chains", e.Name))
	case s.Inference.Asked():
		return notStreamed("standard errors need all rows in memory; leave Spec.Inference out")
	case p.missingness != nil && p.missingness.Estimated:
		return notStreamed("estimating the missingness mechanism needs all rows in memory; estimate it from a sample of the rows and give it by Spec.Missingness FILE")
	}
	for j, f := range p.Transform {
		if f != nil && transform.Kinds[f.Kind()].ByRanks {
			return notStreamed(fmt.Sprintf("%s of %s needs the ranks of all rows; use log, sqrt, another function or none", f.Kind(), p.Table.Names[j]))
		}
	}
	return nil
}

func notStreamed(why string) error { return &setting.Error{Field: "stream", Allowed: why} }

// checkWeights checks row weights: docs/theory/weights.md.
func checkWeights(p *Prepared) error {
	if p.Original.Weights == nil || !p.Support.Bounded() && p.Spec.Missingness == nil {
		return nil
	}
	return setting.Errorf("weights", "", "a network with weights takes neither a support nor Spec.Missingness; use the command fit, or leave the weights out")
}

// checkInference is for networks; it fills in the defaults of Spec.Inference.
func checkInference(p *Prepared) (err error) {
	c, byTests := &p.Spec.Inference, p.Spec.Network.Select.ByTests()
	if c.Kind == inference.Auto {
		c.Kind, p.NoIntervals = automatic(p)
	}
	if byTests {
		if err := inference.Kinds[testKind(p)].Check(p.Estimator, p.Support); err != nil {
			return setting.Errorf("select", p.Spec.Network.Select.Kind, "it needs Spec.Inference %s, which method %s lacks; use Spec.Network.Select ebic or Spec.Steps.Method em-exact", testKind(p), p.Estimator.Name)
		}
		if !c.Asked() {
			c.Kind = testKind(p)
		}
	}
	if *c, err = c.Resolve(); err != nil || !c.Asked() {
		return err
	}
	kinds := []string{c.Kind}
	if byTests {
		kinds = append(kinds, testKind(p))
	}
	for _, name := range kinds {
		kind := inference.Kinds[name]
		if p.missingness != nil && kind.NoLaw {
			return setting.Errorf("inference", name, "it cannot be combined with Spec.Missingness; use Spec.Inference bootstrap=N")
		}
		if err := kind.Check(p.Estimator, p.Support); err != nil {
			return err
		}
	}
	return nil
}

// automaticColumns is the number of columns with intervals by default.
const automaticColumns = 100

// why is the reason for inference.None.
func automatic(p *Prepared) (kind, why string) {
	kind = debias.Robust
	if p.Original.Counted != nil {
		kind = debias.Model
	}
	switch t := p.Table; {
	case t.D > automaticColumns:
		return inference.None, fmt.Sprintf("they are slow for more than %d columns; add Spec.Inference %s", automaticColumns, kind)
	case p.missingness != nil || inference.Kinds[kind].Check(p.Estimator, p.Support) != nil:
		return inference.None, fmt.Sprintf("method %s needs resamples; add Spec.Inference bootstrap=500", p.Estimator.Name)
	case !debias.Enough(t):
		return inference.None, fmt.Sprintf("the table has too few rows for %d columns; Spec.Inference %s gives rough ones", t.D, kind)
	}
	return kind, ""
}

// testKind returns the requested kind if it gives p values, else robust, or model for moments.
func testKind(p *Prepared) string {
	switch c := p.Spec.Inference; {
	case c.Asked() && !inference.Kinds[c.Kind].Resamples:
		return c.Kind
	case p.Original.Counted != nil:
		return debias.Model
	}
	return debias.Robust
}

// checkParameters is for fits of parameters; it fills in the defaults of Spec.Inference.
func checkParameters(p *Prepared) (err error) {
	c := &p.Spec.Inference
	if !c.Asked() && c.Stability == 0 {
		if *c != (inference.Config{}) {
			*c, err = c.Resolve()
		}
		return err
	}
	if c.Stability != 0 {
		return setting.Errorf("stability", c.Stability, "it is for networks; leave it out")
	}
	_, identified := p.Model.(model.Identified)
	_, noisy := p.objective.(losses.Noising)
	e, size := p.Estimator, 0
	for _, q := range p.Model.Params() {
		size += len(q.Value)
	}
	// The draws' density as a function of the parameters is unknown.
	unknown := e.Draws() && !e.Source.Normal && !e.Weighting.Needs().Proposal
	refused := func(applies bool, why string, args ...any) refusal {
		return refusal{applies, setting.Errorf("inference", c.Kind, why, args...)}
	}
	if err := first([]refusal{
		refused(p.Spec.Descent.Penalty.Asked(), "it does not support a penalty"),
		refused(c.Kind != sandwich.Kind, "for a fit it is none or robust"),
		refused(!identified, "the parameters of model %s are not determined by its density", p.Spec.Model.Kind),
		refused(p.missingness != nil, "it does not support a given missingness mechanism"),
		refused(p.Spec.KeepUnits, "it does not support Spec.KeepUnits"),
		refused(losses.Draws(p.objective) || noisy, "it does not support this objective; take Spec.Objective.Kind auto"),
		refused(e.Assumption() == losses.NoneHolds && !p.Table.Complete(), "method %s is biased; take Spec.Steps.Method em-full", e.Name),
		refused(unknown, "the draws of method %s have no density; take Spec.Steps.Method em-full", e.Name),
		refused(size > mostParameters, "the model has %d parameters, and it is for %d at most; choose columns (ReadOptions.Columns)", size, mostParameters),
	}); err != nil {
		return err
	}
	// Draws, proposals, and matrices of parameters and scales.
	t, r := p.Table, sandwich.Draws(e, p.Table.N, cmp.Or(p.Spec.Steps.Draws, engine.DefaultDraws))
	drawn, wide := float64(t.N)*float64(r)*float64(t.D+1), float64(size+2*t.D)
	if err := memory.Check(8*(3*drawn+8*wide*wide), "leave Spec.Inference out, choose columns (ReadOptions.Columns) or fewer Spec.Steps.Draws",
		"standard errors of %d parameters from %d rows with %d draws each", size, t.N, r); err != nil {
		return err
	}
	*c, err = c.Resolve()
	return err
}

// mostParameters limits the cost of differences of gradients.
const mostParameters = 2000

// float64 numbers, measured with the standardised copy and the batches.
const (
	cellNumbers      = 12 // per cell
	laterCellNumbers = 4  // per cell of rows beyond manyRows, for expectations in closed form
	manyRows         = 100_000
	pairNumbers      = 15 // per pair of columns for a model with a matrix; half of it per stored λ
	chainNumbers     = 3  // per number of a chain: the chain, the state and the state of the best epoch
	matrixNumbers    = 7  // per pair, for methods of one matrix with ordered categories or few columns; else pairmoments.Needed
	filedNumbers     = 4  // per pair, if moments were read from a file
)

func checkMemory(p *Prepared) error {
	t, s := p.Table, p.Spec
	n, d, workers, lambdas := float64(t.N), float64(t.D), max(1, s.Steps.Workers), 0.
	if s.Network != nil {
		lambdas = float64(s.Network.Lambdas)
	}
	_, normal := model.AsNormal(p.Model)
	numbers := cellNumbers * n * d
	switch {
	case p.Estimator.Source.Memory != nil:
		numbers += chainNumbers * float64(t.Missing()*cmp.Or(s.Steps.Draws, engine.DefaultDraws))
	case p.Estimator.Loss.Needs().NoDraws && t.Cuts == nil:
		numbers -= (cellNumbers - laterCellNumbers) * max(0, n-manyRows) * d
	}
	switch {
	case p.Estimator.OfMatrix() && (t.Cuts != nil || t.D <= regpath.DenseColumns || s.Network == nil):
		numbers += matrixNumbers * d * d
	case p.Estimator.OfMatrix():
		numbers = pairmoments.Needed(t.N, t.D) / 8
		if c := t.Counted; c != nil && c.Pairs != nil {
			numbers += filedNumbers * d * d
		}
		if s.Network.Select.Resamples() { // moments of each worker's rows and held-out rows, and counts of pairs at each λ
			numbers += (2*float64(workers) + lambdas/2) * d * d
		}
	default:
		if p.file != nil { // two windows, with a byte per mark
			numbers += 9. / 8 * d * math.Min(float64(t.PassRows()), 2*rows.WindowBlocks*float64(p.file.file.BlockRows))
		}
		if normal || s.Network != nil {
			numbers += (pairNumbers + lambdas/2) * d * d
		}
	}
	if again := s.Inference.Resamples + s.Inference.Stability; again > 0 { // a table, a model and a path per worker; a number and its index per pair of a network
		numbers *= 1 + float64(min(workers, again))
		numbers += float64(again) * d * (d - 1)
		return memory.Check(8*numbers, "choose columns (ReadOptions.Columns), fewer workers (Spec.Steps.Workers) or resamples", "%d resamples of a network of %d columns from %d rows", again, t.D, t.N)
	}
	if lambdas > 0 {
		return memory.Check(8*numbers, "choose columns (ReadOptions.Columns), fewer λ (Spec.Network.Lambdas)", "a network of %d columns from %d rows along %v λ", t.D, t.N, lambdas)
	}
	return memory.Check(8*numbers, "choose columns (ReadOptions.Columns)", "a fit to %d rows of %d columns", t.PassRows(), t.D)
}
