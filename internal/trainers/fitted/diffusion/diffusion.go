// Package diffusion draws rows from the scores of noisy rows at decreasing noise levels: annealed
// Langevin dynamics (Song & Ermon 2019) and the reverse-time SDE (Song et al. 2021).
package diffusion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
)

// Sampler draws n rows at a time. It is not safe for concurrent use. Rows should have mean about 0
// and standard deviation about 1: the start is N(0, (a² + σ²) I) at the largest noise level.
type Sampler struct {
	schedule noise.Schedule
	program  *graph.Program
	n, d     int
	ran      bool
}

func New(m model.NoiseConditional, s noise.Schedule, n int) (*Sampler, error) {
	s, err := s.WithDefaults()
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("%d rows: at least one is needed", n)
	}
	c := &Sampler{schedule: s, n: n, d: m.Dim()}
	c.program, err = graph.BuildAs(graph.Float32, func(b *graph.Builder) {
		at := m.AtNoise(b.Input("signal", n, 1), b.Input("noise", n, 1))
		b.Output("score", at.Evaluate(b, b.Input("x", n, c.d)).Score)
	})
	return c, err
}

func (c *Sampler) at(x []float64, signal, noise float64) ([]float64, error) {
	a, s, run := c.program.Input("signal"), c.program.Input("noise"), c.program.Run
	for i := range a {
		a[i], s[i] = signal, noise
	}
	copy(c.program.Input("x"), x)
	if c.ran { // the parameters are set already
		run = c.program.RunAgain
	}
	c.ran = true
	if err := run(); err != nil {
		return nil, err
	}
	return c.program.Output("score"), nil
}

func (c *Sampler) start(t float64, rng *rand.Rand) []float64 {
	size := math.Hypot(c.schedule.At(t))
	x := make([]float64, c.n*c.d)
	for i := range x {
		x[i] = size * rng.NormFloat64()
	}
	return x
}

func (c *Sampler) finish(x []float64) ([]float64, error) {
	a, _ := c.schedule.At(0)
	for i := range x {
		x[i] /= a
		if math.IsNaN(x[i]) || math.IsInf(x[i], 0) {
			return nil, errors.New("a row diverged to infinity: take more steps")
		}
	}
	return x, nil
}

// Langevin draws rows (n, d) by annealed Langevin dynamics on steps levels (0: the schedule's own,
// or 100). At each level, from the largest noise to the least, it makes 10,000/steps steps
//
//	x ← x + ½δ s(x; a, σ) + √δ z,   δ = 0.2 σ²
//
// (Song & Ermon 2019, algorithm 1, with α_i = ε σ_i²/σ_L² and ε = 0.2 σ_L²), then x·a'/a. The
// discretisation error is at most 5 % of the noise variance.
func (c *Sampler) Langevin(ctx context.Context, steps int, rng *rand.Rand) ([]float64, error) {
	return c.anneal(ctx, nil, nil, 0.2, steps, 100, langevinSteps, rng)
}

// Complete draws the missing cells of rows x (n, d) with mask (n, d), 1 = observed, by at least 250
// Langevin steps δ = σ² on steps levels (0: the schedule's own, or 250). Before each step it sets
// observed cells to a x + σ ε with new noise (Song & Ermon 2019, algorithm 2). At each level it
// draws approximately from q(x_mis(t) | x_obs(t) = a x_obs), not q(x_mis(t) | x_obs). If the model
// has a log density, use mcmc.HMC with Level instead.
func (c *Sampler) Complete(ctx context.Context, x, mask []float64, steps int, rng *rand.Rand) ([]float64, error) {
	return c.anneal(ctx, x, mask, 1, steps, completeSteps, completeSteps, rng)
}

// Langevin steps over all levels.
const (
	completeSteps = 250
	langevinSteps = 10000
)

