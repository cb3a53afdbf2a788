package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/panics"
)

// Normal is N(Mean, Covariance) of d columns.
type Normal struct {
	Mean       []float64
	Covariance *mat.SymDense
}

const (
	ridge    = 1e-6 // keeps the covariance of standardised columns invertible if they are collinear
	fitBatch = 4096 // rows of an E-step at a time
)

// Fit approximates the maximum-likelihood normal distribution of standardised columns with missing
// cells by EM, for checks of a table. It stops after most iterations, or once no mean or covariance
// moves by limit. The covariance has 1e-6 added on its diagonal.
func Fit(t *data.Table, most int, limit float64) *Normal {
	d := t.D
	m := &Normal{make([]float64, d), mat.NewSymDense(d, nil)}
	for j := range d {
		m.Covariance.SetSym(j, j, 1)
	}
	rows := slices.Concat(t.Patterns(t.AllRows())...)
	e, b := NewExpectation(d, Gonum), data.NewBatch(min(fitBatch, len(rows)), d)
	patterns := make([]*RowPatterns, (len(rows)+fitBatch-1)/fitBatch)
	for range most {
		p := m.precision(all(t.D))
		first, second := make([]float64, d), make([]float64, d*d)
		for k := range patterns {
			b.Fill(t, rows[k*fitBatch:min((k+1)*fitBatch, len(rows))], 1)
			if patterns[k] == nil {
				patterns[k] = FindPatterns(b.Mask, b.Weight)
			}
			if e.Over(times(p, m.Mean), p, b.X, b.Mask, b.Weight, patterns[k], nil) != nil {
				return m
			}
			floats.Add(first, e.Sum)
			floats.Add(second, e.Second)
		}
		change, n := 0.0, float64(t.N)
		for j := range d {
			for k := range j + 1 {
				v := second[j*d+k]/n - first[j]/n*first[k]/n
				if j == k {
					v += ridge
				}
				change = max(change, math.Abs(v-m.Covariance.At(j, k)))
				m.Covariance.SetSym(j, k, v)
			}
		}
		for j, v := range first {
			change = max(change, math.Abs(v/n))
			m.Mean[j] += v / n
		}
		if change < limit {
			break
		}
	}
	return m
}

func all(d int) (columns []int) {
	for j := range d {
		columns = append(columns, j)
	}
	return columns
}

