package fitted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers/fitted/diffusion"
	"missingscore/trainers/mcmc"
	"missingscore/trainers/source"
)

// ImputeConfig says how missing cells are drawn. Zero values mean the defaults named here.
type ImputeConfig struct {
	// Sampler is where the draws come from:
	//
	//	exact      the conditional normal of a Gaussian, restricted to the domain
	//	mcmc       Hamiltonian Monte Carlo from the model's density given the observed cells,
	//	           from the imputer's draws or else from normals like the columns
	//	imputer    the trained imputer alone: as good as its training
	//	diffusion  Langevin steps along the levels of noise of a model that knows them: for
	//	           scores without a density
	//	latent     numbers behind ordered categories and in gaps, by Gibbs sweeps within the
	//	           categories' thresholds: for models of ordinal columns
	//	auto       the first of latent, exact, mcmc, diffusion that the model allows
	Sampler string
	Draws   int // of each row; 1
	Seed    uint64

	Chains    mcmc.Options      // of mcmc: WarmUp, Draws (1000 by default), Leapfrog
	Diffusion diffusion.Options // of diffusion

	Workers int                   // parallel blocks of rows; 1. Results do not depend on it.
	Observe func(done, total int) // called when a block of rows is done, if set

	// Partial keeps what is drawn, and is not drawn again, if set. Save is then called,
	// by one worker at a time, when a block is done, and before a run that is cut ends.
	Partial *Partial
	Save    func(*Partial) error
}

// Imputed is a table completed Draws times.
type Imputed struct {
	Sampler string
	Draws   int
	Values  []float64 // (n·Draws, d), draw k of row i in row i·Draws+k, observed cells as they are
	Mixing  *Mixing   // of chains, else nil
}

// Gaps are the draws of each missing cell of the table, row by row.
func (r *Imputed) Gaps(t *data.Table) (gaps [][]float64) {
	for at, seen := range t.Observed {
		if seen {
			continue
		}
		draws := make([]float64, r.Draws)
		for k := range draws {
			draws[k] = r.row(at/t.D, k, t.D)[at%t.D]
		}
		gaps = append(gaps, draws)
	}
	return gaps
}

// Mixing tells whether the chains of a table's rows have met: four and more for each row
// with gaps, or by the exact sampler for those whose part of the domain is too narrow for
// rejection.
type Mixing struct {
	mcmc.Mixing
	// Size are the rows' least effective numbers of draws of all their chains (n), +Inf
	// for those without gaps.
	Size []float64
}

// Converged says that RHat is at most MaxRHat and no row's above 1.2.
func (m *Mixing) Converged() bool { return m.RHat <= MaxRHat && m.Worst <= 1.2 }

