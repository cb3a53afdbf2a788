package debias

import (
	"context"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// mostIterations ends a fit that does not converge. Of simulated tables with enough rows none took
// 200.
const mostIterations = 1000

// unpenalised returns the maximum likelihood estimate with all pairs free, as the command fit gives it.
// It starts from the network of the result. It returns nil if a pair of columns has, on average, no
// more rows than there are parameters (docs/theory/inference.md#eq-enough-rows), or if the optimiser
// does not converge, for example because the likelihood has no maximum.
func unpenalised(ctx context.Context, n *regpath.Run) (*model.Gaussian, error) {
	d, steps := n.Table.D, n.Engine.Config
	if together(n.Table) <= float64(parameters(d)) {
		return nil, nil
	}
	m := model.NewGaussian(d, model.CholeskyFactor)
	if m.SetPrecision(n.Model().Precision()) != nil { // P is not positive definite
		return nil, nil
	}
	m.SetMean(n.Model().Mean())
	p := n.Problem
	p.Model, p.Objective = m, losses.Classical{}
	e, err := engine.New(p, engine.Config{Method: "em-exact", Seed: steps.Seed, Workers: steps.Workers})
	if err != nil {
		return nil, err
	}
	c, err := descent.Config{Iterations: mostIterations}.Resolve(descent.Problem{Estimator: e.Estimator, Model: m, Objective: p.Objective, Rows: p.Table.RowCount()})
	if err != nil {
		return nil, err
	}
	fit := &descent.Fit{Engine: e, Config: c, State: &descent.State{}, Save: func() error { return nil }}
	if err := fit.Run(ctx); engine.Diverged(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if converged, _ := fit.Verdict(); !converged {
		return nil, nil
	}
	return m, nil
}

// together is in how many rows a pair of columns is, in the mean.
func together(t *data.Table) float64 {
	sum, counts := 0, t.PairCounts()
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / float64(len(counts))
}
