package descent

import (
	"context"
	"errors"

	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/em"
	"missingscore/trainers/engine"
)

// A start needs no more than these.
const (
	startTurns     = 200
	startTolerance = 1e-6
)

// startAtLikelihood puts a normal model on all of R^d where the likelihood of the observed
// cells is greatest, by turns of package em. For complete rows that is where score matching's
// loss is least; with gaps it is near to where the marginal loss has the minimum that is
// wanted, which is not always its only one. Other models, and tables for which the turns
// fail, stay as they are.
func (f *Fit) startAtLikelihood(ctx context.Context) error {
	g, ok := f.Model.(*model.Gaussian)
	if !ok || f.Domain.Bounded() || f.Missingness != nil {
		return nil
	}
	p := f.Problem
	start := model.NewGaussian(g.Dim(), model.CholeskyFactor)
	start.SetMean(g.Mean())
	if start.SetPrecision(g.Precision()) != nil {
		return nil
	}
	p.Model, p.Objective = start, losses.Classical{}
	e, err := engine.New(p, engine.Config{Method: "em-exact", Seed: f.Engine.Config.Seed, Workers: f.Engine.Config.Workers})
	if err != nil {
		return err
	}
	t := em.Turns{Engine: e, Model: start, Rows: e.AllRows()}
	e.Condense(t.Rows)
	var s em.State
	s.Anderson.Memory = em.Memory
	for s.Count == 0 || s.Relative > startTolerance && s.Count < startTurns {
		if err := t.Turn(ctx, &s, em.Unpenalised); beyond(err) {
			return nil
		} else if err != nil {
			return err
		}
	}
	t.Settle(&s)
	if g.SetPrecision(start.Precision()) == nil {
		g.SetMean(start.Mean())
	}
	return nil
}

// beyond says whether parameters were left at which there is no loss, or no distribution.
func beyond(err error) bool {
	var diverged *engine.DivergedError
	return errors.As(err, &diverged) || errors.Is(err, losses.ErrNotPositiveDefinite)
}
