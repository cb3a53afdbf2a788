package trainers

import (
	"fmt"

	"missingscore/data/diagnose"
	"missingscore/internal/setting"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/debias"
)

// Sampling weights of rows (data.Table.Weights) enter wherever a sum over rows is taken
// (docs/theory/weights.md). What knows rows otherwise is refused of a weighted table.

const withoutWeights = "leave the weights out"

// checkWeights refuses what is not known with weights.
func (p *Prepared) checkWeights() error {
	s := p.Spec
	if p.original.Weights == nil || s.Network == nil {
		return nil
	}
	refused := func(why string) error { return setting.Errorf("weights", "", "%s, or %s", why, withoutWeights) }
	asks := s.Inference.Asked() && !inference.Kinds[s.Inference.Kind].Resamples || p.byTests()
	switch {
	case p.Support.Bounded():
		return refused("a network on a support is chosen by losses of completed rows, which count alike: take the command fit for its parameters")
	case s.Missingness != nil:
		return refused("a network with a law of missing cells is chosen by losses of rows, which count alike: take the command fit for its parameters")
	case asks && p.Table.D > debias.DirectColumns:
		return refused(fmt.Sprintf("standard errors of more than %d columns are of rows that count alike: take --inference bootstrap=N", debias.DirectColumns))
	}
	return nil
}

// weightFinding says what the weights of rows leave of them.
func (p *Prepared) weightFinding() diagnose.Finding {
	t := p.original
	return diagnose.Finding{Kind: "weights", Severity: diagnose.Note, Columns: []string{},
		Message: fmt.Sprintf("rows have sampling weights: %d of them tell as much of a mean as %.1f without (Kish), and by so many go EBIC and standard errors", t.N, t.EffectiveRows())}
}
