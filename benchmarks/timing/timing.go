// Package timing measures the seconds of a parameter iteration.
package timing

import (
	"context"
	"time"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Experiments whose iterations can be timed: a Gaussian by its Cholesky factor with
// Adam, a fifth of the cells missing; the quartic model with Adam, half of them
// missing; a free symmetric precision with the proximal step, half of them missing.
var Experiments = []string{"normal", "quartic", "star"}

// Setting is what the speed of a parameter iteration depends on.
type Setting struct {
	Experiment string      `json:"experiment"`
	Method     string      `json:"method"`
	D          int         `json:"d"`
	N          int         `json:"n"`     // rows of a parameter step
	Batch      int         `json:"batch"` // rows of an imputer step, and of a part of a parameter step
	Draws      int         `json:"r"`
	DType      graph.DType `json:"dtype"`
	Seed       uint64      `json:"seed"`
}

// Table is N simulated rows. Those of the quartic model are normal too: its speed does
// not depend on the numbers.
func (s Setting) Table() (*data.Table, error) {
	_, t, err := s.Simulate()
	return t, err
}

// Simulate gives Table with the distribution it comes from.
func (s Setting) Simulate() (truth simulate.Gaussian, t *data.Table, err error) {
	rng := stream.New(s.Seed, stream.Simulate)
	simulate, missing := simulate.Star, 0.5
	if s.Experiment == "normal" {
		simulate, missing = simulate.Normal, 0.2
	}
	if truth, err = simulate(s.D, rng); err != nil {
		return truth, nil, err
	}
	e, err := estimator.ByName(s.Method)
	if err != nil {
		return truth, nil, err
	}
	t, err = truth.Sample(s.N, rng)
	if err != nil || e.Complete {
		return truth, t, err
	}
	t, err = data.HideMCAR(t, missing, rng)
	return truth, t, err
}

// Stepper makes parameter iterations on Table with one worker.
func (s Setting) Stepper() (step func() error, err error) {
	t, err := s.Table()
	if err != nil {
		return nil, err
	}
	return trainers.NewStepper(t, s.Experiment, engine.Config{Method: s.Method, Batch: s.Batch, Draws: s.Draws, DType: s.DType, Seed: s.Seed})
}

// Time repeats step for so many seconds, but at least least times, and gives the
// seconds of one.
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
