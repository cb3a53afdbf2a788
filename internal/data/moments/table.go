package moments

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// Table returns standardised rows with the same moments, weighted by Table.Counted: at most k + 1
// rows for a pattern of k observed columns with n > k + 1 rows
// (docs/theory/gaussian.md#eq-condensed); no rows for moments of pairs. With y = x − M_j, M_j and
// S_j mean and standard deviation of column j:
//
//	m_j = Σy_j / (n S_j),   C_jk = (Σy_jy_k − Σy_j Σy_k / n) / (n S_j S_k)
//
// It fails with a *data.ColumnError if a column has no value or is constant.
func (m *Moments) Table() (*data.Table, error) {
	if m.Rows < 2 {
		return nil, fmt.Errorf("%d rows with a value; at least 2 are needed", m.Rows)
	}
	scale, centre, own, err := m.scale()
	if err != nil {
		return nil, err
	}
	c := &data.Counted{Rows: m.Rows, Scale: scale, Own: own, Low: m.Low, High: m.High}
	t := &data.Table{Names: m.Names, D: len(m.Names), Dropped: m.Dropped, Counted: c}
	if m.OfPairs() {
		c.Pairs = m.standardisedPairs(centre, scale.Deviation)
		return t, nil
	}
	for _, p := range m.sorted() {
		p.represent(m, t, centre)
	}
	return t, nil
}

// centre is the origin minus the mean, which has more digits; own counts the rows of each column.
func (m *Moments) scale() (s data.Scale, centre []float64, own []int, err error) {
	d := len(m.Names)
	number, sum, square := make([]float64, d), make([]float64, d), make([]float64, d)
	for j := 0; j < d && m.OfPairs(); j++ {
		number[j], sum[j], square[j] = m.pairs.at(d+j, d+j), m.pairs.at(j, d+j), m.pairs.at(j, j)
	}
	for _, p := range m.sorted() {
		k := len(p.places)
		for a, j := range p.places {
			number[j] += float64(p.n)
			if p.sums != nil {
				sum[j], square[j] = sum[j]+p.sums.at(a, k), square[j]+p.sums.at(a, a)
			}
			for at := a; at < len(p.rows); at += k {
				y := p.rows[at] - m.origin[j]
				sum[j], square[j] = sum[j]+y, square[j]+y*y
			}
		}
	}
	for j, name := range m.Names {
		n := number[j]
		mean := sum[j] / n
		deviation := math.Sqrt(square[j]/n - mean*mean)
		of := data.ColumnSums{Number: int(n), Low: m.Low[j], High: m.High[j], Deviation: deviation}
		if err := of.Fault(name); err != nil {
			return s, nil, nil, err
		}
		s.Mean, s.Deviation = append(s.Mean, m.origin[j]+mean), append(s.Deviation, deviation)
		centre, own = append(centre, -mean), append(own, int(n))
	}
	return s, centre, own, nil
}

func (m *Moments) standardisedPairs(centre, deviation []float64) *data.Pairs {
	d, of := len(m.Names), m.movedPairs(centre)
	p := &data.Pairs{Cross: make([]float64, d*d), Number: make([]float64, d*d)}
	for j := range d {
		for k := range d {
			p.Cross[j*d+k] = of.at(j, k) / (deviation[j] * deviation[k])
			p.Number[j*d+k] = of.at(d+j, d+k)
		}
	}
	return p
}

func (p *pattern) represent(m *Moments, t *data.Table, centre []float64) {
	k, n, deviation := len(p.places), float64(p.n), t.Counted.Scale.Deviation
	if p.sums == nil {
		z := make([]float64, k)
		for at := 0; at < len(p.rows); at += k {
			for a, j := range p.places {
				z[a] = (p.rows[at+a] - m.origin[j] + centre[j]) / deviation[j]
			}
			p.append(t, z, 1)
		}
		return
	}
	of, mean, cov := p.moved(p.sums, centre), make([]float64, k), mat.NewSymDense(k, nil)
	for a, j := range p.places {
		mean[a] = of.at(a, k) / n / deviation[j]
	}
	for a, j := range p.places {
		for b := a; b < k; b++ {
			cov.SetSym(a, b, of.at(a, b)/n/deviation[j]/deviation[p.places[b]]-mean[a]*mean[b])
		}
	}
	rows := Representatives(mean, cov)
	count, _ := rows.Dims()
	for i := range count {
		p.append(t, rows.RawRowView(i), n/float64(count))
	}
}

func (p *pattern) append(t *data.Table, z []float64, count float64) {
	at := len(t.Values)
	t.Values, t.Observed = append(t.Values, make([]float64, t.D)...), append(t.Observed, make([]bool, t.D)...)
	for a, j := range p.places {
		t.Values[at+j], t.Observed[at+j] = z[a], true
	}
	t.Counted.Counts = append(t.Counted.Counts, count)
	t.N++
}

// Representatives returns r + 1 rows with the given mean and covariances (divisor r + 1) of k
// columns, where C = LLᵀ has rank r and L is (k, r) (docs/theory/gaussian.md#eq-condensed):
//
//	m + √(r + 1) L h_i,   h_i the rows of Helmert's H (r + 1, r),  HᵀH = I, 1ᵀH = 0
func Representatives(mean []float64, cov *mat.SymDense) *mat.Dense {
	l := root(cov)
	r := 0
	if l != nil {
		_, r = l.Dims()
	}
	rows := mat.NewDense(r+1, len(mean), nil)
	if r > 0 {
		rows.Mul(helmert(r), l.T())
		rows.Scale(math.Sqrt(float64(r+1)), rows)
	}
	for i := range r + 1 {
		for a, m := range mean {
			rows.Set(i, a, rows.At(i, a)+m)
		}
	}
	return rows
}

// root is L (k, r) with LLᵀ = C; nil if C is 0.
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

// helmert is H (r + 1, r): orthonormal columns, each orthogonal to 1.
func helmert(r int) *mat.Dense {
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
