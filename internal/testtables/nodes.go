package testtables

import (
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"missingscore/data/domain"
)

// Nodes completes a row's missing cells by Gauss–Legendre nodes: rows x (k, d) with weights w, n nodes
// a cell. Cells end at ±far and where the domain ends. A half-space bounds the last missing cell in it.
func Nodes(s *domain.Domain, row, mask []float64, far float64, n int) (x, w []float64) {
	d := len(row)
	x, w = slices.Clone(row), []float64{1}
	at, weight := make([]float64, n), make([]float64, n)
	for j := range d {
		if mask[j] != 0 {
			continue
		}
		var next, weights []float64
		for i, was := range w {
			from := x[i*d : i*d+d]
			low, high := bounds(s, from, mask, j, far)
			if low >= high {
				continue
			}
			quad.Legendre{}.FixedLocations(at, weight, low, high)
			for k, v := range at {
				next, weights = append(next, from...), append(weights, was*weight[k])
				next[len(next)-d+j] = v
			}
		}
		x, w = next, weights
	}
	return x, w
}

func bounds(s *domain.Domain, x, mask []float64, j int, far float64) (low, high float64) {
	low, high = -far, far
	if s == nil {
		return low, high
	}
	lower, upper := s.GapBounds()
	low, high = max(low, lower[j]), min(high, upper[j])
	for _, h := range s.Half {
		rest, last := h.B, h.A[j] != 0
		for k, a := range h.A {
			if k != j {
				rest -= a * x[k]
				last = last && (k < j || mask[k] != 0 || a == 0)
			}
		}
		switch {
		case last && h.A[j] > 0:
			high = min(high, rest/h.A[j])
		case last:
			low = max(low, rest/h.A[j])
		}
	}
	return low, high
}
