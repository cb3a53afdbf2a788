package bound

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/engine"
)

// minimise puts m, from where it stands, to the minimum of Marg-IW's truncated
// objective on the table (paper, definition "Approximate Truncated Marginal Score
// Matching Objective"). The r draws of each row stay the same throughout, as the theorem
// has it: a fit that draws anew at each step would go for the mean over draws. The
// pseudo-loss's gradient at fixed draws is that of the objective (docs/theory, "One
// estimator family"), so a quasi-Newton method may use it.
func (s settings) minimise(ctx context.Context, t *data.Table, m *model.Gaussian, r int, seed uint64) error {
	var at, slope []float64
	var value float64
	var failed error
	evaluate := func(x []float64) {
		if failed != nil || at != nil && floats.Equal(at, x) {
			return
		}
		if failed = ctx.Err(); failed != nil {
			return
		}
		at = append(at[:0], x...)
		copy(m.Location.Value, x)
		copy(m.Packed.Value, x[len(m.Location.Value):])
		value, slope, failed = s.objective(t, m, r, seed)
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { evaluate(x); return value },
		Grad: func(grad, x []float64) { evaluate(x); copy(grad, slope) },
		Status: func() (optimize.Status, error) {
			if failed != nil {
				return optimize.Failure, failed
			}
			return optimize.NotTerminated, nil
		},
	}
	start := slices.Concat(m.Location.Value, m.Packed.Value)
	found, err := optimize.Minimize(problem, start, &optimize.Settings{
		GradientThreshold: s.Gradient, MajorIterations: s.Iterations, Converger: optimize.NeverTerminate{},
	}, &optimize.BFGS{})
	if failed != nil {
		return failed
	}
	if err == nil && found.Status != optimize.GradientThreshold {
		err = fmt.Errorf("it ended with %v", found.Status)
	}
	if err != nil {
		return fmt.Errorf("no minimum of the objective was found: %w", err)
	}
	evaluate(found.X)
	return failed
}

// objective is Marg-IW's at the model's parameters, with its gradient (by linear term,
// then packed precision).
func (s settings) objective(t *data.Table, m *model.Gaussian, r int, seed uint64) (value float64, gradient []float64, err error) {
	box := s.box()
	value, grads, err := engine.Gradient(engine.Problem{Table: t, Model: m, Objective: losses.ObjectiveFor(box, domain.Weight{}), Domain: box},
		engine.Config{Method: "iw", Draws: r, ProposalSD: s.ProposalSD, Seed: seed, Batch: max(1, rowsAtOnce/r)}, 0)
	return value, slices.Concat(grads...), err
}

// rowsAtOnce are the completed rows that a graph takes together; they should fit the
// cache. The draws depend on it.
const rowsAtOnce = 4096
