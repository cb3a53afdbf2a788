// Package posterior draws the missing cells of a table jointly with the parameters of a normal
// mixture (docs/theory/sampling.md#eq-posterior) by a blocked Gibbs sampler (Tanner & Wong 1987;
// Ishwaran & James 2001).
package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mcmc"
	"missingscore/internal/trainers/mixed"
)

// Config configures Draw. Zero values select the defaults.
type Config struct {
	Draws      int // completed tables; 1
	Components int // maximum number of mixture components; default 10, or one per 5d rows; below 20d rows (d numbers per row) 1, from 8d rows on 4 if d <= 15 and held-out rows prefer a mixture
	WarmUp     int // discarded iterations per chain; 100
	Iterations int // kept iterations per chain; default 100, doubled until the chains have converged, up to 800 (nominal columns 1600, one normal 3200)
	Seed       uint64
	Keep       int // parameter draws in Drawn.Parameters, evenly spaced; 0: none

	// Cuts are the increasing thresholds between the values of a column of few values; nil for other
	// columns, and nil if there are none.
	Cuts [][]float64

	// Levels is a nominal column's number of levels, at least 3: cells are 0, …, Levels − 1. 0 for
	// other columns, and nil if there are none.
	Levels []int

	// Donor rows of predictive-mean matching for continuous columns; 0: draws from the model.
	Donors int

	Workers int                   // threads; 1. Results do not depend on it.
	Observe func(done, total int) // called after each chain, if set

	// Partial, if set, keeps the chains' states. Save is called after each chain, by one worker at a
	// time, and before an interrupted run returns.
	Partial *Partial
	Save    func(*Partial) error

	part int // of chain 0 in Partial
}

const (
	chains         = 5
	mostComponents = 10
	fewRows        = 20 // per number of a row
	leastRows      = 8  // of a mixture
	fewComponents  = 4
	fewNumbers     = 20 // of a row, at most, for several components of few rows: with more they are slow and gained nothing
	warmUp         = 100
	leastRound     = 100
	leastSpacing   = 10 // iterations between draws of a chain
	mostRounds     = 4  // with nominal columns, whose chains mix slowly; of one normal 5
	moreRounds     = 2  // if the last round costs at most cheap operations per chain
	cheap          = 6e8
)

// anchor centres the prior of a mixture; d numbers per row (L − 1 for a nominal column of L
// levels).
type anchor struct {
	mean                  []float64 // (d)
	covariance, precision []float64 // (d, d)
}

