package fitted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/transform"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/posterior"
	"missingscore/trainers/source"
)

const predictive = "predictive"

var needsPosterior = needs(func(f *Model) bool { return f.Posterior != nil }, "predictive needs a model that an imputation has kept: use auto")

// Saved returns a model of the posterior draws (posterior.Config.Keep); unobserved levels are left
// out.
func (r *PosteriorImputed) Saved(t *data.Table) *Saved {
	s := &Saved{Kind: FromPosterior, Names: t.Names, Scale: r.scale, Posterior: r.Law.Parameters, Transform: make(transform.Columns, t.D), Outcome: &Outcome{Converged: r.Converged()}}
	s.Outcome.Verdict = "the Markov chains have converged"
	if !r.Converged() {
		s.Outcome.Verdict = fmt.Sprintf("the Markov chains have not converged: R-hat of %s is %.3g", t.Names[r.Law.Least().Row], r.Law.Least().Worst)
	}
	for j, f := range r.Transform {
		names := data.Coded(t, j)
		if names == nil {
			s.Transform[j] = f
			continue
		}
		if s.Levels == nil {
			s.Levels = make([][]string, t.D)
		}
		seen := f.(interface{ Values() []float64 }).Values()
		for _, code := range seen {
			s.Levels[j] = append(s.Levels[j], names[int(code)])
		}
		if _, unordered := f.(nominal); !unordered {
			x := t.Column(j)
			for i, code := range x {
				place, _ := slices.BinarySearch(seen, code)
				x[i] = float64(place)
			}
			s.Transform[j] = transform.NewOrdinal(x, nil)
		}
	}
	if !slices.ContainsFunc(s.Transform, func(f transform.Function) bool { return f != nil }) {
		s.Transform = nil
	}
	return s
}

// Draw k uses parameter draw k, modulo the number of parameter draws.
func byParameters(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
	return func(ctx context.Context, b *block, rng *source.Stream) error {
		some := &data.Table{Names: z.Names, D: z.D}
		for _, i := range b.rows {
			some.AppendRow(z, i)
		}
		for k := range c.Draws {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			gaps, err := f.Posterior.Complete(some, k, rng)
			if err != nil {
				return err
			}
			for at, seen := range some.Observed {
				if !seen {
					b.x[(at/z.D*c.Draws+k)*z.D+at%z.D], gaps = gaps[0], gaps[1:]
				}
			}
		}
		return nil
	}, nil
}

// scoreKept returns the normalised log densities of the observed cells, without derivatives.
func scoreKept(ctx context.Context, f *Model, t *data.Table, c ImputeConfig) (*Scores, error) {
	smooth := *f
	smooth.Transform = f.Transform.Smooth()
	x, err := smooth.transformed(t)
	if err != nil {
		return nil, err
	}
	z, log := f.Scale.Standardised(x), make([]float64, t.N)
	density, err := f.Posterior.LogDensity()
	if err != nil {
		return nil, err
	}
	blocks, done := slices.Collect(slices.Chunk(t.AllRows(), blockRows)), 0
	err = panics.Each(ctx, c.Workers, len(blocks), func() (func(context.Context, int) error, error) {
		rng := new(source.Stream)
		return func(ctx context.Context, b int) error {
			for _, i := range blocks[b] {
				own := z.Observed[i*t.D : (i+1)*t.D]
				log[i] = density(z.Values[i*t.D:(i+1)*t.D], own, rng.At(c.Seed, stream.Sample, 3, uint64(i)))
				for j, seen := range own {
					if seen && f.Posterior.Cuts[j] == nil && f.Posterior.Levels[j] == 0 {
						slope, _ := smooth.Transform.Slope(j, t.Values[i*t.D+j])
						log[i] += slope - math.Log(f.Scale.Deviation[j])
					}
				}
			}
			return ctx.Err()
		}, nil
	}, func(b int) error {
		if done += len(blocks[b]); c.Observe != nil {
			c.Observe(done, t.N)
		}
		return nil
	})
	return &Scores{Sampler: ClosedForm, LogDensity: log}, err
}

// drawnParams hold per draw the log weights, and per component the mean and the upper triangle of
// the precision, row by row.
func drawnParams(draws, components, d int) []*graph.Param {
	n := draws * components
	return []*graph.Param{graph.NewParam("log_weights", draws, components), graph.NewParam("means", n, d), graph.NewParam("precisions", n, d*(d+1)/2)}
}

func parametersOf(p *posterior.Parameters) map[string]packed {
	d, k := p.Width(), len(p.Draws[0].LogWeights)
	params := drawnParams(len(p.Draws), k, d)
	at := 0
	for s, m := range p.Draws {
		copy(params[0].Value[s*k:], m.LogWeights)
		copy(params[1].Value[s*k*d:], m.Means)
		for i := 0; i < len(m.Precisions); i += d {
			at += copy(params[2].Value[at:], m.Precisions[i+i/d%d:i+d])
		}
	}
	out, _ := packParams(params) // cannot fail: the names differ
	return out
}

func (f *file) posterior(s *Saved) error {
	if f.Model != FromPosterior {
		return nil
	}
	if s.Scale.Mean == nil {
		return errors.New("standardised_by is missing")
	}
	p := &posterior.Parameters{Cuts: make([][]float64, len(s.Names)), Levels: make([]int, len(s.Names))}
	if err := f.kinds(s, p); err != nil {
		return err
	}
	size := f.Parameters["log_weights"]
	d, draws, k := p.Width(), size.Rows, size.Cols
	if cells := len(size.Float64) / 8; draws < 1 || k < 1 || draws > cells || k > cells || len(f.Parameters["precisions"].Float64)/8 != draws*k*d*(d+1)/2 {
		return errors.New("its draws of the parameters are missing or damaged")
	}
	params := drawnParams(draws, k, d)
	if err := readParams(params, f.Parameters); err != nil {
		return err
	}
	upper := params[2].Value
	for s := range draws {
		one := posterior.Mixture{LogWeights: params[0].Value[s*k : s*k+k], Means: params[1].Value[s*k*d : (s+1)*k*d], Precisions: make([]float64, k*d*d)}
		for precision := range slices.Chunk(one.Precisions, d*d) {
			for i := range d {
				for j := i; j < d; j++ {
					precision[i*d+j], precision[j*d+i], upper = upper[0], upper[0], upper[1:]
				}
			}
		}
		p.Draws = append(p.Draws, one)
	}
	s.Posterior = p
	return p.Check()
}

func (f *file) kinds(s *Saved, p *posterior.Parameters) error {
	for j, name := range s.Names {
		var function transform.Function
		names := f.Levels[name]
		if s.Transform != nil {
			function = s.Transform[j]
		}
		o, cut := function.(*transform.Ordinal)
		switch {
		case cut && names == nil:
			s.Transform[j] = &levels{o}
		case len(names) > 2 && function == nil:
			p.Levels[j] = len(names)
		case names != nil && (!cut || len(o.Values()) != len(names)):
			return fmt.Errorf("%q has %d levels, but a function without these levels", name, len(names))
		}
		if cut {
			p.Cuts[j] = standardCuts(o.Cuts(), s.Scale, j)
		}
	}
	return nil
}

func standardCuts(cuts []float64, s data.Scale, j int) (z []float64) {
	for _, at := range cuts {
		z = append(z, (at-s.Mean[j])/s.Deviation[j])
	}
	return z
}
