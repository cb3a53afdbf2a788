package trainers

import (
	"context"

	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
)

// imputerStart is the normal distribution of greatest likelihood for an imputer that can start at
// its conditionals (docs/theory/imputer.md#eq-imputer-linear); nil where none is trained, or none
// can.
func (p *Prepared) imputerStart(ctx context.Context, q engine.Problem) (*model.Gaussian, error) {
	c := p.Spec.Steps
	if !p.Estimator.Trains() {
		return nil, nil
	}
	imputer, err := nets.NewImputer(c.Imputer.Kind, q.Table.D, c.Imputer.Options, stream.New(0))
	if _, ok := imputer.(nets.NormalStart); err != nil || !ok { // a name that there is not is refused later
		return nil, nil
	}
	m := model.NewGaussian(q.Table.D, model.CholeskyFactor)
	if ok, err := descent.Likeliest(ctx, q, m, engine.Config{Seed: c.Seed, Workers: c.Workers}); !ok {
		return nil, err
	}
	return m, nil
}
