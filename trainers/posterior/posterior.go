// Package posterior draws the missing cells of a table together with the law of its rows,
// which is not held at an estimate: a mixture of normals whose weights, means, precisions and
// number of components in use come from their posterior distribution, so that the spread of
// the draws has what is not known of the law in it (docs/theory/sampling.md#eq-posterior).
//
//	posterior.go  completed tables, by parallel chains
//	chain.go      one chain: data augmentation (Tanner & Wong 1987), a blocked Gibbs sampler
//	              (Ishwaran & James 2001)
//	law.go        parameters given completed rows
//	parameters.go draws of the parameters, for rows of other tables
package posterior

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers/mcmc"
)

// Config says how missing cells are drawn. Zero values mean the defaults named here.
type Config struct {
	Draws      int // completed tables; 1
	Components int // of the mixture at most; 10, or one for 5d rows; 1 with fewer than 20d rows, d numbers a row
	WarmUp     int // iterations of each chain before any counts; 100
	Iterations int // of each chain that count; 100, and again twice as many while chains have not met, up to 800; with nominal columns 1600, and of one normal 3200
	Seed       uint64
	Keep       int // draws of the parameters that Drawn.Parameters holds, at even distances; 0: none

	// Cuts are, for a column of few values, the increasing places at which it goes from one
	// to the next: what is modelled is a number behind the value, of which only the interval
	// is observed; nil for other columns, and nil if there are none.
	Cuts [][]float64

	// Levels are, for a nominal column, how many levels it has, 3 or more: its observed cells are
	// 0, …, Levels − 1. What is modelled are the levels' utilities, of which only the largest is
	// observed. 0 for other columns, and nil if there are none.
	Levels []int

	// Donors make draws of columns of continuous values observed ones (predictive-mean matching),
	// of one of so many rows; 0: they are the law's.
	Donors int

	Anchor *Anchor // of the prior of a mixture; nil: estimated from the table

	Workers int                   // parallel chains; 1. Results do not depend on it.
	Observe func(done, total int) // called when a chain has made its iterations, if set
}

const (
	chains         = 5
	mostComponents = 10
	warmUp         = 100
	leastRound     = 100
	leastSpacing   = 10 // iterations of a chain from draw to draw
	mostRounds     = 4  // 5 with nominal columns, whose utilities' covariances have long memories; 6 of one normal
)

// Anchor is a normal distribution of the rows, d numbers each (L − 1 for a nominal column of L levels), at which the prior of a mixture is anchored.
type Anchor struct {
	Mean       []float64 // (d)
	Covariance []float64 // (d, d)
	precision  []float64 // (d, d)
}

// For is c with its defaults for a table.
func (c Config) For(t *data.Table) (Config, error) {
	setting.Default(&c.Draws, 1)
	d := c.width(t)
	components := min(mostComponents, t.N/(5*d))
	if t.N < 20*d { // the anchor, which uses the table twice, would make draws too narrow
		components = 1
	}
	setting.Default(&c.Components, components)
	setting.Default(&c.WarmUp, warmUp)
	setting.Default(&c.Workers, 1)
	if c.Draws < 1 || c.Components < 1 || c.WarmUp < 1 || c.Iterations < 0 || c.Workers < 1 {
		return c, fmt.Errorf("%d draws, %d components, %d iterations after a warm-up of %d, %d workers: all must be positive", c.Draws, c.Components, c.Iterations, c.WarmUp, c.Workers)
	}
	return c, nil
}

// width is how many numbers a row of the table has.
func (c Config) width(t *data.Table) int {
	d := t.D
	for _, levels := range c.Levels {
		d += max(0, levels-2)
	}
	return d
}

// Drawn are the missing cells of a table.
type Drawn struct {
	Gaps [][]float64 // (draws): the missing cells, row by row

	// Mixing has the split R-hat of each column's completed mean over the chains, of a nominal
	// column the largest of its levels' shares; its Row is the column, from 0. nil where nothing is
	// missing.
	Mixing     *mcmc.Mixing
	Iterations int     // of each chain that count
	InUse      float64 // components that have rows, on average
	Weight     float64 // ν: rows that the prior of the precisions counts for, on average

	Parameters *Parameters // nil if Config.Keep is 0

	// Mixture is the Mixing of the mixture's chains if they have not met, and the draws are
	// therefore from one normal; else nil.
	Mixture *mcmc.Mixing
}

