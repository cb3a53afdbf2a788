package domain

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"missingscore/internal/panics"
)

// Interior completes a row to a point well inside s: the missing cells' slack to
// the nearest bound, at most 1, is as large as it can be (a linear program), in
// units that fit the bounds and half-spaces, whatever those of the columns are.
// It fails where no slack is left.
func (s *Domain) Interior(x, mask []float64) (point []float64, ok bool) {
	var free []int
	for j, m := range mask {
		if m == 0 && s.Concerns(j) { // the simplex method refuses a variable in no row
			free = append(free, j)
		}
	}
	p := slackProgram{free: free}
	p.box(s)
	for _, h := range s.Half {
		if !p.halfSpace(h, x, mask) {
			return nil, false
		}
	}
	values, ok := p.solve()
	if !ok {
		return nil, false
	}
	point = make([]float64, len(x))
	for j, m := range mask {
		if m != 0 {
			point[j] = x[j]
		}
	}
	for k, j := range free {
		point[j] = values[k]
	}
	return point, true
}

// slackProgram is the linear program of Interior, before the slack is added: each row times
// the free columns less their origins is at most its right-hand side.
type slackProgram struct {
	free   []int
	origin []float64   // (free columns): a finite bound where there is one, so that far-off intervals keep their digits
	rows   [][]float64 // (inequalities, free columns)
	right  []float64
}

// row adds an inequality with right-hand side b and gives its coefficients, all 0.
func (p *slackProgram) row(b float64) []float64 {
	p.rows, p.right = append(p.rows, make([]float64, len(p.free))), append(p.right, b)
	return p.rows[len(p.rows)-1]
}

// box adds the finite bounds of the free columns.
func (p *slackProgram) box(s *Domain) {
	lower, upper := s.GapBounds()
	p.origin = make([]float64, len(p.free))
	for a, j := range p.free {
		low, high := !math.IsInf(lower[j], -1), !math.IsInf(upper[j], 1)
		switch {
		case low:
			p.origin[a] = lower[j]
			p.row(0)[a] = -1
		case high:
			p.origin[a] = upper[j]
		}
		if high {
			p.row(upper[j] - p.origin[a])[a] = 1
		}
	}
}

// halfSpace adds a half-space given the observed cells of x. One without missing cells
// adds nothing: ok says whether x is inside it.
func (p *slackProgram) halfSpace(h HalfSpace, x, mask []float64) (ok bool) {
	b, cut := h.B, false
	for j, a := range h.A {
		if mask[j] != 0 {
			b -= a * x[j]
		} else if a != 0 {
			cut = true
		}
	}
	if !cut {
		return !(b < 0)
	}
	for a, j := range p.free {
		b -= h.A[j] * p.origin[a]
	}
	r := p.row(b)
	for a, j := range p.free {
		r[a] = h.A[j]
	}
	return true
}

const (
	simplexTolerance = 1e-10
	leastSlack       = 1e-13 // in the program's own units: less is rounding
)

// solve gives the values of the free columns where the slack is largest; it fails if there
// is none. The slack of a row is its distance, in units in which all coefficients are near 1.
func (p *slackProgram) solve() (values []float64, ok bool) {
	n := len(p.free)
	if len(p.rows) == 0 {
		return p.origin, true
	}
	rowUnit, unit := p.equilibrate()
	g, right := mat.NewDense(len(p.rows)+1, n+1, nil), make([]float64, len(p.rows)+1)
	for i, r := range p.rows {
		scaled := g.RawRowView(i)[:n]
		for k, v := range r {
			scaled[k] = math.Ldexp(v, rowUnit[i]+unit[k])
		}
		right[i] = math.Ldexp(p.right[i], rowUnit[i]+unit[n])
		g.Set(i, n, floats.Norm(scaled, 2))
	}
	g.Set(len(p.rows), n, 1)
	right[len(p.rows)] = 1
	goal := make([]float64, n+1)
	goal[n] = -1
	var best float64
	var z []float64
	err := panics.Caught(func() (err error) { // the simplex method panics on some degenerate programs
		c, a, b := lp.Convert(goal, g, right, nil, nil)
		best, z, err = lp.Simplex(c, a, b, simplexTolerance, nil)
		return err
	})
	if err != nil || !(-best > leastSlack) {
		return nil, false
	}
	values = make([]float64, n)
	for k := range values { // Convert splits a variable into its positive and negative part
		values[k] = p.origin[k] + math.Ldexp(z[k]-z[n+1+k], unit[k]-unit[n])
	}
	return values, true
}

// equilibrate gives powers of two for rows and columns, the last column the right-hand
// side. Those of columns are the factors that, with others of rows, bring all sizes nearest to 1, by least
// squares on their logarithms (Curtis & Reid 1972): unlike those of the largest sizes they
// are unique, so the units of the columns drop out. Those of rows then make the largest size 1.
func (p *slackProgram) equilibrate() (rows, columns []int) {
	n := len(p.free)
	sizes := mat.NewDense(len(p.rows), n+1, nil) // log₂, −Inf for 0
	for i, r := range p.rows {
		for k, v := range append(r[:n:n], p.right[i]) {
			sizes.Set(i, k, math.Log2(math.Abs(v)))
		}
	}
	row, column := make([]float64, len(p.rows)), make([]float64, n+1)
	for range 100 { // mostly far fewer are enough: each is a minimum by rows, then by columns
		for i := range row {
			row[i] = -meanFinite(sizes.RawRowView(i), column)
		}
		for k := range column {
			column[k] = -meanFinite(mat.Col(nil, k, sizes), row)
		}
	}
	columns = make([]int, n+1)
	for k, v := range column {
		columns[k] = int(math.Round(v))
	}
	for i := range row {
		top := math.Inf(-1)
		for k, v := range sizes.RawRowView(i) {
			top = max(top, v+float64(columns[k]))
		}
		rows = append(rows, -int(math.Round(top)))
	}
	return rows, columns
}

// meanFinite is the mean of x + y over the finite ones, 0 if there are none.
func meanFinite(x, y []float64) float64 {
	sum, n := 0.0, 0
	for i, v := range x {
		if !math.IsInf(v, 0) {
			sum += v + y[i]
			n++
		}
	}
	return sum / float64(max(n, 1))
}
