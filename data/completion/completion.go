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
	columns := make([]int, d)
	for j := range columns {
		columns[j] = j
	}
	c := New(t, columns)
	for range most {
		c.Fill(m)
		next := c.moments()
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

// moments are the mean and covariance of the completed rows, spread and ridge included.
func (c *Completion) moments() *Normal {
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
			v := m.Covariance.At(a, b) + c.spread.At(a, b)/n - m.Mean[a]*m.Mean[b]
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
	X       []float64     // (n, |Columns|) rows, gaps filled by Fill
	words   int           // of 64 columns
	gaps    []uint64      // (n, words): the columns that a row lacks, the first at the highest bit
	order   []int         // rows, those of one pattern together
	spread  *mat.SymDense // sum over rows of the conditional covariances
}

// New takes some columns of a table.
func New(t *data.Table, columns []int) *Completion {
	q := len(columns)
	c := &Completion{Columns: columns, X: make([]float64, t.N*q), words: (q + 63) / 64, order: make([]int, t.N), spread: mat.NewSymDense(q, nil)}
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

// Gaps says whether any cell is missing.
func (c *Completion) Gaps() bool {
	return slices.ContainsFunc(c.gaps, func(word uint64) bool { return word != 0 })
}

// pattern is which columns row i lacks.
func (c *Completion) pattern(i int) []uint64 { return c.gaps[i*c.words : (i+1)*c.words] }

// Fill fills the gaps by m, a distribution of all the table's columns: with P the
// precision of c.Columns, x̂_m = μ_m − P_mm⁻¹ P_mo (x_o − μ_o), with covariance P_mm⁻¹.
func (c *Completion) Fill(m *Normal) {
	q := len(c.Columns)
	p := precision(m, c.Columns)
	c.spread.Zero()
	var gaps []int
	block, right := make([]float64, q*q), make([]float64, q)
	for at := 0; at < len(c.order); {
		pattern, from := c.pattern(c.order[at]), at
		for at < len(c.order) && slices.Equal(c.pattern(c.order[at]), pattern) {
			at++
		}
		gaps = gaps[:0]
		for w, word := range pattern {
			for ; word != 0; word &^= 1 << (63 - bits.LeadingZeros64(word)) {
				gaps = append(gaps, 64*w+bits.LeadingZeros64(word))
			}
		}
		if len(gaps) == 0 {
			continue
		}
		for u, a := range gaps {
			for v, b := range gaps {
				block[u*len(gaps)+v] = p[a*q+b]
			}
		}
		factor, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: len(gaps), Stride: len(gaps), Data: block})
		if !ok { // by rounding: these rows keep what they have
			continue
		}
		for _, i := range c.order[from:at] {
			c.complete(c.X[i*q:(i+1)*q], gaps, m.Mean, p, factor, right[:len(gaps)])
		}
		lapack64.Potri(factor)
		for u, a := range gaps {
			for v := range u + 1 {
				b := gaps[v]
				c.spread.SetSym(a, b, c.spread.At(a, b)+float64(at-from)*block[u*len(gaps)+v])
			}
		}
	}
}

// complete fills one row's gaps.
func (c *Completion) complete(x []float64, gaps []int, mean, p []float64, factor blas64.Triangular, right []float64) {
	q := len(c.Columns)
	for _, a := range gaps {
		x[a] = mean[c.Columns[a]]
	}
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