// Draw completes a table whose columns of numbers have mean 0 and deviation 1 or nearly so; each
// column needs an observed cell. Draw k is from chain k modulo 5. If c.Components is 0 and the chains of the
// mixture have not met, the draws are from one normal.
func Draw(ctx context.Context, z *data.Table, c Config) (*Drawn, error) {
	free := c.Components == 0
	c, err := c.For(z)
	if err != nil {
		return nil, err
	}
	for j, name := range z.Names {
		if len(z.Column(j)) == 0 {
			return nil, fmt.Errorf("column %s has no observed cell", name)
		}
	}
	if z.Missing() == 0 && c.Keep == 0 {
		return &Drawn{Gaps: make([][]float64, c.Draws)}, nil
	}
	d, err := c.draw(ctx, z)
	if err != nil || !free || c.Components == 1 || Met(d.Mixing) {
		return d, err
	}
	c.Components = 1
	one, err := c.draw(ctx, z)
	if err != nil {
		return nil, err
	}
	one.Mixture = d.Mixing
	return one, nil
}

func (c Config) stream(chain int) *stream.Stream {
	return new(stream.Stream).At(c.Seed, stream.Sample, 2, uint64(chain))
}

// draw completes the table by chains of c.Components normals.
func (c Config) draw(ctx context.Context, z *data.Table) (*Drawn, error) {
	var a *Anchor
	if c.Components > 1 {
		var err error
		if a, err = c.anchor(ctx, z); err != nil {
			return nil, err
		}
	}
	runs := make([]*run, chains)
	for k := range runs {
		runs[k] = &run{chain: newChain(z, c, a, c.stream(k)), draws: (c.Draws - k + chains - 1) / chains, keep: (c.Keep - k + chains - 1) / chains}
	}
	if err := c.each(ctx, runs, func(r *run) error { return r.chain.steps(ctx, c.WarmUp, func(int) {}) }); err != nil {
		return nil, err
	}
	length, rounds := c.Iterations, 1
	if length == 0 {
		length, rounds = max(leastRound, leastSpacing*runs[0].draws), mostRounds
		if c.width(z) > z.D {
			length *= 2
			if c.Components == 1 {
				rounds++
			}
		}
	}
	for {
		if err := c.each(ctx, runs, func(r *run) error { return r.round(ctx, length) }); err != nil {
			return nil, err
		}
		d := together(runs, c.Draws)
		if rounds--; rounds == 0 || Met(d.Mixing) || c.Components > 1 && hopeless(d.Mixing, rounds) {
			d.Iterations = length
			if c.Keep > 0 {
				d.Parameters = &Parameters{Cuts: c.Cuts, Levels: c.Levels}
				for k := range c.Keep {
					d.Parameters.Draws = append(d.Parameters.Draws, runs[k%chains].kept[k/chains])
				}
			}
			return d, nil
		}
		length *= 2
	}
}

// anchor is c.Anchor, or else the mean of one normal's mean and covariance over a short chain.
func (c Config) anchor(ctx context.Context, z *data.Table) (*Anchor, error) {
	const first, last = 50, 150
	d := c.width(z)
	var f mat.Cholesky
	a := &Anchor{Mean: make([]float64, d), Covariance: make([]float64, d*d), precision: make([]float64, d*d)}
	if c.Anchor != nil {
		a.Mean, a.Covariance = c.Anchor.Mean, c.Anchor.Covariance
	} else {
		c.Components = 1
		s := newChain(z, c, nil, c.stream(chains))
		covariance := mat.NewSymDense(d, nil)
		err := s.steps(ctx, last, func(i int) {
			if one := s.components[0]; i >= first && f.Factorize(dense(one.precision, d)) && f.InverseTo(covariance) == nil {
				floats.AddScaled(a.Mean, 1./(last-first), one.mean)
				floats.AddScaled(a.Covariance, 1./(last-first), covariance.RawSymmetric().Data)
			}
		})
		if err != nil {
			return nil, err
		}
		mirror(a.Covariance, d)
	}
	if !f.Factorize(dense(a.Covariance, d)) || f.InverseTo(dense(a.precision, d)) != nil {
		return nil, errDependent
	}
	mirror(a.precision, d)
	return a, nil
}