func (c Config) For(t *data.Table) (Config, error) {
	setting.Default(&c.Draws, 1)
	d := c.width(t)
	components := min(mostComponents, t.N/(5*d))
	if t.N < fewRows*d { // an anchor uses the table twice and may make draws too narrow
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

func (c Config) width(t *data.Table) int {
	d := t.D
	for _, levels := range c.Levels {
		d += max(0, levels-2)
	}
	return d
}

type Drawn struct {
	Gaps [][]float64 // (draws): the missing cells, row by row

	// Mixing has per column the split R-hat of mean and mean square, or shares of levels; Cells that
	// of the missing cells, with variances summed over cells. Row is the column with the largest
	// R-hat. Both are nil without missing cells.
	Mixing, Cells *mcmc.Mixing

	Iterations int     // kept iterations per chain
	InUse      float64 // mean number of components with rows
	Weight     float64 // mean of ν, the prior rows of the precisions

	Parameters *Parameters // nil if Config.Keep is 0

	// Mixing of the mixture's chains if they did not converge and the draws are from one normal; else
	// nil.
	Mixture *mcmc.Mixing
}

// Draw completes a standardised table; each column needs an observed cell. Draw k is from chain k
// modulo 5. If c.Components is 0 and the mixture's chains do not converge (MostCellRHat), the draws
// are from one normal.
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
	if rows, width := z.N, c.width(z); free && width <= fewNumbers && rows < fewRows*width && rows >= leastRows*width {
		several, err := c.several(ctx, z)
		if err != nil {
			return nil, err
		}
		if several {
			c.Components = fewComponents
		}
	}
	d, err := c.draw(ctx, z)
	if err != nil || !free || c.Components == 1 || d.Mixing == nil || d.Cells.Worst <= MostCellRHat {
		return d, err
	}
	c.Components, c.part = 1, chains
	one, err := c.draw(ctx, z)
	if err != nil {
		return nil, err
	}
	one.Mixture = d.Least()
	return one, nil
}

// several reports that held-out rows of the continuous columns have a larger log density under some
// mixture than under one normal.
func (c Config) several(ctx context.Context, z *data.Table) (bool, error) {
	var names []string
	for j, name := range z.Names {
		if (c.Cuts == nil || c.Cuts[j] == nil) && (c.Levels == nil || c.Levels[j] == 0) {
			names = append(names, name)
		}
	}
	if names == nil {
		return false, nil
	}
	t, err := z.Select(names)
	if err != nil {
		return false, err
	}
	t.Kinds, t.Levels = nil, nil
	f, err := mixed.Fit(ctx, t, mixed.Config{Seed: c.Seed, Workers: c.Workers})
	return err == nil && len(f.Model.Weights) > 1, err
}

func (c Config) stream(chain int) *stream.Stream {
	return new(stream.Stream).At(c.Seed, stream.Sample, 2, uint64(chain))
}

func (c Config) draw(ctx context.Context, z *data.Table) (*Drawn, error) {
	var a *anchor
	if c.Components > 1 {
		var err error
		if a, err = c.anchor(ctx, z); err != nil {
			return nil, err
		}
	}
	runs := make([]*run, chains)
	for k := range runs {
		runs[k] = &run{chain: newChain(z, c, a, c.stream(k)), draws: (c.Draws - k + chains - 1) / chains, keep: (c.Keep - k + chains - 1) / chains}
		if c.Partial != nil {
			if saved, ok := c.Partial.Get(c.part + k); ok {
				if err := runs[k].load(saved); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := c.each(ctx, runs, 0, c.WarmUp); err != nil {
		return nil, err
	}
	work := float64(z.N * c.Components * (c.width(z)*c.width(z) + 30))
	length, rounds := c.rounds(z, runs[0].draws, work)
	for stage := 1; ; stage++ {
		if err := c.each(ctx, runs, stage, length); err != nil {
			return nil, err
		}
		rounds--
		if slices.ContainsFunc(runs, func(r *run) bool { return r.stage > stage }) { // a resumed run went on from here
			length *= 2
			continue
		}
		d := together(runs, c.Draws)
		if rounds == 0 || d.within(settledRHat, settledCellRHat) || d.Met() && float64(2*length)*work > cheap || c.Components > 1 && d.hopeless(rounds) {
			d.Iterations = length
			d.Parameters = c.parameters(runs)
			return d, nil
		}
		length *= 2
	}
}

// parameters returns the kept draws of the chains by turns; nil if c.Keep is 0.
func (c Config) parameters(runs []*run) *Parameters {
	if c.Keep == 0 {
		return nil
	}
	p := &Parameters{Cuts: c.Cuts, Levels: c.Levels}
	for k := range c.Keep {
		p.Draws = append(p.Draws, runs[k%chains].Kept[k/chains])
	}
	return p
}

// rounds returns the iterations of the first round and the maximum number of rounds, each twice as
// long as the one before.
func (c Config) rounds(z *data.Table, draws int, work float64) (length, rounds int) {
	if c.Iterations > 0 {
		return c.Iterations, 1
	}
	length, rounds = max(leastRound, leastSpacing*draws), mostRounds
	if c.width(z) > z.D {
		length *= 2
		if c.Components == 1 {
			rounds++
		}
	}
	for range moreRounds {
		if math.Ldexp(float64(length)*work, rounds) <= cheap {
			rounds++
		}
	}
	return length, rounds
}

// anchor returns the average of a short chain of one normal.
func (c Config) anchor(ctx context.Context, z *data.Table) (*anchor, error) {
	const first, last = 50, 150
	c.Components = 1
	d := c.width(z)
	var f mat.Cholesky
	a := &anchor{make([]float64, d), make([]float64, d*d), make([]float64, d*d)}
	s, covariance := newChain(z, c, nil, c.stream(chains)), mat.NewSymDense(d, nil)
	err := s.steps(ctx, 0, last, func(i int) {
		if one := s.components[0]; i >= first && f.Factorize(dense(one.precision, d)) && f.InverseTo(covariance) == nil {
			floats.AddScaled(a.mean, 1./(last-first), one.mean)
			floats.AddScaled(a.covariance, 1./(last-first), covariance.RawSymmetric().Data)
		}
	})
	if err != nil {
		return nil, err
	}
	mirror(a.covariance, d)
	if !f.Factorize(dense(a.covariance, d)) || f.InverseTo(dense(a.precision, d)) != nil {
		return nil, errDependent
	}
	mirror(a.precision, d)
	return a, nil
}

// Limits of convergence (docs/theory/sampling.md#eq-met), and stricter ones for chains without a
// set length.
const (
	MostRHat     = 1.4
	MostCellRHat = 1.2

	settledRHat     = 1.1
	settledCellRHat = 1.05
)

func (d *Drawn) Met() bool { return d.within(MostRHat, MostCellRHat) }

func (d *Drawn) within(most, mostCell float64) bool {
	return d.Mixing == nil || d.Mixing.Worst <= most && d.Cells.Worst <= mostCell
}

// Least returns the Mixing with the larger (R-hat − 1) relative to its limit.
func (d *Drawn) Least() *mcmc.Mixing {
	if (d.Cells.Worst-1)/(MostCellRHat-1) > (d.Mixing.Worst-1)/(MostRHat-1) {
		return d.Cells
	}
	return d.Mixing
}

// R-hat − 1 falls about as 1/length; hopeless allows twice that rate.
func (d *Drawn) hopeless(rounds int) bool {
	return max((d.Mixing.Worst-1)/(MostRHat-1), (d.Cells.Worst-1)/(MostCellRHat-1)) > math.Exp2(float64(rounds+1))
}

func (c Config) each(ctx context.Context, runs []*run, stage, iterations int) error {
	done := 0
	if c.Save == nil {
		c.Save = func(*Partial) error { return nil }
	}
	err := panics.Each(ctx, c.Workers, len(runs), func() (func(context.Context, int) error, error) {
		return func(_ context.Context, k int) error {
			err := runs[k].advance(ctx, stage, iterations)
			if c.Partial != nil && (err == nil || ctx.Err() != nil) {
				c.Partial.Put(c.part+k, runs[k].state())
			}
			return err
		}, nil
	}, func(int) error {
		if done++; c.Observe != nil {
			c.Observe(done, len(runs))
		}
		return c.Save(c.Partial)
	})
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), c.Save(c.Partial))
	}
	return err
}

type run struct {
	chain *chain
	draws int // requested draws
	keep  int // requested parameter draws

	stage, done int // iterations of a stage: 0 the warm-up, then rounds
	results
}

type results struct {
	Gaps       [][]float64 // (draws)
	Kept       []Mixture   // (keep)
	InUse      int         // sum over iterations
	Weight     float64     // mean over iterations
	Quantities []quantity  // chain.judged, column by column
}

type quantity struct {
	Means    []float64 // at each iteration the mean over completed rows
	Sampling float64   // sampling variance of that mean
	// For each half of the iterations: the missing cells' sums, and sums of squares.
	Sums, Squares [2][]float64
}

// advance runs the rest of a stage and takes draws at equal distances, the last at the end.
func (r *run) advance(ctx context.Context, stage, iterations int) error {
	if r.stage > stage {
		return nil
	}
	if r.stage < stage {
		r.stage, r.done, r.results = stage, 0, results{}
	}
	return r.chain.steps(ctx, r.done, iterations, func(i int) {
		if r.done++; stage == 0 {
			return
		}
		r.tally(min(2*i/iterations, 1), iterations)
		r.InUse += len(slices.Compact(slices.Sorted(slices.Values(r.chain.of)))) // components with rows
		r.Weight += r.chain.nu / float64(iterations)
		for (i+1)*r.draws >= (len(r.Gaps)+1)*iterations && len(r.Gaps) < r.draws {
			r.Gaps = append(r.Gaps, r.chain.gaps())
		}
		for (i+1)*r.keep >= (len(r.Kept)+1)*iterations && len(r.Kept) < r.keep {
			r.Kept = append(r.Kept, r.chain.mixture.clone())
		}
	})
}

func (r *run) tally(half, iterations int) {
	s, q := r.chain, 0
	n := float64(s.n)
	var x []float64
	for j := range s.columns {
		width := len(s.judged(nil, 0, j))
		r.Quantities = append(r.Quantities, make([]quantity, max(0, q+width-len(r.Quantities)))...)
		own := r.Quantities[q : q+width]
		mean, square := make([]float64, width), make([]float64, width)
		gap := 0
		for i := range s.n {
			missing := !s.observed[i*len(s.columns)+j]
			x = s.judged(x[:0], i, j)
			for k, v := range x {
				mean[k] += v / n
				square[k] += v * v / n
				if o := &own[k]; missing {
					if gap == len(o.Sums[half]) {
						o.Sums[half], o.Squares[half] = append(o.Sums[half], 0), append(o.Squares[half], 0)
					}
					o.Sums[half][gap] += v
					o.Squares[half][gap] += v * v
				}
			}
			if missing {
				gap++
			}
		}
		for k, m := range mean {
			own[k].Means = append(own[k].Means, m)
			own[k].Sampling += (square[k] - m*m) / n / float64(iterations)
		}
		q += width
	}
}

func together(runs []*run, draws int) *Drawn {
	d := &Drawn{}
	for k := range draws {
		d.Gaps = append(d.Gaps, runs[k%chains].Gaps[k/chains])
	}
	s := runs[0].chain
	var columns []int
	var rhat, cellRHat []float64
	q := 0
	for j := range s.columns {
		worst, worstCell := 1., 1.
		for range len(s.judged(nil, 0, j)) {
			of := make([]quantity, len(runs))
			for k, r := range runs {
				of[k] = r.Quantities[q]
			}
			worst, worstCell = max(worst, meanRHat(of)), max(worstCell, cellsRHat(of))
			q++
		}
		if s.columns[j].incomplete {
			columns, rhat, cellRHat = append(columns, j), append(rhat, worst), append(cellRHat, worstCell)
		}
	}
	d.Mixing, d.Cells = mcmc.Pool(columns, rhat), mcmc.Pool(columns, cellRHat)
	for _, r := range runs {
		d.InUse += float64(r.InUse)
		d.Weight += r.Weight / chains
	}
	d.InUse /= float64(chains * len(runs[0].Quantities[0].Means))
	return d
}

// meanRHat returns the split R-hat of a quantity's population mean over chains
// (docs/theory/sampling.md#eq-met).
func meanRHat(of []quantity) float64 {
	var means []float64
	within, sampling := 0.0, 0.0
	half := len(of[0].Means) / 2
	for _, q := range of {
		sampling += q.Sampling / chains
		for _, trace := range [][]float64{q.Means[:half], q.Means[half:]} {
			mean, variance := stat.MeanVariance(trace, nil)
			means = append(means, mean)
			within += variance / (2 * chains)
		}
	}
	return root(within*(1-1/float64(half))+sampling+stat.Variance(means, nil), within+sampling)
}

// cellsRHat returns the split R-hat of a quantity's missing cells, with variances summed over
// cells.
func cellsRHat(of []quantity) float64 {
	half := float64(len(of[0].Means)) / 2
	within, between := 0.0, 0.0
	for gap := range of[0].Sums[0] {
		var means []float64
		for _, q := range of {
			for h := range 2 {
				mean := q.Sums[h][gap] / half
				means = append(means, mean)
				within += (q.Squares[h][gap]/half - mean*mean) / (2 * chains)
			}
		}
		between += stat.Variance(means, nil)
	}
	return root(within+between, within*half/(half-1))
}

// root returns √(all/within), 1 if nothing varies.
func root(all, within float64) float64 {
	if all == 0 {
		return 1
	}
	return math.Sqrt(all / within)
}
