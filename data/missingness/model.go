package missingness

import (
	"math"

	"missingscore/data/domain"
)

// Model hides some columns by logistic regressions and others by thresholds. Cells
// of columns in neither are, if missing, missing completely at random. A nil
// *Model says nothing of any column, and a nil part of it neither.
type Model struct {
	Logistic *Logistic
	Censored *Censored

	Estimated bool // from the table that it is for, not known beforehand
}

// Observed implements Mechanism: cells of columns in neither part are observed.
func (m *Model) Observed(p, x []float64) {
	for j := range p {
		p[j] = 1
	}
	q := make([]float64, len(p))
	if m.Logistic != nil {
		m.Logistic.Observed(p, x)
	}
	if m.Censored != nil {
		m.Censored.Observed(q, x)
		for j := range p {
			p[j] *= q[j]
		}
	}
}

// Standardised is m for columns z_j = (x_j − mean_j)/deviation_j.
func (m *Model) Standardised(mean, deviation []float64) *Model {
	if m == nil {
		return nil
	}
	z := &Model{Estimated: m.Estimated}
	if m.Logistic != nil {
		z.Logistic = m.Logistic.Standardised(mean, deviation)
	}
	if m.Censored != nil {
		z.Censored = m.Censored.Standardised(mean, deviation)
	}
	return z
}

// Support is s, nil for all of R^d, as the thresholds cut it for observed and for
// missing cells.
func (m *Model) Support(s *domain.Domain) *domain.Domain {
	if m == nil || m.Censored == nil {
		return s
	}
	return s.Censoring(m.Censored.Below, m.Censored.Above)
}

// Elsewhere is m with the columns of d that it says nothing of hidden with
// probability p, completely at random.
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
		case m != nil && m.Censored != nil && m.Censored.Concerns(j):
		case p > 0:
			e.Logistic.Intercept[j] = math.Log((1 - p) / p)
		}
	}
	return e
}
