package sandwich

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// Scaled says how the columns' scale was found from the observed cells.
type Scaled int

const (
	Unscaled    Scaled = iota // columns are in units of their own
	AboutZero                 // by the root mean square, not shifted
	ByDeviation               // by mean and deviation
)

// scaleEffect is how the estimated scale enters. Of the columns z as they were fitted let
// column j be shifted by a_j and divided by b_j; the fit has a = 0, b = 1, by the observed
// cells of the table. Their influence on these is, o_ij telling whether row i shows the column
// and m_j the column's mean square,
//
//	a_j: o_ij z_ij/π_j,   b_j: ½ o_ij (z_ij²/m_j − 1)/π_j,   π_j = mean of o_ij
//
// and ∂U/∂a, ∂U/∂b are by central differences of U, completed rows and domain moved along.
type scaleEffect struct {
	table *data.Table
	by    Scaled
	share []float64 // π_j
	mean  []float64 // m_j
	slope *mat.Dense
}

// size is how many numbers were estimated.
func (s *scaleEffect) size() int {
	return s.by.numbers() * s.table.D
}

// numbers are those of a column.
func (by Scaled) numbers() int { return int(by) }

func (p Problem) newScaleEffect(e *equation) (*scaleEffect, error) {
	t := e.of.Table
	s := &scaleEffect{table: t, by: p.Scaled, share: make([]float64, t.D), mean: make([]float64, t.D)}
	for j := range t.D {
		z := t.Column(j)
		s.share[j], s.mean[j] = float64(len(z))/float64(t.N), floats.Dot(z, z)/float64(len(z))
	}
	if s.size() == 0 {
		return s, nil
	}
	s.slope = mat.NewDense(len(e.free), s.size(), nil)
	shift, unit := make([]float64, t.D), ones(t.D)
	for c := range s.size() {
		at := s.coordinate(c, shift, unit)
		u, err := slope(at, difference, func() ([]float64, error) { return p.moved(e, shift, unit) })
		if err != nil {
			return nil, err
		}
		s.slope.SetCol(c, u)
	}
	return s, nil
}

// coordinate is number c among those estimated: the units, then the shifts.
func (s *scaleEffect) coordinate(c int, shift, unit []float64) *float64 {
	if c < s.table.D {
		return &unit[c]
	}
	return &shift[c-s.table.D]
}

// row is a row's influence on the scale.
func (s *scaleEffect) row(i int, into []float64) {
	clear(into)
	if s.size() == 0 {
		return
	}
	d := s.table.D
	for j := range d {
		if !s.table.Observed[i*d+j] {
			continue
		}
		z := s.table.Values[i*d+j]
		into[j] = 0.5 * (z*z/s.mean[j] - 1) / s.share[j]
		if s.by == ByDeviation {
			into[d+j] = z / s.share[j]
		}
	}
}

// moved is U with the columns in other units.
func (p Problem) moved(e *equation, shift, unit []float64) ([]float64, error) {
	of := e.of
	back, inverse := make([]float64, len(shift)), make([]float64, len(unit))
	for j, u := range unit { // Restore is x = mean + deviation z
		back[j], inverse[j] = -shift[j]/u, 1/u
	}
	of.Table = data.Scale{Mean: back, Deviation: inverse}.Restore(e.of.Table)
	of.Domain = e.of.Domain.Standardised(shift, unit)
	var err error
	if of.Objective, err = p.Objective(of.Domain); err != nil {
		return nil, err
	}
	q, err := newEquation(e.ctx, e.engine, of, e.held.moved(e.of.Table, shift, unit), e.free)
	if err != nil {
		return nil, err
	}
	return q.mean()
}

// in is a scale after such a move.
func (s *quantities) scale(beta []float64) data.Scale {
	d := len(s.units.Mean)
	out := data.Scale{Mean: make([]float64, d), Deviation: make([]float64, d)}
	for j := range d {
		a, b := 0., 1.
		if len(beta) > 0 {
			b = beta[j]
		}
		if len(beta) > d {
			a = beta[d+j]
		}
		out.Mean[j], out.Deviation[j] = s.units.Mean[j]+a*s.units.Deviation[j], b*s.units.Deviation[j]
	}
	return out
}

// still is β where the fit was made.
func (by Scaled) still(d int) []float64 {
	beta := make([]float64, by.numbers()*d)
	for j := range min(d, len(beta)) {
		beta[j] = 1
	}
	return beta
}
