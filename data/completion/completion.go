// Package completion fills the gaps of columns by a normal distribution fitted to them: what
// checks of a table look at where too few rows are complete. It is quick and needs no more
// than that; estimates are of package trainers.
package completion

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/panics"
)

// Normal is N(Mean, Covariance) of d columns.
type Normal struct {
	Mean       []float64
	Covariance *mat.SymDense
}

// ridge keeps the covariance of standardised columns invertible where one is a sum of others.
const ridge = 1e-6

// Fit comes near the normal distribution of greatest likelihood of standardised columns with
// gaps by the EM algorithm (Dempster, Laird and Rubin 1977, section 4.1.3): most turns at most,
// fewer where no mean or covariance moves by limit. Its covariance has 1e-6 on the diagonal.
func Fit(t *data.Table, most int, limit float64) *Normal {
	d := t.D
	m := &Normal{make([]float64, d), mat.NewSymDense(d, nil)}
	for j := range d {
		m.Covariance.SetSym(j, j, 1)
	}
	c := New(t, nil)
	for range most {
		next := c.moments(c.expect(m))
		change := 0.0
		for j, v := range next.Mean {
			change = max(change, math.Abs(v-m.Mean[j]))
			for k := range j + 1 {
				change = max(change, math.Abs(next.Covariance.At(j, k)-m.Covariance.At(j, k)))
			}
		}
		if m = next; change < limit {
			break
		}
	}
	return m
}

// Correlation is r_jk = Σ_jk / √(Σ_jj Σ_kk).
func (m *Normal) Correlation() *mat.SymDense {
	d := len(m.Mean)
	r := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			r.SetSym(j, k, m.Covariance.At(j, k)/math.Sqrt(m.Covariance.At(j, j)*m.Covariance.At(k, k)))
		}
	}
	return r
}

// moments are the mean and covariance of the completed rows, ridge included; spread is the sum
// over rows of the conditional covariances.
func (c *Completion) moments(spread *mat.SymDense) *Normal {
	q := len(c.Columns)
	n := float64(len(c.order))
	rows := mat.NewDense(len(c.order), q, c.X)
	m := &Normal{make([]float64, q), mat.NewSymDense(q, nil)}
	m.Covariance.SymOuterK(1/n, rows.T())
	for i := 0; i < len(c.X); i += q {
		for a, v := range c.X[i : i+q] {
			m.Mean[a] += v / n
		}
	}
	for a := range q {
		for b := range a + 1 {
			v := m.Covariance.At(a, b) + spread.At(a, b)/n - m.Mean[a]*m.Mean[b]
			if a == b {
				v += ridge
			}
			m.Covariance.SetSym(a, b, v)
		}
	}
	return m
}

// Completion fills the gaps of some columns by their conditional mean given the observed
// cells of these columns.
type Completion struct {
	Columns []int
	X       []float64 // (n, |Columns|) rows, gaps filled by Fill
	words   int       // of 64 columns
	gaps    []uint64  // (n, words): the columns that a row lacks, the first at the highest bit
	order   []int     // rows, those of one pattern together
}

// New takes some columns of a table; nil: all.
func New(t *data.Table, columns []int) *Completion {
	if columns == nil {
		for j := range t.D {
			columns = append(columns, j)
		}
	}
	q := len(columns)
	c := &Completion{Columns: columns, X: make([]float64, t.N*q), words: (q + 63) / 64, order: make([]int, t.N)}
	c.gaps = make([]uint64, t.N*c.words)
	for i := range t.N {
		c.order[i] = i
		for a, j := range columns {
			c.X[i*q+a] = t.Values[i*t.D+j]
			if !t.Observed[i*t.D+j] {
				c.gaps[i*c.words+a/64] |= 1 << (63 - a%64)
			}
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return slices.Compare(c.pattern(i), c.pattern(j)) })
	return c
}

// pattern is which columns row i lacks.
func (c *Completion) pattern(i int) []uint64 { return c.gaps[i*c.words : (i+1)*c.words] }