// MostRHat is the root mean square R-hat of the columns, and MostColumnRHat the R-hat of one,
// above which chains have not met.
const (
	MostRHat       = 1.1
	MostColumnRHat = 1.2
)

// Met says that no R-hat is above MostRHat and MostColumnRHat.
func Met(m *mcmc.Mixing) bool { return m == nil || m.RHat <= MostRHat && m.Worst <= MostColumnRHat }

// hopeless says that chains will not meet in so many more rounds, each twice as long as the one
// before: R-hat − 1 falls about as the inverse of their length, and it would have to fall twice as fast.
func hopeless(m *mcmc.Mixing, rounds int) bool {
	return max((m.RHat-1)/(MostRHat-1), (m.Worst-1)/(MostColumnRHat-1)) > math.Exp2(float64(rounds+1))
}

// each does work for all runs, up to c.Workers at a time.
func (c Config) each(ctx context.Context, runs []*run, work func(*run) error) error {
	done := 0
	return panics.Each(ctx, c.Workers, len(runs), func() (func(context.Context, int) error, error) {
		return func(_ context.Context, k int) error { return work(runs[k]) }, nil
	}, func(int) error {
		if done++; c.Observe != nil {
			c.Observe(done, len(runs))
		}
		return nil
	})
}

// run is a chain with what counts of it.
type run struct {
	chain *chain
	draws int // that are asked of it
	keep  int // draws of the parameters that are

	gaps   [][]float64 // (draws)
	trace  [][]float64 // of each of chain.means: its value at each iteration
	kept   []Mixture   // (keep)
	inUse  int         // sum over iterations
	weight float64     // mean over iterations
}

// round makes iterations that count, and takes the draws at even distances, the last at the end.
func (r *run) round(ctx context.Context, iterations int) error {
	r.gaps, r.kept, r.trace, r.inUse, r.weight = nil, nil, nil, 0, 0
	return r.chain.steps(ctx, iterations, func(i int) {
		means := r.chain.means()
		if i == 0 {
			r.trace = make([][]float64, len(means))
		}
		for j, mean := range means {
			r.trace[j] = append(r.trace[j], mean)
		}
		r.inUse += r.chain.inUse()
		r.weight += r.chain.nu / float64(iterations)
		for (i+1)*r.draws >= (len(r.gaps)+1)*iterations && len(r.gaps) < r.draws {
			r.gaps = append(r.gaps, r.chain.gaps())
		}
		for (i+1)*r.keep >= (len(r.kept)+1)*iterations && len(r.kept) < r.keep {
			r.kept = append(r.kept, r.chain.parameters())
		}
	})
}

// together joins the chains.
func together(runs []*run, draws int) *Drawn {
	d := &Drawn{}
	for k := range draws {
		d.Gaps = append(d.Gaps, runs[k%chains].gaps[k/chains])
	}
	var columns []int
	var rhat []float64
	next := 0
	for j, c := range runs[0].chain.columns {
		worst := 0.0
		for range max(1, len(c.vertices)/c.width) {
			var traces [][]float64
			for _, r := range runs {
				traces = append(traces, r.trace[next])
			}
			one, _ := mcmc.RHat(traces)
			if math.IsNaN(one) && (c.cuts != nil || c.vertices != nil) { // one value in all draws
				one = 1
			}
			worst = max(worst, one)
			next++
		}
		if c.incomplete {
			columns, rhat = append(columns, j), append(rhat, worst)
		}
	}
	d.Mixing = mcmc.Pool(columns, rhat)
	for _, r := range runs {
		d.InUse += float64(r.inUse)
		d.Weight += r.weight / chains
	}
	d.InUse /= float64(chains * len(runs[0].trace[0]))
	return d
}
