package trainers

import (
	"context"
	"fmt"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/losses"
)

// NewStepper gives single parameter iterations (L imputer steps and one
// parameter step on all rows of t) for measuring: "normal" is a Gaussian by its
// Cholesky factor with Adam, "quartic" the quartic model with Adam, "star" a free
// symmetric precision with the proximal step.
func NewStepper(t *data.Table, experiment string, c Config) (step func() error, err error) {
	switch experiment {
	case "normal", "quartic":
		var m model.Model = model.NewGaussian(t.D, model.CholeskyFactor)
		if experiment == "quartic" {
			m = model.NewQuartic(t.D)
		}
		e, err := newEngine(t, m, losses.Classical{}, c)
		if err != nil {
			return nil, err
		}
		rows := make([]int, t.N)
		for i := range rows {
			rows[i] = i
		}
		adam, iteration := Adam{Rate: 0.01}, 0
		return func() error {
			s, err := e.step(context.Background(), iteration, rows, 1/float64(t.N))
			if err != nil {
				return err
			}
			iteration++
			adam.Step(m.Params(), s.Grads)
			return nil
		}, nil
	case "star":
		r, err := newPathRun(t, PathConfig{Config: c, Schedule: "fixed"}, &State{}, nil, nil)
		if err != nil {
			return nil, err
		}
		return func() error { _, err := r.advance(context.Background(), r.lambdas[len(r.lambdas)/2]); return err }, nil
	}
	return nil, fmt.Errorf("there is no experiment %q; they are normal, quartic, star", experiment)
}