// Fill fills the gaps by m, a distribution of all the table's columns: with P the
// precision of c.Columns, x̂_m = μ_m − P_mm⁻¹ P_mo (x_o − μ_o), with covariance P_mm⁻¹.
func (c *Completion) Fill(m *Normal) {
	c.each(c.order, precision(m, c.Columns), m.Mean, func(pattern) {})
}

// expect is Fill that returns the sum over rows of the conditional covariances.
func (c *Completion) expect(m *Normal) *mat.SymDense {
	q := len(c.Columns)
	p := precision(m, c.Columns)
	spread := mat.NewSymDense(q, nil)
	c.each(c.order, p, m.Mean, func(s pattern) {
		n := float64(len(s.rows))
		if !s.ok { // the variance of each given all others, which is too small
			for _, a := range s.gaps {
				spread.SetSym(a, a, spread.At(a, a)+n/p[a*q+a])
			}
			return
		}
		if len(s.gaps) > 0 {
			lapack64.Potri(s.factor)
		}
		for u, a := range s.gaps {
			for v, b := range s.gaps[:u+1] {
				spread.SetSym(a, b, spread.At(a, b)+n*s.factor.Data[u*len(s.gaps)+v])
			}
		}
	})
	return spread
}

// Without fills the gaps as Fill does, and once more for each of some columns, by their places
// in c.Columns, as if no row had that column: (n, |c.Columns| − 1) rows without it. Where a row
// has column j, with e_j what is left of it given the row's other cells,
//
//	x̂_m⁽ʲ⁾ = x̂_m + P_mm⁻¹ P_mj e_j,   e_j = Σ_k P_jk (x̂_k − μ_k) / (P_jj − P_jm P_mm⁻¹ P_mj)
//
// and elsewhere x̂_m⁽ʲ⁾ = x̂_m. A pattern's P_mm is factorised once for all of them. Several
// workers share the patterns, and give the same bytes as one.
func (c *Completion) Without(m *Normal, columns []int, workers int) [][]float64 {
	out := make([][]float64, len(columns))
	for a := range out {
		out[a] = make([]float64, len(c.order)*(len(c.Columns)-1))
	}
	p := precision(m, c.Columns)
	pool := panics.NewGroup()
	for _, rows := range c.shares(workers) {
		pool.Go(func() error {
			c.without(rows, m, p, columns, out)
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		panic(err)
	}
	return out
}

// shares cuts the rows' order between patterns into so many parts, or fewer.
func (c *Completion) shares(workers int) (parts [][]int) {
	workers = max(1, workers)
	from := 0
	for w := range workers {
		to := max(from, len(c.order)*(w+1)/workers)
		for to > from && to < len(c.order) && slices.Equal(c.pattern(c.order[to]), c.pattern(c.order[to-1])) {
			to++
		}
		if to > from {
			parts = append(parts, c.order[from:to])
		}
		from = to
	}
	return parts
}

// without is Without of some rows.
func (c *Completion) without(rows []int, m *Normal, p []float64, columns []int, out [][]float64) {
	right := make([]float64, len(c.Columns))
	c.each(rows, p, m.Mean, func(s pattern) {
		for a, j := range columns {
			for _, i := range s.rows {
				c.drop(out[a], i, j)
			}
			if s.ok && len(s.gaps) > 0 && !slices.Contains(s.gaps, j) {
				c.leaveOut(s, m, p, j, right[:len(s.gaps)], out[a])
			}
		}
	})
}

// drop copies row i without column j.
func (c *Completion) drop(to []float64, i, j int) {
	q := len(c.Columns)
	x, row := c.X[i*q:(i+1)*q], to[i*(q-1):(i+1)*(q-1)]
	copy(row[copy(row, x[:j]):], x[j+1:])
}

// leaveOut takes what column j tells out of the filled gaps of a pattern's rows, which have it; to
// has the rows without it, right is room for the gaps.
func (c *Completion) leaveOut(s pattern, m *Normal, p []float64, j int, right, to []float64) {
	q := len(c.Columns)
	v := blas64.Vector{N: len(s.gaps), Inc: 1, Data: right}
	for u, k := range s.gaps {
		right[u] = p[j*q+k]
	}
	blas64.Trsv(blas.NoTrans, s.factor, v)
	given := max(p[j*q+j]-blas64.Dot(v, v), 1/m.Covariance.At(c.Columns[j], c.Columns[j])) // which it is at least, but for rounding
	blas64.Trsv(blas.Trans, s.factor, v)
	for _, i := range s.rows {
		left := 0.0
		for k, x := range c.X[i*q : (i+1)*q] {
			left += p[j*q+k] * (x - m.Mean[c.Columns[k]])
		}
		row := to[i*(q-1) : (i+1)*(q-1)]
		for u, k := range s.gaps {
			if k > j {
				k--
			}
			row[k] += right[u] * left / given
		}
	}
}

// pattern are rows that lack the same columns.
type pattern struct {
	rows, gaps []int
	factor     blas64.Triangular // of P_mm; whoever visits may change it
	ok         bool              // whether P_mm has one, but for rounding: otherwise the gaps are filled by their means
}

// each fills the gaps of some rows, those of one pattern after another, and hands on each pattern.
func (c *Completion) each(order []int, p, mean []float64, visit func(pattern)) {
	q := len(c.Columns)
	var gaps []int
	block, right := make([]float64, q*q), make([]float64, q)
	for at := 0; at < len(order); {
		lacks, from := c.pattern(order[at]), at
		for at < len(order) && slices.Equal(c.pattern(order[at]), lacks) {
			at++
		}
		gaps = gaps[:0]
		for w, word := range lacks {
			for ; word != 0; word &^= 1 << (63 - bits.LeadingZeros64(word)) {
				gaps = append(gaps, 64*w+bits.LeadingZeros64(word))
			}
		}
		s := pattern{rows: order[from:at], gaps: gaps, ok: true}
		if len(gaps) == 0 {
			visit(s)
			continue
		}
		for u, a := range gaps {
			for v, b := range gaps {
				block[u*len(gaps)+v] = p[a*q+b]
			}
		}
		s.factor, s.ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: len(gaps), Stride: len(gaps), Data: block})
		for _, i := range s.rows {
			for _, a := range gaps {
				c.X[i*q+a] = mean[c.Columns[a]]
			}
			if s.ok {
				c.complete(c.X[i*q:(i+1)*q], gaps, mean, p, s.factor, right[:len(gaps)])
			}
		}
		visit(s)
	}
}

