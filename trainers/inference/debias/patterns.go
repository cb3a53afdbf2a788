package debias

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/losses"
)

// normal is N(μ, P⁻¹), with what every pattern of gaps needs of it.
type normal struct {
	d     int
	mu    []float64
	p     *mat.SymDense
	sigma *mat.SymDense // P⁻¹
}

func newNormal(mu []float64, p mat.Symmetric) (*normal, error) {
	d := len(mu)
	n := &normal{d: d, mu: mu, p: mat.NewSymDense(d, nil), sigma: mat.NewSymDense(d, nil)}
	n.p.CopySym(p)
	var c mat.Cholesky
	if !c.Factorize(n.p) || c.InverseTo(n.sigma) != nil {
		return nil, losses.ErrNotPositiveDefinite
	}
	return n, nil
}

// pattern is what rows with the same gaps m share
// (docs/theory/inference.md#eq-pattern):
//
//	C = P_mm⁻¹, 0 elsewhere,   W = I − CP, 0 in the columns of m,   Σ̃ = Σ − C
//
// W z is δ̂ = E[x − μ | x_o] of a row with z = x − μ, whatever stands in its gaps.
type pattern struct {
	rows  []int         // of the table
	share float64       // of all rows that have a value
	count []float64     // how often each of rows counts, or its weight
	c     *mat.SymDense // C (d, d)
	w     *mat.Dense    // W (d, d)
	s     *mat.SymDense // Σ̃ (d, d)
	delta *mat.Dense    // δ̂ (rows, d)
}

// groups are the rows of each pattern of gaps, of those that have a value.
func groups(t *data.Table) (out [][]int, rows float64) {
	for _, g := range t.Patterns(t.AllRows()) {
		if slices.Contains(t.Observed[g[0]*t.D:(g[0]+1)*t.D], true) {
			out, rows = append(out, g), rows+floats.Sum(counts(t, g))
		}
	}
	return out, rows
}

// counts are how often each of some rows counts.
func counts(t *data.Table, rows []int) []float64 {
	out := make([]float64, len(rows))
	for a, i := range rows {
		out[a] = t.Weight(i)
	}
	return out
}

const patternsTogether = 32 // that are prepared in parallel

var patternRows = 4096 // of a pattern at a time; tests change it

// eachPattern prepares every pattern of a table's rows, in parallel, and visits them in order; one
// of many rows in several parts.
func (n *normal) eachPattern(t *data.Table, workers int, visit func(*pattern)) error {
	whole, rows := groups(t)
	var all [][]int
	for _, g := range whole {
		all = slices.AppendSeq(all, slices.Chunk(g, patternRows))
	}
	for first := 0; first < len(all); first += patternsTogether {
		chunk := all[first:min(len(all), first+patternsTogether)]
		ready := make([]*pattern, len(chunk))
		pool := panics.NewGroup()
		pool.SetLimit(max(1, workers))
		for k, g := range chunk {
			pool.Go(func() (err error) {
				if ready[k], err = n.pattern(t, g); err == nil {
					ready[k].share = floats.Sum(ready[k].count) / rows
				}
				return err
			})
		}
		if err := pool.Wait(); err != nil {
			return err
		}
		for _, q := range ready {
			visit(q)
		}
	}
	return nil
}

// pattern makes that of rows with the same gaps.
func (n *normal) pattern(t *data.Table, rows []int) (*pattern, error) {
	d := n.d
	q := &pattern{rows: rows, count: counts(t, rows), c: mat.NewSymDense(d, nil), w: mat.NewDense(d, d, nil), s: mat.NewSymDense(d, nil), delta: &mat.Dense{}}
	q.s.CopySym(n.sigma)
	for j := range d {
		q.w.Set(j, j, 1)
	}
	var gaps []int
	z := mat.NewDense(len(rows), d, nil)
	for j, seen := range t.Observed[rows[0]*d : rows[0]*d+d] {
		if !seen {
			gaps = append(gaps, j)
			continue
		}
		for a, i := range rows {
			z.Set(a, j, t.Values[i*d+j]-n.mu[j])
		}
	}
	if len(gaps) > 0 && !n.fill(q, gaps) {
		return nil, losses.ErrNotPositiveDefinite
	}
	q.delta.Mul(z, q.w.T())
	return q, nil
}

// conditional is C on the gaps, P_mm⁻¹ (m, m). It is not ok where P_mm is not positive definite.
func (n *normal) conditional(gaps []int) (c []float64, ok bool) {
	m := len(gaps)
	c = make([]float64, m*m)
	for a, j := range gaps {
		for b, k := range gaps {
			c[a*m+b] = n.p.At(j, k)
		}
	}
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: c})
	if !ok {
		return nil, false
	}
	lapack64.Potri(l)
	for a := range m {
		for b := range a {
			c[a*m+b] = c[b*m+a]
		}
	}
	return c, true
}

// fill sets what a pattern's gaps change. It is not ok where P_mm is not positive definite.
func (n *normal) fill(q *pattern, gaps []int) (ok bool) {
	d, m := n.d, len(gaps)
	c, ok := n.conditional(gaps)
	if !ok {
		return false
	}
	across, product := make([]float64, m*d), make([]float64, m*d) // P_m·, −CP_m·
	for a, j := range gaps {
		for k := range d {
			across[a*d+k] = n.p.At(j, k)
		}
		for b := a; b < m; b++ {
			v := c[a*m+b]
			q.c.SetSym(j, gaps[b], v)
			q.s.SetSym(j, gaps[b], q.s.At(j, gaps[b])-v)
		}
	}
	general := func(cols int, x []float64) blas64.General {
		return blas64.General{Rows: m, Cols: cols, Stride: cols, Data: x}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, general(m, c), general(d, across), 0, general(d, product))
	for a, j := range gaps {
		row := q.w.RawRowView(j)
		copy(row, product[a*d:a*d+d])
		for _, k := range gaps {
			row[k] = 0 // C P_mm = I
		}
	}
	return true
}