// Impute draws the missing cells of a table given its observed ones, in its units.
// Rows without any value are drawn whole. It fails if the model does not allow
// c.Sampler, or by a *data.RowError if a row lies outside the domain.
func Impute(ctx context.Context, f *Model, t *data.Table, c ImputeConfig) (*Imputed, error) {
	c, err := c.For(f)
	if err != nil {
		return nil, err
	}
	r := &Imputed{Sampler: c.Sampler, Draws: c.Draws, Values: make([]float64, t.N*c.Draws*t.D)}
	for i := range t.N {
		for k := range c.Draws {
			copy(r.Values[(i*c.Draws+k)*t.D:], t.Values[i*t.D:(i+1)*t.D])
		}
	}
	r.Mixing, err = eachBlock(ctx, f, t, c, func(b block) error {
		f.restore(b.x)
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

// For is c with its defaults for a model; it fails where the model does not allow c.Sampler.
func (c ImputeConfig) For(f *Model) (ImputeConfig, error) {
	setting.Default(&c.Sampler, "auto")
	setting.Default(&c.Draws, 1)
	setting.Default(&c.Workers, 1)
	if c.Draws < 0 || c.Workers < 0 {
		return c, fmt.Errorf("%d draws, %d workers: both must be positive", c.Draws, c.Workers)
	}
	s, err := f.cellSamplerFor(c.Sampler)
	if s.name != "" {
		c.Sampler = s.name
	}
	return c, err
}

// block are rows with gaps, completed.
type block struct {
	rows []int
	mask []float64 // (rows, d)
	x    []float64 // (rows·draws, d) in the units of z

	rhat, size []float64 // of chains (rows): R-hat, 0 without chains, and effective number of draws
}

const blockRows = 32

// eachBlock visits all rows with gaps, block by block, some at a time.
func eachBlock(ctx context.Context, f *Model, t *data.Table, c ImputeConfig, visit func(block) error) (*Mixing, error) {
	if t.D != len(f.Names) {
		return nil, fmt.Errorf("a model of %d columns does not fit a table of %d", len(f.Names), t.D)
	}
	t, err := f.transformed(t)
	if err != nil {
		return nil, err
	}
	z := f.standardised(t)
	sampler, err := cellSamplerByName(c.Sampler)
	if err != nil {
		return nil, err
	}
	q := &blockQueue{config: c, visit: visit, z: z}
	for i := range t.N {
		if slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			q.gaps = append(q.gaps, i)
		}
	}
	if sampler.chains != nil && sampler.chains(f) && len(q.gaps) > 0 {
		q.mixing, q.rhat = &Mixing{Size: slices.Repeat([]float64{math.Inf(1)}, t.N)}, make([]float64, len(q.gaps))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for range min(c.Workers, (len(q.gaps)+blockRows-1)/blockRows) {
		draw, err := sampler.completer(f, z, c)
		if err != nil {
			return nil, err
		}
		group.Go(func() {
			if err := q.work(ctx, draw); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), q.save())
	}
	if q.mixing == nil {
		return nil, nil
	}
	pooled := mcmc.Pool(q.gaps, q.rhat)
	if pooled == nil {
		return nil, nil
	}
	q.mixing.Mixing = *pooled
	return q.mixing, nil
}

// blockQueue gives out the blocks of rows with gaps to parallel workers, and collects what
// their chains tell.
type blockQueue struct {
	config ImputeConfig
	z      *data.Table
	gaps   []int // rows with gaps
	visit  func(block) error

	mixing *Mixing   // nil where there can be no chains
	rhat   []float64 // of them, by row with gaps

	next atomic.Int64 // block to give out
	lock sync.Mutex   // of done and config.Observe
	done int          // rows completed
}

// work completes blocks until none is left, one fails, or the context is done.
func (q *blockQueue) work(ctx context.Context, draw completer) error {
	for ctx.Err() == nil {
		k := int(q.next.Add(1) - 1)
		if k*blockRows >= len(q.gaps) {
			return nil
		}
		if err := panics.Caught(func() error { return q.complete(ctx, draw, k) }); err != nil {
			return err
		}
	}
	return nil
}

// complete draws and visits block k.
func (q *blockQueue) complete(ctx context.Context, draw completer, k int) error {
	from := k * blockRows
	rows := q.gaps[from:min(from+blockRows, len(q.gaps))]
	b, err := q.drawn(ctx, draw, rows, k)
	if err != nil {
		return err
	}
	if q.mixing != nil {
		copy(q.rhat[from:], b.rhat)
		for i, row := range rows {
			q.mixing.Size[row] = b.size[i]
		}
	}
	if err := q.visit(b); err != nil {
		return err
	}
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.done += len(rows); q.config.Observe != nil {
		q.config.Observe(q.done, len(q.gaps))
	}
	return q.save()
}

// drawn is block k, as it is held or else drawn.
func (q *blockQueue) drawn(ctx context.Context, draw completer, rows []int, k int) (block, error) {
	held := q.config.Partial
	if held != nil {
		if b, ok, err := held.get(k, q.z, rows, q.config.Draws, q.mixing != nil); ok || err != nil {
			return b, err
		}
	}
	b, err := draw(ctx, rows, new(source.Stream).At(q.config.Seed, stream.Sample, uint64(k)))
	if err == nil && held != nil {
		held.put(k, b, q.z.D)
	}
	return b, err
}

// save hands over what is drawn, if that is asked for.
func (q *blockQueue) save() error {
	if q.config.Partial == nil || q.config.Save == nil {
		return nil
	}
	return q.config.Save(q.config.Partial)
}