func times(p, x []float64) (y []float64) {
	for j := range x {
		y = append(y, dot(p[j*len(x):(j+1)*len(x)], x))
	}
	return y
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

// precision inverts the covariance of some columns, or its diagonal if it is singular.
func (m *Normal) precision(columns []int) []float64 {
	q := len(columns)
	p, full := make([]float64, q*q), m.Covariance.RawSymmetric()
	for a, j := range columns {
		for b, k := range columns {
			p[a*q+b] = full.Data[min(j, k)*full.Stride+max(j, k)]
		}
	}
	if Gonum.Factor(p, q, q) && Gonum.Invert(p, q, q) {
		mirror(p, q)
		return p
	}
	clear(p)
	for a, j := range columns {
		p[a*q+a] = 1 / m.Covariance.At(j, j)
	}
	return p
}

// Filler imputes missing cells of some columns by conditional means given their observed cells.
type Filler struct {
	Columns  []int
	X        []float64 // (n, |Columns|)
	patterns [][]int   // rows with the same missing columns
	observed []bool    // (n, |Columns|)
}

// NewFiller takes some columns of a table; nil takes all.
func NewFiller(t *data.Table, columns []int) *Filler {
	if columns == nil {
		columns = all(t.D)
	}
	c := &Filler{Columns: columns, X: make([]float64, 0, t.N*len(columns)), observed: make([]bool, 0, t.N*len(columns))}
	for i := 0; i < len(t.Values); i += t.D {
		for _, j := range columns {
			c.X, c.observed = append(c.X, t.Values[i+j]), append(c.observed, t.Observed[i+j])
		}
	}
	part := &data.Table{N: t.N, D: len(columns), Observed: c.observed}
	c.patterns = part.Patterns(part.AllRows())
	return c
}

// Fill imputes missing cells under m, a distribution of all the table's columns: x̂_m = μ_m −
// P_mm⁻¹ P_mo (x_o − μ_o) with P the precision of c.Columns, or the means if P_mm is singular.
func (c *Filler) Fill(m *Normal) { c.each(m, 1, func(*filling) {}) }

// Without imputes as Fill does, and again for each of columns (indices in c.Columns) as if that
// column were missing in every row; each result has shape (n, |c.Columns| − 1). If a row has column j,
//
//	x̂_m⁽ʲ⁾ = x̂_m + P_mm⁻¹ P_mj e_j,   e_j = Σ_k P_jk (x̂_k − μ_k) / (P_jj − P_jm P_mm⁻¹ P_mj)
//
// and otherwise x̂_m⁽ʲ⁾ = x̂_m.
func (c *Filler) Without(m *Normal, columns []int, workers int) [][]float64 {
	q, out := len(c.Columns), make([][]float64, len(columns))
	for a := range out {
		out[a] = make([]float64, len(c.X)/q*(q-1))
	}
	c.each(m, workers, func(s *filling) {
		slopes := make([]float64, len(s.gaps))
		for a, j := range columns {
			for _, i := range s.rows {
				x, row := c.X[i*q:(i+1)*q], out[a][i*(q-1):(i+1)*(q-1)]
				copy(row[copy(row, x[:j]):], x[j+1:])
			}
			if !s.ok || len(s.gaps) == 0 || slices.Contains(s.gaps, j) {
				continue
			}
			given := s.p[j*q+j] - s.slopes(slopes, j)
			given = max(given, 1/m.Covariance.At(c.Columns[j], c.Columns[j])) // a lower bound, up to rounding
			for _, i := range s.rows {
				left, row := s.rest(c.X[i*q:(i+1)*q], j)/given, out[a][i*(q-1):(i+1)*(q-1)]
				for u, k := range s.gaps {
					if k > j {
						k--
					}
					row[k] += slopes[u] * left
				}
			}
		}
	})
	return out
}

type filling struct {
	rows, gaps []int
	p, mean    []float64 // of the columns
	inverse    []float64 // of P_mm
	ok         bool      // the inverse exists
}

// slopes sets to to P_mm⁻¹ P_mj and returns P_jm P_mm⁻¹ P_mj.
func (s *filling) slopes(to []float64, j int) (product float64) {
	row := s.p[j*len(s.mean) : (j+1)*len(s.mean)]
	for u, k := range s.gaps {
		to[u] = 0
		for v, l := range s.gaps {
			to[u] += s.inverse[u*len(s.gaps)+v] * row[l]
		}
		product += row[k] * to[u]
	}
	return product
}

func (s *filling) fill(x, right []float64) {
	for _, a := range s.gaps {
		x[a] = s.mean[a]
	}
	if !s.ok {
		return
	}
	for u, a := range s.gaps {
		right[u] = s.rest(x, a) // observed cells only: missing cells are at their means
	}
	for u, a := range s.gaps {
		x[a] -= dot(s.inverse[u*len(right):(u+1)*len(right)], right)
	}
}

// rest is Σ_k P_jk (x_k − μ_k).
func (s *filling) rest(x []float64, j int) (sum float64) {
	for k, v := range x {
		sum += s.p[j*len(x)+k] * (v - s.mean[k])
	}
	return sum
}

func (c *Filler) each(m *Normal, workers int, visit func(*filling)) {
	p, q, mean := m.precision(c.Columns), len(c.Columns), make([]float64, len(c.Columns))
	for a, j := range c.Columns {
		mean[a] = m.Mean[j]
	}
	pool := panics.NewGroup()
	pool.SetLimit(max(1, workers))
	for _, rows := range c.patterns {
		pool.Go(func() error {
			s := &filling{rows: rows, p: p, mean: mean}
			for a, seen := range c.observed[rows[0]*q : (rows[0]+1)*q] {
				if !seen {
					s.gaps = append(s.gaps, a)
				}
			}
			g := len(s.gaps)
			s.inverse = make([]float64, g*g)
			right := make([]float64, g)
			s.ok = Gonum.inverse(s.inverse, p, q, s.gaps, right, new(determinant))
			for _, i := range rows {
				s.fill(c.X[i*q:(i+1)*q], right)
			}
			visit(s)
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		panic(err)
	}
}