// anneal makes at least total steps of rate σ² and holds cells with mask 1 near known; nil: none.
func (c *Sampler) anneal(ctx context.Context, known, mask []float64, rate float64, steps, byDefault, total int, rng *rand.Rand) ([]float64, error) {
	s := c.schedule
	if s.Single() {
		byDefault = 1
	}
	steps, err := c.levels(steps, byDefault, s.Levels)
	switch {
	case err != nil:
		return nil, err
	case steps == 1 && !s.Single():
		return nil, errors.New("at least 2 steps are needed")
	}
	ladder := noise.Schedule{Kind: s.Kind, Least: s.Least, Most: s.Most, Levels: steps}
	x := c.start(ladder.Time(steps-1), rng)
	observe := func(a, sigma float64) { // sets observed cells to a x + σ ε
		for i, m := range mask {
			if m != 0 {
				x[i] = a*known[i] + sigma*rng.NormFloat64()
			}
		}
	}
	before := 0.0
	for k := steps - 1; k >= 0; k-- {
		a, sigma := ladder.At(ladder.Time(k))
		if before > 0 {
			floats.Scale(a/before, x)
		}
		before = a
		for range (total + steps - 1) / steps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			observe(a, sigma)
			score, err := c.at(x, a, sigma)
			if err != nil {
				return nil, err
			}
			step := rate * sigma * sigma
			for i := range x {
				x[i] += 0.5*step*score[i] + math.Sqrt(step)*rng.NormFloat64()
			}
		}
	}
	if x, err = c.finish(x); err == nil {
		observe(1, 0)
	}
	return x, err
}

func (c *Sampler) levels(steps, byDefault, own int) (int, error) {
	if c.schedule.Levels > 0 {
		byDefault = own
		if steps != 0 && steps != own {
			return 0, fmt.Errorf("%d steps requested, but the model's %d noise levels need %d", steps, c.schedule.Levels, own)
		}
	}
	if steps < 0 {
		return 0, fmt.Errorf("%d steps: a positive number is needed", steps)
	}
	return cmp.Or(steps, byDefault), nil
}

// Reverse draws rows (n, d) by the reverse-time SDE (Anderson 1982; Song et al. 2021, equation 6),
//
//	dx = (f x − g² s(x; a, σ)) dt + g dW
//
// with Euler–Maruyama steps of equal length (steps = 0: 250, or between a ladder's own levels).
func (c *Sampler) Reverse(ctx context.Context, steps int, rng *rand.Rand) ([]float64, error) {
	if c.schedule.Single() {
		return nil, errors.New("the schedule has only one noise level: use Langevin steps or, if the model has a log density, Markov chains")
	}
	steps, err := c.levels(steps, reverseSteps, c.schedule.Levels-1)
	if err != nil {
		return nil, err
	}
	x := c.start(1, rng)
	for k := steps; k > 0; k-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from, dt := float64(k)/float64(steps), 1/float64(steps)
		a, sigma := c.schedule.At(from)
		f, square := c.schedule.Rates(from)
		s, err := c.at(x, a, sigma)
		if err != nil {
			return nil, err
		}
		for i := range x {
			x[i] += (square*s[i]-f*x[i])*dt + math.Sqrt(square*dt)*rng.NormFloat64()
		}
	}
	return c.finish(x)
}

const reverseSteps = 250

func Level(m model.NoiseConditional, signal, noise float64) model.Model {
	return level{m, signal, noise}
}

type level struct {
	model.NoiseConditional
	signal, noise float64
}

// Evaluate returns log q(a x; a, σ), a s, a² D and a² H v.
func (l level) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	constant := func(v float64) graph.Node { return b.Rows(b.Constant(1, 1, []float64{v}), n) }
	a := l.signal
	t := l.AtNoise(constant(a), constant(l.noise)).Evaluate(b, b.Scale(a, x))
	scaled := model.Evaluation{LogDensity: t.LogDensity, Score: b.Scale(a, t.Score)}
	if t.Diagonal != nil {
		scaled.Diagonal = b.Scale(a*a, t.Diagonal)
	}
	if product := t.HessianProduct; product != nil {
		scaled.HessianProduct = func(v graph.Node) graph.Node { return b.Scale(a*a, product(v)) }
	}
	return scaled
}
