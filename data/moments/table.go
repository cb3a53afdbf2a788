package moments

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/exactsum"
)

// Table are rows with the moments, standardised, each counting as often as Table.Counted says:
// of a pattern of n rows with k observed columns, where n > k + 1, at most k + 1
// (docs/theory/gaussian.md#eq-condensed); of moments of pairs there is no row. Means and
// covariances are made of the exact sums, rounded once:
//
//	m_j = (Σx_j − n M_j) / (n S_j),   C_jk = (n Σx_jx_k − Σx_j Σx_k) / (n² S_j S_k)
//
// with mean M_j and deviation S_j of column j over all rows that have it. It refuses, by a
// *data.ColumnError, a column without values or that does not vary.
func (m *Moments) Table() (*data.Table, error) {
	if m.Rows < 2 {
		return nil, fmt.Errorf("%d rows with a value; at least 2 are needed", m.Rows)
	}
	scale, own, err := m.scale()
	if err != nil {
		return nil, err
	}
	c := &data.Counted{Rows: m.Rows, Scale: scale, Own: own, Low: m.Low, High: m.High}
	t := &data.Table{Names: m.Names, D: len(m.Names), Dropped: m.Dropped, Counted: c}
	if m.OfPairs() {
		c.Pairs = m.standardisedPairs(scale)
		return t, nil
	}
	units := exact(scale)
	for _, p := range m.sorted() {
		p.represent(t, units)
	}
	return t, nil
}

// scale are mean and deviation of each column over the rows that have it, and their number.
func (m *Moments) scale() (s data.Scale, own []int, err error) {
	patterns := m.sorted()
	for j, name := range m.Names {
		n, sum, square := m.column(j, patterns)
		if n <= 0 {
			return s, nil, &data.ColumnError{Column: name, Problem: "no observed value"}
		}
		if m.Low[j] == m.High[j] {
			return s, nil, &data.ColumnError{Column: name, Problem: fmt.Sprintf("constant, every observed value is %g", m.Low[j])}
		}
		count := exactsum.Int(n)
		mean, _ := sum.Over(count).Float64()
		variance := square.Times(count).Minus(sum.Times(sum)).Over(count.Times(count))
		if variance.Sign() < 0 {
			return s, nil, errDamaged
		}
		deviation, _ := new(big.Float).Sqrt(variance).Float64()
		if deviation < data.SmallestDeviation {
			return s, nil, &data.ColumnError{Column: name, Problem: fmt.Sprintf("its values differ too little (standard deviation %.2g): give it another unit", deviation)}
		}
		s.Mean, s.Deviation, own = append(s.Mean, mean), append(s.Deviation, deviation), append(own, n)
	}
	return s, own, nil
}

// column is the number of rows that have column j, with sum and sum of squares.
func (m *Moments) column(j int, patterns []*pattern) (n int, sum, square exactsum.Number) {
	if m.OfPairs() {
		return m.pairNumber(j, j), m.pairs.At(j, len(m.Names)+j), m.pairs.At(j, j)
	}
	for _, p := range patterns {
		if a, seen := slices.BinarySearch(p.places, j); seen {
			n, sum, square = n+p.n, sum.Plus(p.sum(a)), square.Plus(p.product(a, a))
		}
	}
	return n, sum, square
}

// unit are mean and deviation of a column as exact numbers.
type unit struct{ mean, deviation exactsum.Number }

func exact(s data.Scale) []unit {
	units := make([]unit, len(s.Mean))
	for j := range units {
		units[j] = unit{exactsum.Of(s.Mean[j]), exactsum.Of(s.Deviation[j])}
	}
	return units
}

// standardisedPairs are the moments of pairs of the standardised columns.
func (m *Moments) standardisedPairs(scale data.Scale) *data.Pairs {
	d, units := len(m.Names), exact(scale)
	p := &data.Pairs{Cross: make([]float64, d*d), Number: make([]float64, d*d)}
	for j := range d {
		for k := j; k < d; k++ {
			v, _ := m.pairCentred(j, k, units[j].mean, units[k].mean).Over(units[j].deviation.Times(units[k].deviation)).Float64()
			p.Cross[j*d+k], p.Cross[k*d+j] = v, v
			n := float64(m.pairNumber(j, k))
			p.Number[j*d+k], p.Number[k*d+j] = n, n
		}
	}
	return p
}

