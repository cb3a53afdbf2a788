package sandwich

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/trainers/engine"
)

type quantities struct {
	model model.Parametric
	scale data.Scale
}

// at uses the fit's scales if unit is nil.
func (s *quantities) at(unit []float64) (all []float64, err error) {
	was := values(s.model)
	defer set(s.model, was)
	deviation := slices.Clone(s.scale.Deviation)
	for j, u := range unit {
		deviation[j] *= u
	}
	if err := s.model.Rescale(s.scale.Mean, deviation); err != nil {
		return nil, err
	}
	for _, q := range s.model.Quantities() {
		all = append(all, q.Value...)
	}
	return all, nil
}

// redundant is the least relative part of a Jacobian column that is independent of the previous
// ones.
const redundant = 1e-6

// free drops redundant parameters, such as the last log weight of a mixture.
func (s *quantities) free() (places []int, err error) {
	at := parameters(s.model)
	j, err := jacobian(at, func() ([]float64, error) { return s.at(nil) })
	if err != nil {
		return nil, err
	}
	var basis [][]float64
	for place := range at {
		column := mat.Col(nil, place, j)
		if size := floats.Norm(column, 2); size > 0 {
			floats.Scale(1/size, column)
		}
		for range 2 { // twice, for rounding
			for _, b := range basis {
				floats.AddScaled(column, -floats.Dot(b, column), b)
			}
		}
		size := floats.Norm(column, 2)
		if size < redundant {
			continue
		}
		floats.Scale(1/size, column)
		basis, places = append(basis, column), append(places, place)
	}
	return places, nil
}

type member struct {
	place  int // index among all quantities
	name   string
	within model.Range
}

// members returns each pair once for symmetric matrices.
func (s *quantities) members(names []string) (out []member) {
	place := 0
	for _, q := range s.model.Quantities() {
		for i := range q.Rows {
			for j := range q.Cols {
				if !q.Symmetric || j >= i {
					out = append(out, member{place, label(q, i, j, names), q.Range})
				}
				place++
			}
		}
	}
	return out
}

// label returns mean[Wind], precision[Ozone, Wind], weights[2], means[2, Wind].
func label(q model.Quantity, i, j int, names []string) string {
	row := fmt.Sprint(i + 1)
	if q.Symmetric && i < len(names) {
		row = names[i]
	}
	switch {
	case q.Cols == 1 && len(names) != 1:
		return fmt.Sprintf("%s[%s]", q.Name, row)
	case q.Cols != len(names):
		return fmt.Sprintf("%s[%d, %d]", q.Name, i+1, j+1)
	case q.Rows == 1 && !q.Symmetric:
		return fmt.Sprintf("%s[%s]", q.Name, names[j])
	}
	return fmt.Sprintf("%s[%s, %s]", q.Name, row, names[j])
}

// interval returns estimate ± u se, on the log scale for positive numbers and the logit scale for
// shares.
func interval(at, se, level float64, within model.Range) (low, high float64) {
	u := distuv.UnitNormal.Quantile((1+level)/2) * se
	switch within {
	case model.Positive:
		f := math.Exp(u / at)
		return at / f, at * f
	case model.Share:
		if at >= 1 { // one component
			return at, at
		}
		odds, v := math.Log(at)-math.Log1p(-at), u/(at*(1-at))
		return 1 / (1 + math.Exp(v-odds)), 1 / (1 + math.Exp(-v-odds))
	}
	return at - u, at + u
}

// known returns nil for a number that is not finite.
func known(v float64) *float64 {
	if !engine.Finite(v) {
		return nil
	}
	return &v
}
