package source

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/mcmc"
)

// chains are persistent: r per table row with missing cells. Before each step they make Hamiltonian
// moves that leave q_θ(x_mis | x_obs) invariant (docs/theory/sampling.md#persistent-chains).
type chains struct {
	r       int
	kept    *keptChains
	moves   *mcmc.Chains
	start   Source
	columns []float64 // standard deviations of the columns (d)

	observed, step, accept []float64 // (b, d) and (b), of a batch
	from, ignored          []float64 // (b·r, d) and (b·r), start of the chains
}

const (
	firstMoves   = 30 // of new chains
	nextMoves    = 1  // before each later step
	leapfrog     = 5  // steps per move
	acceptance   = 0.8
	firstStep    = 0.3 // of a move, in standard deviations
	leastStep    = 1e-6
	mostStep     = 1e3
	mostMemory   = 4 << 30
	checkedMoves = 100 // to compute R-hat
)

type keptChains struct {
	cells  [][]float64 // (n): r per missing cell of a row, chain by chain
	step   []float64   // (n): log step size of a row, in standard deviations
	visits []float64   // (n): number of moves; 0 before the start
}

// It fails if the chains need too much memory.
func newChainMemory(s Setting) (Memory, error) {
	t := s.Table
	if size := 8 * float64(t.Missing()) * float64(s.Draws); size > mostMemory {
		return nil, setting.Errorf("draws", s.Draws, "%d chains for each of %d missing cells need %.0f GB of memory; use fewer draws", s.Draws, t.Missing(), size/1e9)
	}
	k := &keptChains{step: slices.Repeat([]float64{math.Log(firstStep)}, t.N), visits: make([]float64, t.N)}
	for row := range slices.Chunk(t.Observed, t.D) {
		gaps := 0
		for _, seen := range row {
			if !seen {
				gaps++
			}
		}
		k.cells = append(k.cells, make([]float64, gaps*s.Draws))
	}
	return k, nil
}

func (k *keptChains) Capture() []float64 {
	return slices.Concat(slices.Concat(k.cells...), k.step, k.visits)
}

func (k *keptChains) Restore(from []float64) {
	for _, to := range append(slices.Clone(k.cells), k.step, k.visits) {
		from = from[copy(to, from):]
	}
}

// Setting.Memory must come from newChainMemory.
func newChains(s Setting) (Source, error) {
	moves, err := mcmc.NewMoves(s.Model, s.Domain, s.Batch, s.Draws, leapfrog)
	mean, sd := Marginals(s.Table)
	d := s.Table.D
	return &chains{
		r: s.Draws, kept: s.Memory.(*keptChains), moves: moves, start: NewNormals(mean, sd, s), columns: sd,
		observed: make([]float64, s.Batch*d), step: make([]float64, s.Batch), accept: make([]float64, s.Batch),
		from: make([]float64, s.Batch*s.Draws*d), ignored: make([]float64, s.Batch*s.Draws),
	}, err
}

// Marginals returns the mean and standard deviation of the columns' observed cells; 0 and 1 if
// undefined.
func Marginals(t *data.Table) (mean, sd []float64) {
	for j := range t.D {
		m, v := 0., 1.
		if x := t.Column(j); len(x) > 0 {
			m, v = stat.PopMeanVariance(x, nil)
		}
		if !(v > 0) {
			v = 1
		}
		mean, sd = append(mean, m), append(sd, math.Sqrt(v))
	}
	return mean, sd
}

// Log densities are unknown and not set.
func (c *chains) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	clear(logProposal)
	fresh, err := c.begin(b, x, rng)
	if err != nil {
		return err
	}
	moves := nextMoves
	if fresh {
		moves = firstMoves
	}
	for range moves {
		states, err := c.moves.Move(c.step, c.accept, rng.Rand)
		if err != nil {
			return err
		}
		copy(x, states)
		c.adapt(b)
	}
	for i, row := range b.Rows {
		c.each(b, i, row, func(cell *float64, at int) { *cell = x[at] })
	}
	return nil
}

// fresh reports new chains.
func (c *chains) begin(b *data.Batch, x []float64, rng *Stream) (fresh bool, err error) {
	Repeat(b, c.r, x)
	for _, row := range b.Rows {
		fresh = fresh || c.kept.visits[row] == 0
	}
	if fresh {
		if err := c.start.Complete(b, c.from, c.ignored, rng); err != nil {
			return false, err
		}
	}
	for i := range c.observed {
		c.observed[i] = 1 // padding
	}
	for i, row := range b.Rows {
		copy(c.observed[i*b.D:(i+1)*b.D], b.Mask[i*b.D:(i+1)*b.D])
		c.step[i] = math.Exp(c.kept.step[row])
		started := c.kept.visits[row] > 0
		c.each(b, i, row, func(cell *float64, at int) {
			if !started {
				*cell = c.from[at]
			}
			x[at] = *cell
		})
	}
	return fresh, c.moves.Begin(x, c.observed, c.columns)
}

// each visits the stored cells of row i of a batch and their indices in x (b·r, d).
func (c *chains) each(b *data.Batch, i, row int, visit func(cell *float64, at int)) {
	cells := c.kept.cells[row]
	for k := range c.r {
		for j, o := range b.Mask[i*b.D : (i+1)*b.D] {
			if o == 0 {
				visit(&cells[0], (i*c.r+k)*b.D+j)
				cells = cells[1:]
			}
		}
	}
}

// adapt is the vanishing adaptation of each row's step size (Andrieu & Thoms 2008, equation 4.2).
func (c *chains) adapt(b *data.Batch) {
	for i, row := range b.Rows {
		c.kept.visits[row]++
		gain := math.Pow(c.kept.visits[row], -0.6)
		c.kept.step[row] = min(max(c.kept.step[row]+gain*(c.accept[i]-acceptance), math.Log(leastStep)), math.Log(mostStep))
		c.step[i] = math.Exp(c.kept.step[row])
	}
}

// RHat continues copies of the stored chains.
func (c *chains) RHat(b *data.Batch, rng *Stream) ([]float64, error) {
	x := make([]float64, len(c.from))
	if _, err := c.begin(b, x, rng); err != nil {
		return nil, err
	}
	traces := make([][]float64, len(x))
	for i := range firstMoves + checkedMoves {
		states, err := c.moves.Move(c.step, c.accept, rng.Rand)
		if err != nil {
			return nil, err
		}
		if i < firstMoves {
			continue
		}
		for at, v := range states {
			traces[at] = append(traces[at], v)
		}
	}
	rhat := make([]float64, len(b.Rows))
	of := make([][]float64, c.r)
	for i := range b.Rows {
		for j, o := range b.Mask[i*b.D : (i+1)*b.D] {
			if o != 0 {
				continue
			}
			for k := range of {
				of[k] = traces[(i*c.r+k)*b.D+j]
			}
			worst, _ := mcmc.RHat(of)
			rhat[i] = max(rhat[i], worst)
		}
	}
	return rhat, nil
}
