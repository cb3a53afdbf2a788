package sandwich

import (
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// scaleEffect is how the estimated units of the columns enter. Let column j of the columns z as
// they were fitted be divided by b_j; the fit has b = 1, by the observed cells of the table. Their
// influence on it is, o_ij telling whether row i shows the column and m_j the column's mean square,
//
//	½ o_ij (z_ij²/m_j − 1)/π_j,   π_j = mean of o_ij
//
// times the row's sampling weight, by which shares and means are weighted, too; and ∂U/∂b is by central differences of U, completed rows and domain moved along. Where the
// columns were shifted, too, that has no effect: a model that may be shifted, its loss and its
// weights are the same in shifted columns (docs/theory/inference.md#eq-parameters).
type scaleEffect struct {
	table *data.Table
	share []float64  // π_j; nil where units were not estimated
	mean  []float64  // m_j
	slope *mat.Dense // ∂U/∂b
}

// size is how many units were estimated.
func (s *scaleEffect) size() int { return len(s.share) }

func (p Problem) newScaleEffect(e *equation) (*scaleEffect, error) {
	t := e.of.Table
	s := &scaleEffect{table: t}
	if !p.Scaled {
		return s, nil
	}
	for j := range t.D {
		sum, square := 0.0, 0.0
		for i := range t.N {
			if z := t.Values[i*t.D+j]; t.Observed[i*t.D+j] {
				sum, square = sum+t.Weight(i), square+t.Weight(i)*z*z
			}
		}
		s.share = append(s.share, sum/float64(t.N))
		s.mean = append(s.mean, square/sum)
	}
	s.slope = mat.NewDense(len(e.free), t.D, nil)
	unit := ones(t.D)
	for j := range unit {
		u, err := slope(&unit[j], difference, func() ([]float64, error) { return p.moved(e, unit) })
		if err != nil {
			return nil, err
		}
		s.slope.SetCol(j, u)
	}
	return s, nil
}

// row is a row's influence on the units.
func (s *scaleEffect) row(i int, into []float64) {
	for j := range into {
		into[j] = 0
		if at := i*s.table.D + j; s.table.Observed[at] {
			z := s.table.Values[at]
			into[j] = 0.5 * s.table.Weight(i) * (z*z/s.mean[j] - 1) / s.share[j]
		}
	}
}

// moved is U with the columns in other units.
func (p Problem) moved(e *equation, unit []float64) ([]float64, error) {
	of, none := e.of, make([]float64, len(unit))
	inverse := make([]float64, len(unit))
	for j, u := range unit {
		inverse[j] = 1 / u
	}
	of.Table = data.Scale{Mean: none, Deviation: inverse}.Restore(e.of.Table)
	of.Domain = e.of.Domain.Standardised(none, unit)
	var err error
	if of.Objective, err = p.Objective(of.Domain); err != nil {
		return nil, err
	}
	q, err := newEquation(e.ctx, e.engine, of, e.held.inUnits(unit), e.free)
	if err != nil {
		return nil, err
	}
	return q.mean()
}
