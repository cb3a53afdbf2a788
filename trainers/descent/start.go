package descent

import (
	"context"

	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
)

// A start needs no more than these.
const (
	startTurns     = 200
	startTolerance = 1e-6
)

// startAtLikelihood puts a normal model on all of R^d at Likeliest. For complete rows that is
// where score matching's loss is least; with gaps it is near to where the marginal loss has the
// minimum that is wanted, which is not always its only one. Other models, and tables for which
// the turns fail, stay as they are.
func (f *Fit) startAtLikelihood(ctx context.Context) error {
	g, ok := f.Model.(*model.Gaussian)
	if !ok || f.Missingness != nil {
		return nil
	}
	start := model.NewGaussian(g.Dim(), model.CholeskyFactor)
	start.SetMean(g.Mean())
	if start.SetPrecision(g.Precision()) != nil {
		return nil
	}
	c := f.Engine.Config
	if ok, err := Likeliest(ctx, f.Problem, start, engine.Config{Seed: c.Seed, Workers: c.Workers}); !ok {
		return err
	}
	if g.SetPrecision(start.Precision()) == nil {
		g.SetMean(start.Mean())
	}
	return nil
}

// Likeliest moves a normal model, of Cholesky factors, to where the likelihood of the observed
// cells of a problem's table is greatest on all of R^d, by turns of package em. It is not ok on
// a domain, and where the turns fail.
func Likeliest(ctx context.Context, p engine.Problem, m *model.Gaussian, c engine.Config) (ok bool, err error) {
	if p.Domain.Bounded() {
		return false, nil
	}
	p.Model, p.Objective, p.Missingness = m, losses.Classical{}, nil
	c.Method = "em-exact"
	e, err := engine.New(p, c)
	if err != nil {
		return false, err
	}
	t := em.Turns{Engine: e, Model: m, Rows: e.AllRows()}
	e.Condense(t.Rows)
	var s em.State
	s.Anderson.Memory = em.Memory
	for s.Count == 0 || s.Relative > startTolerance && s.Count < startTurns {
		if err := t.Turn(ctx, &s, em.Unpenalised); engine.Diverged(err) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	t.Settle(&s)
	return true, nil
}
