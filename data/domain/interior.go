package domain

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"missingscore/internal/panics"
)

// Interior completes a row to a point inside s that maximises the smallest slack of the missing
// cells, at most 1, by a linear program. ok is false if no slack is left.
func (s *Domain) Interior(x, mask []float64) (point []float64, ok bool) {
	var free []int
	point = make([]float64, len(x))
	for j, m := range mask {
		if m != 0 {
			point[j] = x[j]
		} else if s.Concerns(j) { // the simplex method needs every variable in a row
			free = append(free, j)
		}
	}
	var rows [][]float64 // (inequalities, free columns and right-hand side), relative to the origins
	row := func(right float64) []float64 {
		rows = append(rows, append(make([]float64, len(free)), right))
		return rows[len(rows)-1]
	}
	lower, upper := s.GapBounds()
	for a, j := range free { // a finite bound as origin keeps the digits of distant intervals
		low, high := !math.IsInf(lower[j], -1), !math.IsInf(upper[j], 1)
		if low {
			point[j] = lower[j]
			row(0)[a] = -1
		} else if high {
			point[j] = upper[j]
		}
		if high {
			row(upper[j] - point[j])[a] = 1
		}
	}
	for _, h := range s.Half {
		b := h.B
		for j, a := range h.A {
			b -= a * point[j]
		}
		if _, _, cut := s.reach(h, x, mask); !cut { // no missing cell
			if b < 0 {
				return nil, false
			}
			continue
		}
		r := row(b)
		for a, j := range free {
			r[a] = h.A[j]
		}
	}
	if len(rows) == 0 {
		return point, true
	}
	values, ok := largestSlack(rows, len(free))
	for k, v := range values {
		point[free[k]] += v
	}
	return point, ok
}

const (
	simplexTolerance = 1e-10
	leastSlack       = 1e-13 // in the program's own units: smaller is rounding
)

// largestSlack maximises the smallest slack of the inequalities over n columns.
func largestSlack(rows [][]float64, n int) (values []float64, ok bool) {
	rowUnit, unit := equilibrate(rows, n)
	g, right := mat.NewDense(len(rows)+1, n+1, nil), make([]float64, len(rows)+1)
	for i, r := range rows {
		scaled := g.RawRowView(i)[:n]
		for k := range scaled {
			scaled[k] = math.Ldexp(r[k], rowUnit[i]+unit[k])
		}
		right[i] = math.Ldexp(r[n], rowUnit[i]+unit[n])
		g.Set(i, n, floats.Norm(scaled, 2))
	}
	g.Set(len(rows), n, 1)
	right[len(rows)] = 1
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
	for k := range n { // Convert splits a variable into positive and negative part
		values = append(values, math.Ldexp(z[k]-z[n+1+k], unit[k]-unit[n]))
	}
	return values, true
}

// equilibrate returns powers of two for rows and columns; the last column is the right-hand side.
// Least squares on the logarithms of the entries (Curtis & Reid 1972) makes the result independent
// of the columns' units.
func equilibrate(program [][]float64, n int) (rows, columns []int) {
	sizes := mat.NewDense(len(program), n+1, nil) // log₂, −Inf for 0
	sizes.Apply(func(i, k int, _ float64) float64 { return math.Log2(math.Abs(program[i][k])) }, sizes)
	row, column := make([]float64, len(program)), make([]float64, n+1)
	for range 100 { // usually converges much earlier: alternating minimisation
		for i := range row {
			row[i] = -meanFinite(sizes.RawRowView(i), column)
		}
		for k := range column {
			column[k] = -meanFinite(mat.Col(nil, k, sizes), row)
		}
	}
	for _, v := range column {
		columns = append(columns, int(math.Round(v)))
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
