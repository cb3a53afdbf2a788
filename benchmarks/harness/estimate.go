package harness

import (
	"context"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers"
)

// Estimate is trainers.Estimate without settings that the method does not read, because methods of
// an experiment share settings.
func Estimate(ctx context.Context, t *data.Table, s trainers.Spec, run trainers.Run) (*trainers.Result, error) {
	plain := s
	plain.Steps, plain.Weight = engine.Config{Method: s.Steps.Method, Seed: s.Steps.Seed, DType: s.Steps.DType}, domain.Weight{}
	p, err := trainers.Prepare(t, plain)
	if err != nil {
		return nil, err
	}
	e, c := p.Estimator, &s.Steps
	if !e.Draws() {
		c.Draws, c.FreeDraws = 0, false
	}
	if !e.Source.ProposalSD {
		c.ProposalSD = 0
	}
	if !e.Trains() {
		var none engine.Config
		c.Imputer, c.ImputerSteps, c.ImputerRate, c.ImputerLoss, c.WarmUp = none.Imputer, 0, 0, none.ImputerLoss, nil
	}
	if p.Support == nil {
		s.Weight, c.FreeDraws = domain.Weight{}, false
	} else if len(p.Support.Half) == 0 {
		s.Weight.NoTangent = false
	}
	return trainers.Estimate(ctx, t, s, run)
}