// complete fills one row's gaps, which are at their means.
func (c *Completion) complete(x []float64, gaps []int, mean, p []float64, factor blas64.Triangular, right []float64) {
	q := len(c.Columns)
	for u, a := range gaps {
		right[u] = 0
		for b, v := range p[a*q : (a+1)*q] {
			right[u] -= v * (x[b] - mean[c.Columns[b]]) // none of other gaps, at their means
		}
	}
	v := blas64.Vector{N: len(gaps), Inc: 1, Data: right}
	blas64.Trsv(blas.NoTrans, factor, v)
	blas64.Trsv(blas.Trans, factor, v)
	for u, a := range gaps {
		x[a] += right[u]
	}
}

// precision is the inverse of m's covariance of some columns.
func precision(m *Normal, columns []int) []float64 {
	q := len(columns)
	part := mat.NewSymDense(q, nil)
	for a, j := range columns {
		for b, k := range columns[:a+1] {
			part.SetSym(b, a, m.Covariance.At(k, j))
		}
	}
	var factor mat.Cholesky
	var inverse mat.SymDense
	if !factor.Factorize(part) || factor.InverseTo(&inverse) != nil { // so near to singular that its numbers mean nothing
		inverse = *mat.NewSymDense(q, nil)
		for a := range q {
			inverse.SetSym(a, a, 1/part.At(a, a))
		}
	}
	p := make([]float64, 0, q*q)
	for a := range q {
		for b := range q {
			p = append(p, inverse.At(a, b))
		}
	}
	return p
}
