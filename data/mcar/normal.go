package mcar

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// normal is N(mean, covariance), what gaps are filled by.
type normal struct {
	mean       []float64
	covariance *mat.SymDense
}

const (
	// covarianceRidge keeps the covariance of standardised columns invertible where one
	// is a sum of others.
	covarianceRidge = 1e-6
	maxEM           = 50
	limitEM         = 1e-3 // change of a mean or covariance; any fill makes a valid test
)

// fitNormal is the normal distribution of greatest likelihood of standardised columns
// with gaps, by the EM algorithm (Dempster, Laird, Rubin 1977), up to limitEM.
func fitNormal(t *data.Table) *normal {
	d := t.D
	m := &normal{make([]float64, d), mat.NewSymDense(d, nil)}
	for j := range d {
		m.covariance.SetSym(j, j, 1)
	}
	columns := make([]int, d)
	for j := range columns {
		columns[j] = j
	}
	c := newCompletion(t, columns)
	for range maxEM {
		c.fill(m)
		next := c.moments()
		change := 0.0
		for j, v := range next.mean {
			change = max(change, math.Abs(v-m.mean[j]))
			for k := range j + 1 {
				change = max(change, math.Abs(next.covariance.At(j, k)-m.covariance.At(j, k)))
			}
		}
		if m = next; change < limitEM {
			break
		}
	}
	return m
}

// moments are the mean and covariance of the completed rows, spread and ridge included.
func (c *completion) moments() *normal {
	q := len(c.columns)
	n := float64(len(c.order))
	rows := mat.NewDense(len(c.order), q, c.x)
	m := &normal{make([]float64, q), mat.NewSymDense(q, nil)}
	m.covariance.SymOuterK(1/n, rows.T())
	for i := 0; i < len(c.x); i += q {
		for a, v := range c.x[i : i+q] {
			m.mean[a] += v / n
		}
	}
	for a := range q {
		for b := range a + 1 {
			v := m.covariance.At(a, b) + c.spread.At(a, b)/n - m.mean[a]*m.mean[b]
			if a == b {
				v += covarianceRidge
			}
			m.covariance.SetSym(a, b, v)
		}
	}
	return m
}

// completion fills the gaps of some columns by their conditional mean given the observed
// cells of these columns.
type completion struct {
	columns []int
	x       []float64     // (n, |columns|) completed rows
	mask    []bool        // (n, |columns|)
	order   []int         // rows, those of one pattern together
	spread  *mat.SymDense // sum over rows of the conditional covariances
}

func newCompletion(t *data.Table, columns []int) *completion {
	q := len(columns)
	c := &completion{columns: columns, x: make([]float64, t.N*q), mask: make([]bool, t.N*q), order: make([]int, t.N), spread: mat.NewSymDense(q, nil)}
	for i := range t.N {
		c.order[i] = i
		for a, j := range columns {
			c.x[i*q+a], c.mask[i*q+a] = t.Values[i*t.D+j], t.Observed[i*t.D+j]
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return compare(c.pattern(i), c.pattern(j)) })
	return c
}

func (c *completion) pattern(i int) []bool {
	q := len(c.columns)
	return c.mask[i*q : (i+1)*q]
}

func compare(a, b []bool) int {
	for k, v := range a {
		if v != b[k] {
			if v {
				return -1
			}
			return 1
		}
	}
	return 0
}

// fill fills the gaps by m, a distribution of all the table's columns: with P the
// precision of c.columns, x̂_m = μ_m − P_mm⁻¹ P_mo (x_o − μ_o), with covariance P_mm⁻¹.
func (c *completion) fill(m *normal) {
	q := len(c.columns)
	p := precision(m, c.columns)
	c.spread.Zero()
	var gaps []int
	block, right := make([]float64, q*q), make([]float64, q)
	for at := 0; at < len(c.order); {
		pattern, from := c.pattern(c.order[at]), at
		for at < len(c.order) && compare(c.pattern(c.order[at]), pattern) == 0 {
			at++
		}
		gaps = gaps[:0]
		for a, seen := range pattern {
			if !seen {
				gaps = append(gaps, a)
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
			c.complete(c.x[i*q:(i+1)*q], gaps, m.mean, p, factor, right[:len(gaps)])
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
func (c *completion) complete(x []float64, gaps []int, mean, p []float64, factor blas64.Triangular, right []float64) {
	q := len(c.columns)
	for _, a := range gaps {
		x[a] = mean[c.columns[a]]
	}
	for u, a := range gaps {
		right[u] = 0
		for b, v := range p[a*q : (a+1)*q] {
			right[u] -= v * (x[b] - mean[c.columns[b]]) // none of other gaps, at their means
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
func precision(m *normal, columns []int) []float64 {
	q := len(columns)
	part := mat.NewSymDense(q, nil)
	for a, j := range columns {
		for b, k := range columns[:a+1] {
			part.SetSym(b, a, m.covariance.At(k, j))
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
