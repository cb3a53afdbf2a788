// Package pairmoments computes second moments of a table's columns pair by pair, over the rows with
// both columns, in one pass, and shrinks them to a positive semidefinite matrix
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

// Moments are second moments of d columns about zero, with a_i the multiplicity of row i and o_ij =
// 1 if cell (i, j) is observed (docs/theory/pairwise.md#eq-pairwise):
//
//	S_jk = Σ_i a_i o_ij o_ik x_ij x_ik / n_jk,   n_jk = Σ_i a_i o_ij o_ik
//
// and 0 if n_jk = 0. Units are the columns' units, squared. For ordinal columns (data.Table.Cuts)
// they are polychoric and polyserial correlations over the same rows, with S_jj = 1
// (docs/theory/ordinal.md).
type Moments struct {
	D int
	S []float64 // (d, d), row by row, symmetric

	Rows  float64   // n = Σ_i a_i
	Own   []float64 // n_jj: rows of each column
	Pairs float64   // mean n_jk over j < k; with nominal columns the effective complete rows per pair
	Least float64   // the smallest n_jk

	largest       float64 // largest absolute correlation
	noise, square float64 // sums over correlations: variance due to missing cells, and squares

	Lowest float64 // by Shrink: smallest eigenvalue of the correlations before shrinkage
	Noise  float64 // by Shrink: α_noise
	Shrunk float64 // by Shrink: α; 0: no shrinkage
	Moved  float64 // by Shrink: largest change of a correlation

	now    float64 // current α of S
	shares bool    // a_i are weights, not whole numbers
	latent bool    // correlations of latent normals, which may be indefinite without missing cells

	Mean  []float64   // of the columns; nil: 0
	Cuts  [][]float64 // thresholds of ordinal columns, as in data.Table; nil: the table's
	Words string      // what the moments are, in place of what there is to say of pairs; ""

	// Whitening is, for each block of the table (data.Table.Blocks), W (K−1, K−1), row by row, of a
	// nominal column's utilities u with mean Mean: S has W(u − mean), so its block is the unit
	// matrix. nil for other blocks, and nil without blocks.
	Whitening [][]float64

	// Known is the information of observed cells about latent numbers, (d, d), zero outside blocks:
	// E = Cov(E[z | cell]) for z of unit variance (docs/theory/ordinal.md#eq-known). nil: numbers.
	Known []float64

	Turns     int  // averaged turns of stochastic EM
	Unsettled bool // the halves of the turns differ
}

const (
	tile  = 128 // columns of a tile; a worker computes one pair of tiles
	chunk = 512 // rows multiplied at once
)

// Of computes the moments of rows of a table. counts are a, nil for ones. Time is O(n d²); memory
// is S (Needed) plus some tiles. Results do not depend on workers.
func Of(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int) (*Moments, error) {
	m := &Moments{D: t.D, Own: make([]float64, t.D), Least: math.Inf(1), S: make([]float64, t.D*t.D)}
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
	err := panics.Each(ctx, workers, len(at), func() (func(context.Context, int) error, error) {
		p, err := newSums(t, rows, counts)
		return func(_ context.Context, i int) error {
			seen[i] = m.fill(p, behind, at[i][0], at[i][1])
			return nil
		}, err
	}, nil)
	if err != nil {
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

func (m *Moments) Element(j, k int) float64 { return m.S[j*m.D+k] }

func (m *Moments) set(j, k int, v float64) { m.S[j*m.D+k], m.S[k*m.D+j] = v, v }

func times(counts []float64, row int) float64 {
	if counts == nil {
		return 1
	}
	return counts[row]
}

func (m *Moments) own(t *data.Table, rows []int, counts []float64) {
	square := make([]float64, m.D)
	if t.Counted != nil && t.Counted.Pairs != nil {
		m.Rows = float64(t.Counted.Rows)
		for j := range m.D {
			m.Own[j], square[j] = t.Counted.Pairs.Number[j*m.D+j], t.Counted.Pairs.Cross[j*m.D+j]
		}
	}
	for _, row := range rows {
		once := times(counts, row)
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

// numbers summarises a pair of tiles, j < k: the sum and minimum of n_jk, and the sums of Moments.
type numbers struct{ sum, least, noise, square, largest float64 }

// number rounds a sum of shares to a whole number of rows, unless rows have weights.
func (m *Moments) number(sum float64) float64 {
	if m.shares {
		return sum
	}
	return math.Round(sum)
}

func (m *Moments) fill(p sums, behind *latents, j0, k0 int) numbers {
	wide, high := min(tile, m.D-k0), min(tile, m.D-j0)
	cross, number := p(j0, k0, high, wide)
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

// sums returns Σ x_ij x_ik and n_jk of a pair of tiles, valid until the next call.
type sums func(j0, k0, high, wide int) (cross, number []float64)

func newSums(t *data.Table, rows []int, counts []float64) (sums, error) {
	if t.Counted == nil || t.Counted.Pairs == nil {
		gemm, err := graph.NewProduct()
		room := func() []float64 { return make([]float64, tile*tile) }
		p := &products{table: t, rows: rows, counts: counts, gemm: gemm, cross: room(), number: room(), part: room(),
			left: newColumns(), right: newColumns()}
		return p.of, err
	}
	pairs := t.Counted.Pairs
	return func(j0, k0, high, wide int) (cross, number []float64) {
		for j := j0; j < j0+high; j++ {
			cross = append(cross, pairs.Cross[j*t.D+k0:][:wide]...)
			number = append(number, pairs.Number[j*t.D+k0:][:wide]...)
		}
		return cross, number
	}, nil
}

type products struct {
	table  *data.Table
	rows   []int
	counts []float64

	gemm          graph.Product[float64]
	cross, number []float64
	part          []float64 // per chunk
	left, right   columns
}

type columns struct{ value, mask []float64 }

func newColumns() columns {
	return columns{make([]float64, chunk*tile), make([]float64, chunk*tile)}
}

func (p *products) of(j0, k0, high, wide int) (cross, number []float64) {
	clear(p.cross)
	clear(p.number)
	part := p.part[:high*wide]
	for from := 0; from < len(p.rows); from += chunk {
		rows := p.rows[from:min(from+chunk, len(p.rows))]
		p.load(p.left, rows, j0, high, p.counts)
		p.load(p.right, rows, k0, wide, nil)
		p.gemm(true, false, high, wide, len(rows), p.left.value, p.right.value, part)
		floats.Add(p.cross[:high*wide], part)
		p.gemm(true, false, high, wide, len(rows), p.left.mask, p.right.mask, part)
		floats.Add(p.number[:high*wide], part)
	}
	return p.cross, p.number
}

func (p *products) load(to columns, rows []int, first, number int, counts []float64) {
	d := p.table.D
	for i, row := range rows {
		once := times(counts, row)
		values, observed := p.table.Values[row*d+first:][:number], p.table.Observed[row*d+first:][:number]
		x, o := to.value[i*number:][:number], to.mask[i*number:][:number]
		for k, seen := range observed {
			if x[k], o[k] = 0, 0; seen {
				x[k], o[k] = once*values[k], once
			}
		}
	}
}

// Measured: numbers of 8 bytes per cell of the matrix and of the table; bytes of the program.
const (
	pairNumbers = 1.2
	cellNumbers = 4
	program     = 60e6
)

// Needed returns the memory in bytes of a network by moments of n rows and d columns.
func Needed(n, d int) float64 {
	return program + 8*cellNumbers*float64(n)*float64(d) + pairNumbers*8*float64(d)*float64(d)
}
