package latent

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
)

// Sums are added in the order of the parts.
const parts = 16

// chain holds the rows with a latent number in every cell. A turn makes one Gibbs sweep (Geman &
// Geman 1984; Albert & Chib 1993) under the law of the previous turn: stochastic EM (Celeux &
// Diebolt 1985; Nielsen 2000).
type chain struct {
	d       int
	rows    []int
	again   []uint64  // occurrence number of a repeated row, from 0
	once    []float64 // multiplicity of each row
	z       []float64 // (len(rows), d)
	seen    []bool    // (len(rows), d)
	level   []int     // (len(rows), d): the category of an observed cell of an ordinal or nominal column
	workers int
	turns   uint64 // turns done
	law     *law
	total   sums
	part    [parts]sums
}

// sums over rows: mean is Σz (d), cov the upper triangle of Σzzᵀ (d, d), and cuts has the cells
// below each threshold, their expected number for missing ones.
type sums struct {
	*law
	number float64
}

func (s *sums) clear() {
	s.number = 0
	clear(s.all)
}

// newChain starts with pairwise moments and slightly reduced correlations, with categories at the
// middle of their interval and zeros in missing cells.
func newChain(t *data.Table, blocks []data.Block, rows []int, counts []float64, workers int, m *pairmoments.Moments) *chain {
	d := t.D
	c := &chain{d: d, rows: rows, workers: max(1, workers), z: make([]float64, len(rows)*d), seen: make([]bool, len(rows)*d), level: make([]int, len(rows)*d)}
	cuts := make([][]float64, d)
	copy(cuts, t.Cuts)
	c.law = newLaw(cuts, blocks)
	for j := range d {
		for k := range d {
			c.law.cov[j*d+k] = 0.9 * m.S[j*d+k]
		}
		c.law.cov[j*d+j] = m.S[j*d+j]
		copy(c.law.cuts[j], cuts[j])
	}
	times := make([]uint64, t.N)
	for i, row := range rows {
		once := 1.0
		if counts != nil {
			once = counts[row]
		}
		c.once, c.again = append(c.once, once), append(c.again, times[row])
		times[row]++
		for j := range d {
			from, at := row*d+j, i*d+j
			if c.seen[at] = t.Observed[from]; !c.seen[at] {
				continue
			}
			c.z[at] = t.Values[from]
			if t.Ordinal(j) {
				c.level[at] = sort.SearchFloat64s(t.Cuts[j], t.Values[from])
			}
			if c.law.block[j] >= 0 {
				c.level[at], c.z[at] = int(t.Values[from]), -0.5
				if c.level[at] == 1+j-c.law.blocks[c.law.block[j]].First {
					c.z[at] = 0.5
				}
			}
		}
	}
	c.total.law = newLaw(cuts, blocks)
	for k := range c.part {
		c.part[k].law = newLaw(cuts, blocks)
	}
	return c
}

func (c *chain) turn(ctx context.Context) (*law, error) {
	if err := c.sweep(ctx); err != nil {
		return nil, err
	}
	c.law.set(&c.total)
	return c.law, nil
}

func (c *chain) average(ctx context.Context, turns int) (*law, error) {
	mean := newLaw(c.law.cuts, c.law.blocks)
	for range turns {
		l, err := c.turn(ctx)
		if err != nil {
			return nil, err
		}
		floats.AddScaled(mean.all, 1/float64(turns), l.all)
	}
	return mean, nil
}

func (c *chain) sweep(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	coefficients, deviation, err := c.law.regressions()
	if err != nil {
		return err
	}
	shifts := c.law.shifts(coefficients, deviation)
	c.turns++
	pool := panics.NewGroup()
	pool.SetLimit(c.workers)
	for k := range c.part {
		pool.Go(func() error {
			s := &c.part[k]
			s.clear()
			var rng stream.Stream
			for i := k * len(c.rows) / parts; i < (k+1)*len(c.rows)/parts; i++ {
				rng.At(0, stream.Latent, uint64(c.rows[i]), c.again[i], c.turns)
				c.draw(i, coefficients, deviation, shifts, s, &rng)
				c.count(i, s)
			}
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		return err
	}
	c.total.clear()
	for _, s := range c.part {
		c.total.number += s.number
		floats.Add(c.total.all, s.all)
	}
	return nil
}

func (c *chain) draw(i int, coefficients, deviation []float64, shifts []shift, s *sums, rng *stream.Stream) {
	d, l := c.d, c.law
	row := c.z[i*d : i*d+d]
	floats.Sub(row, l.mean)
	for j := range d {
		at, cuts := i*d+j, l.cuts[j]
		if c.seen[at] && cuts == nil && l.block[j] < 0 {
			continue
		}
		mean, sd := floats.Dot(coefficients[j*d:j*d+d], row), deviation[j]
		if !c.seen[at] {
			row[j] = mean + sd*rng.NormFloat64()
			for k, cut := range cuts {
				s.cuts[j][k] += c.once[i] * 0.5 * math.Erfc((mean-cut)/sd/math.Sqrt2)
			}
			continue
		}
		if b := l.block[j]; b >= 0 {
			row[j] = drawUtility(row, l.mean, l.blocks[b], j-l.blocks[b].First, c.level[at], mean, sd, rng)
			continue
		}
		low, high := math.Inf(-1), math.Inf(1)
		if k := c.level[at]; k > 0 {
			low = cuts[k-1]
		}
		if k := c.level[at]; k < len(cuts) {
			high = cuts[k]
		}
		row[j] = mean + sd*truncnorm.Transport(rng.NormFloat64(), (low-mean)/sd, (high-mean)/sd)
		for k := c.level[at]; k < len(cuts); k++ {
			s.cuts[j][k] += c.once[i]
		}
	}
	for k, b := range l.blocks {
		level := unknown
		if at := i*d + b.First; c.seen[at] {
			level = c.level[at]
		}
		shifts[k].draw(row, l.mean, b, level, rng)
	}
	floats.Add(row, l.mean)
}

func (c *chain) count(i int, s *sums) {
	d, once := c.d, c.once[i]
	row := c.z[i*d : i*d+d]
	s.number += once
	floats.AddScaled(s.mean, once, row)
	for j, v := range row {
		floats.AddScaled(s.cov[j*d+j:j*d+d], once*v, row[j:])
	}
}
