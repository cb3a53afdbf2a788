// Package diffusion draws rows from the scores of noisy rows, from much noise to
// little: annealed Langevin dynamics (Song & Ermon 2019), the reverse-time equation
// with or without Langevin corrections, and the probability flow (Song et al. 2021).
// Only the score is needed, no density. Nothing is accepted or rejected, so there are no
// diagnostics: each sampler's doc says what its error depends on.
package diffusion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/data/noise"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Sampler draws n rows at a time from a model of rows a(t) x + σ(t) ε. It is for one
// goroutine at a time. Rows are taken to have about mean 0 and deviation 1: they
// start from N(0, (a² + σ²) I) at the most noise.
type Sampler struct {
	schedule noise.Schedule
	program  *graph.Program
	n, d     int
	ran      bool
}

// New makes a sampler of a model on a schedule. The model's log density is not asked for.
func New(m model.NoiseConditional, s noise.Schedule, n int) (*Sampler, error) {
	s, err := s.WithDefaults()
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("%d rows: at least one is needed", n)
	}
	c := &Sampler{schedule: s, n: n, d: m.Dim()}
	c.program, err = graph.Build(func(b *graph.Builder) {
		at := m.AtNoise(b.Input("signal", n, 1), b.Input("noise", n, 1))
		b.Output("score", at.Evaluate(b, b.Input("x", n, c.d)).Score)
	})
	return c, err
}

// Options of the samplers. Zero values mean the defaults named here.
type Options struct {
	// Steps from the most noise to the least: of Reverse 1000, of Flow 100, of a schedule
	// with levels of its own those from level to level; of Langevin and Complete the
	// levels, those of the schedule if it has its own, else 100.
	Steps int
	// Corrections are Langevin steps at each level: of Langevin and Complete 100, of
	// Reverse 0, for the predictor alone.
	Corrections int
	// Rate is the length of a Langevin step over σ²; 0.2.
	Rate float64
	// Denoise ends with the expected row without noise, (x + σ² s)/a (Tweedie's formula), in
	// place of a row with the least noise: each column's variance is then short of the
	// truth by about that noise's, as it was in excess before.
	Denoise bool
}

func (o Options) withDefaults(steps, corrections int) (Options, error) {
	if o.Steps == 0 {
		o.Steps = steps
	}
	if o.Corrections == 0 {
		o.Corrections = corrections
	}
	if o.Rate == 0 {
		o.Rate = 0.2
	}
	if o.Steps < 0 || o.Corrections < 0 {
		return o, fmt.Errorf("%d steps, %d corrections: neither may be negative", o.Steps, o.Corrections)
	}
	if !(o.Rate > 0 && o.Rate < 2) { // from 4 on a step leads away
		return o, fmt.Errorf("Langevin rate %v: a number between 0 and 2 is needed", o.Rate)
	}
	return o, nil
}

// at is the score of rows x at a level; the memory is the program's.
func (c *Sampler) at(x []float64, signal, noise float64) ([]float64, error) {
	a, s := c.program.Input("signal"), c.program.Input("noise")
	for i := range a {
		a[i], s[i] = signal, noise
	}
	copy(c.program.Input("x"), x)
	run := c.program.Run
	if c.ran { // the parameters stay
		run = c.program.RunAgain
	}
	c.ran = true
	if err := run(); err != nil {
		return nil, err
	}
	return c.program.Output("score"), nil
}

// start draws from N(0, (a² + σ²) I) at time t.
func (c *Sampler) start(t float64, rng *rand.Rand) []float64 {
	size := math.Hypot(c.schedule.At(t))
	x := make([]float64, c.n*c.d)
	for i := range x {
		x[i] = size * rng.NormFloat64()
	}
	return x
}

// finish takes rows at the least noise to the units of rows without, and denoises them.
func (c *Sampler) finish(x []float64, denoise bool) ([]float64, error) {
	a, sigma := c.schedule.At(0)
	if denoise {
		s, err := c.at(x, a, sigma)
		if err != nil {
			return nil, err
		}
		for i := range x {
			x[i] += sigma * sigma * s[i]
		}
	}
	for i := range x {
		x[i] /= a
		if math.IsNaN(x[i]) || math.IsInf(x[i], 0) {
			return nil, errors.New("a row diverged to infinity: take more steps or a smaller rate")
		}
	}
	return x, nil
}

// asked refuses steps that a ladder does not have.
func (c *Sampler) asked(steps, own int) error {
	return fmt.Errorf("%d steps asked for: the model was fitted at %d levels of noise, which make %d", steps, c.schedule.Levels, own)
}

// steps are a ladder's own, or those by default.
func (c *Sampler) steps(byDefault int) int {
	if c.schedule.Levels > 0 {
		return c.schedule.Levels - 1
	}
	return byDefault
}

var errOneLevel = errors.New("the schedule has one level of noise only, and no time to go back in: use Langevin steps or, where the model has a log density, Markov chains")

// back visits the steps of a grid of times from 1 to 0.
func (c *Sampler) back(ctx context.Context, steps int, step func(from, to float64) error) error {
	if c.schedule.Single() {
		return errOneLevel
	}
	if own := c.schedule.Levels; own > 0 && steps != own-1 {
		return c.asked(steps, own-1)
	}
	for k := steps; k > 0; k-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(float64(k)/float64(steps), float64(k-1)/float64(steps)); err != nil {
			return err
		}
	}
	return nil
}
