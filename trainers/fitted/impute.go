package fitted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/source"
)

// ImputeConfig configures Impute. Zero values select the defaults.
type ImputeConfig struct {
	// Sampler is the sampler of missing cells:
	//
	//	exact      the conditional normal of a Gaussian, restricted to the domain
	//	mcmc       Hamiltonian Monte Carlo on the model's conditional density; starts are the
	//	           imputer's draws, or else normals with the columns' moments
	//	imputer    the trained imputer alone; its error is not corrected
	//	diffusion  Langevin steps along noise levels, for scores without a density
	//	latent     Gibbs sweeps over latent normals, for models of ordinal columns
	//	predictive the posterior draws of the parameters (Model.Posterior)
	//	auto       predictive, or the first of latent, exact, diffusion, mcmc that the model supports
	Sampler string
	Draws   int // per row; 1
	Seed    uint64

	Chains mcmc.Options // of mcmc: WarmUp, Draws (1000 by default), Leapfrog
	Steps  int          // of diffusion: diffusion.Sampler.Complete

	Workers int                   // threads; 1. Results do not depend on it.
	Observe func(done, total int) // called after each block of rows, if set

	// Partial, if set, keeps finished blocks. Save is called after each block, by one worker at a
	// time, and before an interrupted run returns.
	Partial *Partial
	Save    func(*Partial) error
}

// Imputed is a table completed by Draws draws.
type Imputed struct {
	Sampler string
	Draws   int
	Values  []float64 // (n·Draws, d), draw k of row i in row i·Draws+k, observed cells as they are
	Mixing  *Mixing   // of chains, else nil
}

// Mixing of four chains per row with missing cells.
type Mixing struct {
	mcmc.Mixing
	// Least effective sample size of each row over its chains, +Inf without missing cells.
	Size []float64
}

// Converged reports that RHat is at most MaxRHat and every row's R-hat at most 1.2.
func (m *Mixing) Converged() bool { return m.RHat <= MaxRHat && m.Worst <= 1.2 }

// Impute draws the missing cells given each row's observed cells, in the table's units, rounded to
// levels. It fails if the model does not support c.Sampler, or with a *data.RowError for a row
// outside the domain.
func Impute(ctx context.Context, f *Model, t *data.Table, c ImputeConfig) (*Imputed, error) {
	by, err := c.resolve(f)
	if err != nil {
		return nil, err
	}
	r := &Imputed{Sampler: c.Sampler, Draws: c.Draws, Values: make([]float64, t.N*c.Draws*t.D)}
	for i := range t.N {
		for k := range c.Draws {
			copy(r.Values[(i*c.Draws+k)*t.D:], t.Values[i*t.D:(i+1)*t.D])
		}
	}
	r.Mixing, err = eachBlock(ctx, f, t, by, c, func(b *block) error {
		f.restore(b.x)
		f.toLevels(b.x)
		if err := f.checkDraws(b.x); err != nil {
			return err
		}
		for i, row := range b.rows {
			for k := range c.Draws {
				from, to := b.x[(i*c.Draws+k)*t.D:], r.Values[(row*c.Draws+k)*t.D:]
				for j := range t.D {
					if !t.Observed[row*t.D+j] {
						to[j] = from[j]
					}
				}
			}
		}
		return nil
	})
	return r, err
}

func (f *Model) toLevels(values []float64) {
	if f.Levels == nil {
		return
	}
	for at, v := range values {
		if last := len(f.Levels[at%len(f.Levels)]) - 1; last >= 0 {
			values[at] = min(max(math.Round(v), 0), float64(last))
		}
	}
}

// For returns c with defaults; it fails if the model does not support c.Sampler.
func (c ImputeConfig) For(f *Model) (ImputeConfig, error) {
	_, err := c.resolve(f)
	return c, err
}

