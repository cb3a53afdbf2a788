// Package pairmoments takes second moments of a table's columns pair by pair, over the rows
// that have both, in one pass, and makes a matrix of them that a loss can have
// (docs/theory/pairwise.md).
package pairmoments

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/panics"
)

// Moments are second moments of d columns about zero, with a_i how often row i counts and
// o_ij = 1 where it has column j (docs/theory/pairwise.md#eq-pairwise):
//
//	S_jk = Σ_i a_i o_ij o_ik x_ij x_ik / n_jk,   n_jk = Σ_i a_i o_ij o_ik
//
// and 0 where n_jk is. Units are those of the columns, squared. Of ordinal columns
// (data.Table.Cuts) they are of the latent numbers, by polychoric and polyserial correlations
// over the same rows, S_jj being 1 (docs/theory/ordinal.md).
type Moments struct {
	D    int
	S    []float64 // (d, d), row by row, symmetric
	Half *Half     // in place of S where this would take more memory than may be used

	Rows  float64   // n = Σ_i a_i
	Own   []float64 // n_jj: rows of each column
	Pairs float64   // n_jk, mean over j < k; with nominal columns the complete rows that a pair is worth
	Least float64   // the smallest n_jk

	largest       float64 // of the correlations' sizes
	noise, square float64 // of the correlations: what gaps add to their variances, and their squares, summed

	Lowest float64 // by Shrink: the smallest eigenvalue of the correlations before
	Noise  float64 // by Shrink: α_noise
	Shrunk float64 // by Shrink: α; 0: nothing is moved
	Moved  float64 // by Shrink: by how much a correlation, at most

	now    float64 // α that S has
	shares bool    // the a_i of a row's copies need not come to a whole number: they are weights
	latent bool    // correlations of latent numbers, which need not be semidefinite even without gaps

	// Of estimates that have more than moments about zero, by package latent:
	Mean  []float64   // of the columns; nil: 0
	Cuts  [][]float64 // thresholds of ordinal columns, as data.Table has them; nil: the table's
	Words string      // what the moments are, in place of what there is to say of pairs; ""

	// Whitening is, for each block of the table (data.Table.Blocks), W (K−1, K−1), row by row, of a
	// nominal column's utilities u, whose mean is Mean there: S is of W(u − mean), so that its part
	// within the block is the unit matrix. nil for other blocks, and nil without blocks.
	Whitening [][]float64

	// Known is, of columns with latent numbers, how much their cells tell of these, (d, d), zero but
	// within blocks: E = Cov(E[z | cell]) of z with unit variances, times the share of rows that have
	// the column (docs/theory/ordinal.md#eq-known). nil: everything.
	Known []float64

	Turns     int  // of stochastic EM that they are means of
	Unsettled bool // the turns that they are means of had not settled
}

const (
	tile  = 128 // columns of a tile: each pair of tiles is one worker's
	chunk = 512 // rows that are multiplied at once
)

