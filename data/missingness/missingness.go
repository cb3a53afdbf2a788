// Package missingness describes known mechanisms of cells missing not at random: it hides cells and
// reads mechanisms from files. Package model has log φ_Λ for fitting.
package missingness

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
)

// Mechanism gives each cell's probability of being observed. Given the complete row, cells are
// hidden independently.
type Mechanism interface {
	// Observed sets p (d) to P(cell j is observed | x) for a complete row x (d).
	Observed(p, x []float64)
}

// Hide hides cells of a complete table. Hidden cells hold 0; rows without any value stay.
func Hide(t *data.Table, m Mechanism, rng *rand.Rand) (*data.Table, error) {
	if !t.Complete() {
		return nil, fmt.Errorf("%d cells are missing: hiding cells needs a complete table", t.Missing())
	}
	values, observed := make([]float64, len(t.Values)), make([]bool, len(t.Values))
	p := make([]float64, t.D)
	for i := 0; i < len(values); i += t.D {
		m.Observed(p, t.Values[i:i+t.D])
		for j, q := range p {
			if rng.Float64() < q {
				values[i+j], observed[i+j] = t.Values[i+j], true
			}
		}
	}
	hidden, err := data.NewTable(slices.Clone(t.Names), values, observed)
	if err != nil {
		return nil, fmt.Errorf("after hiding cells not at random: %w; hide fewer or take more rows", err)
	}
	hidden.Lines = t.Lines
	return hidden, nil
}

// Model hides some columns by logistic regressions and others by thresholds. Other columns are
// missing completely at random, if at all. A nil *Model, or a nil part, has no columns.
type Model struct {
	Logistic *Logistic

	// Censored is a box of thresholds: exactly the cells outside are missing. φ is an indicator: it
	// restricts the support by pattern (domain.Domain.Censoring) and does not change the score.
	Censored *domain.Domain

	Estimated bool // from the table itself, not known beforehand
}

// Observed implements Mechanism: cells of columns without a law are observed.
func (m *Model) Observed(p, x []float64) {
	for j := range p {
		p[j] = 1
	}
	if m.Logistic != nil {
		m.Logistic.Observed(p, x)
	}
	for j, v := range x {
		if c := m.Censored; c != nil && (v < c.Lower[j] || v > c.Upper[j]) {
			p[j] = 0
		}
	}
}

// Concerns reports whether m hides column j.
func (m *Model) Concerns(j int) bool {
	return m != nil && (m.Logistic != nil && m.Logistic.Concerns(j) || m.Censored != nil && m.Censored.BoundedColumn(j))
}

// Standardised returns m for columns z_j = (x_j − mean_j)/deviation_j.
func (m *Model) Standardised(mean, deviation []float64) *Model {
	if m == nil {
		return nil
	}
	z := &Model{Censored: m.Censored.Standardised(mean, deviation), Estimated: m.Estimated}
	if m.Logistic != nil {
		z.Logistic = m.Logistic.standardised(mean, deviation)
	}
	return z
}

// Support returns s (nil for R^d) restricted by the thresholds, for observed and for missing cells.
func (m *Model) Support(s *domain.Domain) *domain.Domain {
	if m == nil || m.Censored == nil {
		return s
	}
	return s.Censoring(m.Censored.Lower, m.Censored.Upper)
}

// Elsewhere returns m with its other columns, of d, hidden completely at random with probability p.
func (m *Model) Elsewhere(d int, p float64) *Model {
	e := &Model{Logistic: NewLogistic(d)}
	if m != nil {
		e.Censored = m.Censored
	}
	for j := range d {
		switch {
		case m != nil && m.Logistic != nil && m.Logistic.Concerns(j):
			e.Logistic.Intercept[j] = m.Logistic.Intercept[j]
			e.Logistic.Slope.SetRow(j, m.Logistic.Slope.RawRowView(j))
		case m.Concerns(j):
		case p > 0:
			e.Logistic.Intercept[j] = math.Log((1 - p) / p)
		}
	}
	return e
}

// Logistic hides cells by logistic regressions on the whole row:
//
//	P(cell j observed | x) = 1/(1 + exp(−η_j)),   η = Intercept + Slope x
//
// Diagonal slopes are self-masking. Intercept +Inf marks a column without a law: always observed,
// or missing independently of x, which does not bias the estimate.
type Logistic struct {
	Intercept []float64  // (d)
	Slope     *mat.Dense // (d, d), units 1/x; row j belongs to column j
}

// NewLogistic returns a Logistic for d columns without laws.
func NewLogistic(d int) *Logistic {
	l := &Logistic{Intercept: make([]float64, d), Slope: mat.NewDense(d, d, nil)}
	for j := range l.Intercept {
		l.Intercept[j] = math.Inf(1)
	}
	return l
}

// Concerns reports whether l hides column j.
func (l *Logistic) Concerns(j int) bool { return !math.IsInf(l.Intercept[j], 1) }

func (l *Logistic) Observed(p, x []float64) {
	for j, a := range l.Intercept {
		p[j] = 1
		if l.Concerns(j) {
			p[j] = 1 / (1 + math.Exp(-a-floats.Dot(l.Slope.RawRowView(j), x)))
		}
	}
}

func (l *Logistic) standardised(mean, deviation []float64) *Logistic {
	z := NewLogistic(len(mean))
	for j, a := range l.Intercept {
		row := l.Slope.RawRowView(j)
		z.Intercept[j] = a + floats.Dot(row, mean)
		floats.MulTo(z.Slope.RawRowView(j), row, deviation)
	}
	return z
}