// represent appends the pattern's rows, or rows with their moments, to a table.
func (p *pattern) represent(t *data.Table, units []unit) {
	k := len(p.places)
	if p.sums == nil {
		z := make([]float64, k)
		for at := 0; at < len(p.rows); at += k {
			for a, j := range p.places {
				z[a], _ = exactsum.Of(p.rows[at+a]).Minus(units[j].mean).Over(units[j].deviation).Float64()
			}
			p.append(t, z, 1)
		}
		return
	}
	mean, cov := p.moments(units)
	rows := Representatives(mean, cov)
	n, _ := rows.Dims()
	for i := range n {
		p.append(t, rows.RawRowView(i), float64(p.n)/float64(n))
	}
}

// append adds a row of the observed columns, which counts so often.
func (p *pattern) append(t *data.Table, z []float64, count float64) {
	at := len(t.Values)
	t.Values, t.Observed = append(t.Values, make([]float64, t.D)...), append(t.Observed, make([]bool, t.D)...)
	for a, j := range p.places {
		t.Values[at+j], t.Observed[at+j] = z[a], true
	}
	t.Counted.Counts = append(t.Counted.Counts, count)
	t.N++
}

// moments are mean and covariances (divisor n) of the pattern's columns, standardised.
func (p *pattern) moments(units []unit) ([]float64, *mat.SymDense) {
	k, n := len(p.places), exactsum.Int(p.n)
	mean, cov, sums := make([]float64, k), mat.NewSymDense(k, nil), make([]exactsum.Number, k)
	for a, j := range p.places {
		sums[a] = p.sum(a)
		mean[a], _ = sums[a].Minus(n.Times(units[j].mean)).Over(n.Times(units[j].deviation)).Float64()
	}
	square := n.Times(n)
	for a, j := range p.places {
		by := square.Times(units[j].deviation)
		for b := a; b < k; b++ {
			v, _ := n.Times(p.product(a, b)).Minus(sums[a].Times(sums[b])).Over(by.Times(units[p.places[b]].deviation)).Float64()
			cov.SetSym(a, b, v)
		}
	}
	return mean, cov
}

// Representatives are r + 1 rows with this mean and these covariances (divisor r + 1) of k
// columns, r the rank of the covariances C = LLᵀ, L (k, r)
// (docs/theory/gaussian.md#eq-condensed):
//
//	m + √(r + 1) L h_i,   h_i the rows of H (r + 1, r),  HᵀH = I, 1ᵀH = 0
//
// H is Helmert's matrix.
func Representatives(mean []float64, cov *mat.SymDense) *mat.Dense {
	l := root(cov)
	r := 0
	if l != nil {
		_, r = l.Dims()
	}
	rows := mat.NewDense(r+1, len(mean), nil)
	if r > 0 {
		rows.Mul(Helmert(r), l.T())
		rows.Scale(math.Sqrt(float64(r+1)), rows)
	}
	for i := range r + 1 {
		for a, m := range mean {
			rows.Set(i, a, rows.At(i, a)+m)
		}
	}
	return rows
}

// root is L (k, r) with LLᵀ = C; nil where C is 0.
func root(cov *mat.SymDense) mat.Matrix {
	var factor mat.Cholesky
	if factor.Factorize(cov) {
		var l mat.TriDense
		factor.LTo(&l)
		return &l
	}
	var pivoted mat.PivotedCholesky
	pivoted.Factorize(cov, -1)
	k, r := cov.SymmetricDim(), pivoted.Rank()
	if r == 0 {
		return nil
	}
	var u mat.TriDense
	pivoted.UTo(&u)
	l := mat.NewDense(k, r, nil)
	for at, j := range pivoted.ColumnPivots(nil) {
		for b := range min(r, at+1) {
			l.Set(j, b, u.At(b, at))
		}
	}
	return l
}

// Helmert is H (r + 1, r): orthonormal columns, each orthogonal to that of ones.
func Helmert(r int) *mat.Dense {
	h := mat.NewDense(r+1, r, nil)
	for a := range r {
		size := math.Sqrt(float64((a + 1) * (a + 2)))
		for i := range a + 1 {
			h.Set(i, a, 1/size)
		}
		h.Set(a+1, a, -float64(a+1)/size)
	}
	return h
}