// Of takes the moments of some rows of a table. counts are a, nil for ones. Time is of the
// order n d², memory that of S, or half of it (Needed), and some tiles; the result is the same for any number of workers.
func Of(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int) (*Moments, error) {
	m := &Moments{D: t.D, Own: make([]float64, t.D), Least: math.Inf(1)}
	if _, half := Needed(t.N, t.D); half && t.Cuts == nil {
		m.Half = NewHalf(t.D)
	} else {
		m.S = make([]float64, t.D*t.D)
	}
	m.shares = t.Weights != nil
	m.own(t, rows, counts)
	behind := m.newLatents(t, rows, counts)
	m.latent = behind != nil
	var at [][2]int // first columns of pairs of tiles
	for j := 0; j < t.D; j += tile {
		for k := j; k < t.D; k += tile {
			at = append(at, [2]int{j, k})
		}
	}
	seen := make([]numbers, len(at))
	pool, ctx := panics.WithContext(ctx)
	workers = max(1, min(workers, len(at)))
	for w := range workers {
		pool.Go(func() error {
			p, err := newSums(t, rows, counts)
			if err != nil {
				return err
			}
			for i := w; i < len(at); i += workers {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				seen[i] = m.fill(p, behind, at[i][0], at[i][1])
			}
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		return nil, err
	}
	for _, s := range seen {
		m.Pairs += s.sum
		m.Least = min(m.Least, s.least)
		m.noise += s.noise
		m.largest = max(m.largest, s.largest)
		m.square += s.square
	}
	m.Pairs /= float64(t.D) * float64(t.D-1) / 2
	return m, nil
}

// Element is S_jk.
func (m *Moments) Element(j, k int) float64 {
	if m.Half != nil {
		return m.Half.Element(j, k)
	}
	return m.S[j*m.D+k]
}

// set sets S_jk and S_kj.
func (m *Moments) set(j, k int, v float64) {
	if m.Half != nil {
		m.Half.set(j, k, v)
		return
	}
	m.S[j*m.D+k], m.S[k*m.D+j] = v, v
}

// own sets the diagonal, and n.
func (m *Moments) own(t *data.Table, rows []int, counts []float64) {
	square := make([]float64, m.D)
	if t.Counted != nil && t.Counted.Pairs != nil {
		m.Rows = float64(t.Counted.Rows)
		for j := range m.D {
			m.Own[j], square[j] = t.Counted.Pairs.Number[j*m.D+j], t.Counted.Pairs.Cross[j*m.D+j]
		}
	}
	for _, row := range rows {
		once := 1.0
		if counts != nil {
			once = counts[row]
		}
		m.Rows += once
		for j, x := range t.Values[row*m.D : (row+1)*m.D] {
			if t.Observed[row*m.D+j] {
				m.Own[j] += once
				square[j] += once * x * x
			}
		}
	}
	m.Rows = m.number(m.Rows)
	for j, n := range m.Own {
		n = m.number(n)
		if m.Own[j] = n; n > 0 {
			m.set(j, j, square[j]/n)
		}
	}
}

// numbers are of a pair of tiles, j < k: n_jk, their sum and the smallest, and the sums of
// Moments.
type numbers struct{ sum, least, noise, square, largest float64 }

// number is a number of rows, whole but for rounding of the shares that it is summed from, unless
// rows have weights.
func (m *Moments) number(sum float64) float64 {
	if m.shares {
		return sum
	}
	return math.Round(sum)
}

// fill sets the elements of a pair of tiles that begin at columns j0 and k0.
func (m *Moments) fill(p sums, behind *latents, j0, k0 int) numbers {
	wide, high := min(tile, m.D-k0), min(tile, m.D-j0)
	cross, number := p.of(j0, k0, high, wide)
	seen := numbers{least: math.Inf(1)}
	for a := range high {
		for b := range wide {
			j, k := j0+a, k0+b
			if j >= k {
				continue
			}
			n := m.number(number[a*wide+b])
			seen.sum += n
			if seen.least = min(seen.least, n); n == 0 {
				continue
			}
			v := cross[a*wide+b] / n
			if behind != nil {
				v = behind.moment(j, k, v)
			}
			m.set(j, k, v)
			if own := m.Element(j, j) * m.Element(k, k); own > 0 {
				r2 := min(1, v*v/own)
				seen.square += r2
				seen.largest = max(seen.largest, math.Sqrt(r2))
				seen.noise += (1 - r2) * (1 - r2) * (1/n - 1/m.Rows)
			}
		}
	}
	return seen
}

// sums gives Σ x_ij x_ik and n_jk of a pair of tiles, until it is asked again.
type sums interface {
	of(j0, k0, high, wide int) (cross, number []float64)
}

// newSums takes them from rows, or from a table of pairs' moments.
func newSums(t *data.Table, rows []int, counts []float64) (sums, error) {
	if t.Counted != nil && t.Counted.Pairs != nil {
		return &known{d: t.D, pairs: t.Counted.Pairs}, nil
	}
	return newProducts(t, rows, counts)
}

// known are sums that were taken before.
type known struct {
	d             int
	pairs         *data.Pairs
	cross, number []float64
}

func (s *known) of(j0, k0, high, wide int) (cross, number []float64) {
	s.cross, s.number = s.cross[:0], s.number[:0]
	for j := j0; j < j0+high; j++ {
		s.cross = append(s.cross, s.pairs.Cross[j*s.d+k0:][:wide]...)
		s.number = append(s.number, s.pairs.Number[j*s.d+k0:][:wide]...)
	}
	return s.cross, s.number
}

// products are Σ x_ij x_ik and n_jk of one pair of tiles, and the work space of a worker.
type products struct {
	table  *data.Table
	rows   []int
	counts []float64

	gemm          graph.Product[float64]
	cross, number []float64
	part          []float64 // of a chunk
	left, right   columns
}

// columns are those of a tile in some rows: values, zero where missing, and masks.
type columns struct{ value, mask []float64 }

func newColumns() columns {
	return columns{make([]float64, chunk*tile), make([]float64, chunk*tile)}
}

func newProducts(t *data.Table, rows []int, counts []float64) (*products, error) {
	gemm, err := graph.NewProduct()
	room := func() []float64 { return make([]float64, tile*tile) }
	return &products{table: t, rows: rows, counts: counts, gemm: gemm, cross: room(), number: room(), part: room(),
		left: newColumns(), right: newColumns()}, err
}

// of sums over all rows.
func (p *products) of(j0, k0, high, wide int) (cross, number []float64) {
	clear(p.cross)
	clear(p.number)
	part := p.part[:high*wide]
	for from := 0; from < len(p.rows); from += chunk {
		rows := p.rows[from:min(from+chunk, len(p.rows))]
		p.load(p.left, rows, j0, high, true)
		p.load(p.right, rows, k0, wide, false)
		p.gemm(true, false, high, wide, len(rows), p.left.value, p.right.value, part)
		floats.Add(p.cross[:high*wide], part)
		p.gemm(true, false, high, wide, len(rows), p.left.mask, p.right.mask, part)
		floats.Add(p.number[:high*wide], part)
	}
	return p.cross, p.number
}

// load reads columns of some rows, times how often these count if weighted.
func (p *products) load(to columns, rows []int, first, number int, weighted bool) {
	d := p.table.D
	for i, row := range rows {
		once := 1.0
		if weighted && p.counts != nil {
			once = p.counts[row]
		}
		values, observed := p.table.Values[row*d+first:][:number], p.table.Observed[row*d+first:][:number]
		x, o := to.value[i*number:][:number], to.mask[i*number:][:number]
		for k, seen := range observed {
			if x[k], o[k] = 0, 0; seen {
				x[k], o[k] = once*values[k], once
			}
		}
	}
}