func (c *ImputeConfig) resolve(f *Model) (s sampler[cellDrawer], err error) {
	setting.Default(&c.Draws, 1)
	setting.Default(&c.Workers, 1)
	if c.Draws < 0 || c.Workers < 0 {
		return s, fmt.Errorf("%d draws, %d workers: both must be positive", c.Draws, c.Workers)
	}
	own := f.only()
	if f.ordinal() {
		own = "latent"
	}
	s, err = choose(f, cellSamplers, "missing cells", c.Sampler, own, predictive, "latent", "exact", "diffusion", "mcmc")
	c.Sampler = s.name
	return s, err
}

// block holds draws of rows with missing cells.
type block struct {
	rows    []int
	x, mask []float64 // (rows·draws, d), x in the units of z, with space for blockRows rows

	rhat, size []float64 // of chains (rows): R-hat (0 without chains) and effective sample size
}

const blockRows = 32

func newBlock(z *data.Table, rows []int, draws int) *block {
	size := blockRows * draws * z.D
	b := &block{rows: rows, x: make([]float64, 0, size), mask: make([]float64, 0, size)}
	for _, i := range rows {
		mask := marks(z, i)
		for range draws {
			b.x, b.mask = append(b.x, z.Values[i*z.D:(i+1)*z.D]...), append(b.mask, mask...)
		}
	}
	return b
}

// completer draws a block's missing cells, in place.
type completer func(ctx context.Context, b *block, rng *source.Stream) error

// eachBlock draws rows with missing cells in blocks, up to c.Workers at a time.
func eachBlock(ctx context.Context, f *Model, t *data.Table, by sampler[cellDrawer], c ImputeConfig, visit func(*block) error) (*Mixing, error) {
	t, err := f.transformed(t)
	if err != nil {
		return nil, err
	}
	z := f.Scale.Standardised(t)
	var gaps []int // rows
	for i := range t.N {
		if slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			gaps = append(gaps, i)
		}
	}
	if c.Save == nil {
		c.Save = func(*Partial) error { return nil }
	}
	blocks, done := slices.Collect(slices.Chunk(gaps, blockRows)), 0
	rhat, size := make([][]float64, len(blocks)), slices.Repeat([]float64{math.Inf(1)}, t.N)
	err = panics.Each(ctx, c.Workers, len(blocks), func() (func(context.Context, int) error, error) {
		draw, err := by.run(f, z, c)
		return func(ctx context.Context, k int) error {
			b := newBlock(z, blocks[k], c.Draws)
			if err := c.complete(ctx, b, k, draw); err != nil {
				return err
			}
			rhat[k] = b.rhat
			for i, v := range b.size {
				size[b.rows[i]] = v
			}
			return visit(b)
		}, err
	}, func(k int) error {
		if done += len(blocks[k]); c.Observe != nil {
			c.Observe(done, len(gaps))
		}
		return c.Save(c.Partial)
	})
	if err != nil {
		return nil, errors.Join(err, c.Save(c.Partial))
	}
	pooled := mcmc.Pool(gaps, slices.Concat(rhat...))
	if pooled == nil {
		return nil, nil
	}
	return &Mixing{*pooled, size}, nil
}

// complete takes the draws of block k from c.Partial, or makes and keeps them. It fails with
// ErrOtherImputation if the kept draws have other cells.
func (c ImputeConfig) complete(ctx context.Context, b *block, k int, draw completer) error {
	var s SavedBlock
	var held bool
	if c.Partial != nil {
		s, held = c.Partial.Get(k)
	}
	if !held {
		if err := draw(ctx, b, new(source.Stream).At(c.Seed, stream.Sample, uint64(k))); err != nil || c.Partial == nil {
			return err
		}
	}
	var gaps []int
	for at, seen := range b.mask {
		if seen == 0 {
			gaps = append(gaps, at)
		}
	}
	if !held {
		s = SavedBlock{RHat: b.rhat, Size: b.size}
		for _, at := range gaps {
			s.Gaps = append(s.Gaps, b.x[at])
		}
		c.Partial.Put(k, s)
		return nil
	}
	if len(gaps) != len(s.Gaps) {
		return ErrOtherImputation
	}
	for a, at := range gaps {
		b.x[at] = s.Gaps[a]
	}
	b.rhat, b.size = s.RHat, s.Size
	return nil
}
