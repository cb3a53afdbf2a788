package speed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/optim"
	"missingscore/trainers/regpath"
)

// Experiments lists the models that can be timed; the help of bench describes them.
var Experiments = []string{"normal", "quartic", "star"}

// Setting holds the sizes of a parameter iteration.
type Setting struct {
	Experiment string      `json:"experiment"`
	Method     string      `json:"method"`
	D          int         `json:"d"`
	N          int         `json:"n"`     // rows of a parameter step
	Batch      int         `json:"batch"` // rows of an imputer step, and of a chunk of a parameter step
	Draws      int         `json:"r"`
	DType      graph.DType `json:"dtype"`
	Seed       uint64      `json:"seed"`
}

// Table simulates N normal rows, for the quartic model too. Cells are missing unless the method needs
// complete rows.
func (s Setting) Table() (*data.Table, error) {
	rng := stream.New(s.Seed, stream.Simulate)
	draw, missing := simulate.Star, 0.5
	if s.Experiment == "normal" {
		draw, missing = simulate.Normal, 0.2
	}
	truth, err := draw(s.D, rng)
	if err != nil {
		return nil, err
	}
	e, err := estimator.ByName(s.Method)
	if err != nil {
		return nil, err
	}
	t, err := truth.Sample(s.N, rng)
	if err != nil || e.NeedsCompleteRows() {
		return t, err
	}
	return data.HideMCAR(t, missing, rng)
}

// Stepper returns a function that runs one parameter iteration on Table with one worker. In steady state
// it does not allocate if matrix products do not.
func (s Setting) Stepper() (step func() error, err error) {
	t, err := s.Table()
	if err != nil {
		return nil, err
	}
	p := engine.Problem{Table: t, Objective: losses.Classical{}}
	c := engine.Config{Method: s.Method, Batch: s.Batch, Draws: s.Draws, DType: s.DType, Seed: s.Seed}
	switch s.Experiment {
	case "normal":
		p.Model = model.NewGaussian(t.D, model.CholeskyFactor)
	case "quartic":
		p.Model = model.NewQuartic(t.D)
	case "star":
		return proximal(p, c)
	default:
		return nil, fmt.Errorf("there is no experiment %q; choose from %s", s.Experiment, strings.Join(Experiments, ", "))
	}
	return byAdam(p, c)
}

// byAdam returns Adam steps on all rows.
func byAdam(p engine.Problem, c engine.Config) (step func() error, err error) {
	e, err := engine.New(p, c)
	if err != nil {
		return nil, err
	}
	params, rows, adam, iteration := e.Model.Params(), e.Table.AllRows(), optim.Adam{Rate: 0.01}, 0
	return func() error {
		s, err := e.Step(context.Background(), iteration, e.Whole, rows, 1/float64(len(rows)))
		if err != nil {
			return err
		}
		iteration++
		adam.Step(params, s.Grads)
		return nil
	}, nil
}

// proximal returns steps at the λ in the middle of a path.
func proximal(p engine.Problem, c engine.Config) (step func() error, err error) {
	r, err := regpath.New(p, c, regpath.Config{Schedule: regpath.Fixed}, &regpath.State{})
	if err != nil {
		return nil, err
	}
	at := r.StepsAt(r.Config.Lambdas / 2)
	return func() error { return at(context.Background()) }, nil
}

// Time repeats step for some seconds, at least least times, and returns the seconds of a step and the number
// of steps.
func Time(ctx context.Context, step func() error, least int, seconds float64) (each float64, n int, err error) {
	start := time.Now()
	for ; n < least || time.Since(start).Seconds() < seconds; n++ {
		if err := ctx.Err(); err != nil {
			return 0, n, err
		}
		if err := step(); err != nil {
			return 0, n, err
		}
	}
	return time.Since(start).Seconds() / float64(n), n, nil
}
