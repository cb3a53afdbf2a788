package descent

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/trainers/engine"
	"missingscore/trainers/optim"
	"missingscore/trainers/penalty"
)

// shrinkage is a fit's penalty at one λ, on the matrix of its model (model.Coupled).
type shrinkage struct {
	by     penalty.Penalty
	lambda float64      // +Inf: couplings are 0
	matrix *graph.Param // packed
	place  int          // of matrix among the model's parameters
	d      int
	least  float64 // eigenvalue that the matrix may have
	bounds optim.PositiveDefinite
}

// leastEigenvalue is the least that the matrix may have, beside the mean of its diagonal at the
// model's start.
const leastEigenvalue = 1e-3

// newShrinkage is for a model made by model.Coupled.Free; least is 0 where the model is at its
// start.
func newShrinkage(c penalty.Config, m model.Model, least float64) (*shrinkage, error) {
	by, err := penalty.ByName(c.Kind)
	if err != nil {
		return nil, err
	}
	coupled, _ := model.CoupledOf(m) // checkPenalised has asked
	s := &shrinkage{by: by, matrix: coupled.Matrix(), d: m.Dim()}
	for i, p := range m.Params() {
		if p == s.matrix {
			s.place = i
		}
	}
	if s.least = least; least == 0 {
		s.least = leastEigenvalue * s.size()
	}
	return s, nil
}

// each goes over the couplings: their places in the packed matrix.
func (s *shrinkage) each(visit func(i int)) {
	for j := range s.d {
		for k := j + 1; k < s.d; k++ {
			visit(graph.PackedIndex(s.d, j, k))
		}
	}
}

// value is λ Σ_{j<k} Ω(m_jk), 0 where all couplings are.
func (s *shrinkage) value() (sum float64) {
	s.each(func(i int) {
		if v := s.matrix.Value[i]; v != 0 {
			sum += s.lambda * s.by.Value(v)
		}
	})
	return sum
}

// size is the mean of the matrix's diagonal.
func (s *shrinkage) size() (mean float64) {
	for j := range s.d {
		mean += s.matrix.Value[graph.PackedIndex(s.d, j, j)] / float64(s.d)
	}
	return mean
}

// proximal is the proximal map of λtΩ at a packed matrix, on matrices with no eigenvalue under
// the least one: in the metric of symmetric matrices, where a coupling counts twice. Where plain
// shrinkage leaves these it is found by turns of the two maps with Dykstra's corrections
// (Bauschke & Combettes 2008), and shrunk couplings are what is given.
func (s *shrinkage) proximal(packed []float64, t float64) []float64 {
	shrunk := slices.Clone(packed)
	s.each(func(i int) { shrunk[i] = s.by.Shrink(packed[i], s.lambda*t/2) })
	if !engine.Finite(shrunk...) || s.inside(shrunk) {
		return shrunk
	}
	n := len(packed)
	x, p, q := slices.Clone(packed), make([]float64, n), make([]float64, n)
	for range mostTurns {
		sum, furthest := make([]float64, n), 0.0
		for i := range sum {
			sum[i] = x[i] + p[i]
			shrunk[i] = sum[i]
		}
		s.each(func(i int) { shrunk[i] = s.by.Shrink(sum[i], s.lambda*t/2) })
		for i := range sum {
			p[i] = sum[i] - shrunk[i]
			sum[i] = shrunk[i] + q[i]
		}
		x = s.nearest(sum)
		for i := range sum {
			q[i] = sum[i] - x[i]
			furthest = max(furthest, math.Abs(x[i]-shrunk[i]))
		}
		if furthest < alike*s.least {
			break
		}
	}
	return shrunk
}

const (
	mostTurns = 1000
	alike     = 1e-7 // of the least eigenvalue: where the two maps agree
)

// nearest is the symmetric matrix nearest to a packed one with no eigenvalue under the least.
func (s *shrinkage) nearest(packed []float64) []float64 {
	var e mat.EigenSym
	if !e.Factorize(graph.Unpack(s.d, packed), true) {
		return packed
	}
	var vectors, scaled mat.Dense
	e.VectorsTo(&vectors)
	values := e.Values(nil)
	scaled.CloneFrom(&vectors)
	for j, v := range values {
		for i := range s.d {
			scaled.Set(i, j, vectors.At(i, j)*max(v, s.least))
		}
	}
	var product mat.Dense
	product.Mul(&scaled, vectors.T())
	out := make([]float64, 0, len(packed))
	for j := range s.d {
		for k := j; k < s.d; k++ {
			out = append(out, product.At(j, k))
		}
	}
	return out
}

// inside tells whether a packed matrix is positive definite, and not only just.
func (s *shrinkage) inside(packed []float64) bool {
	s.bounds.Floor = s.least / 2
	return s.bounds.InsidePacked(packed, s.d)
}

// bound keeps the matrix positive definite, zeros as they are (optim.PositiveDefinite).
func (s *shrinkage) bound() {
	s.bounds.Floor = s.least
	s.bounds.ProjectPacked(s.matrix.Value, s.d)
}

// afterAdam makes a step of Adam one of proximal Adam: the proximal map of the penalty in the
// metric that the step was in, coordinate by coordinate (Yun, Lozano & Yang 2021, ProxGen). A
// fit without a penalty has none.
func (s *shrinkage) afterAdam(a *optim.Adam) {
	if s == nil {
		return
	}
	s.each(func(i int) {
		s.matrix.Value[i] = s.by.Shrink(s.matrix.Value[i], s.lambda*a.Length(s.place, i))
	})
	s.bound()
}
