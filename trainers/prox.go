package trainers

import (
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// Proximal is the step of the L1 path (maths.md, "L1 path"): a gradient step of
// size Rate on θ, then soft-thresholding of the off-diagonal precisions by
// Lambda·Rate, which makes exact zeros.
type Proximal struct{ Rate, Lambda float64 }

// Step changes a packed symmetric matrix of size d in place.
func (p Proximal) Step(packed, grad []float64, d int) {
	for j, i := 0, 0; j < d; j++ {
		for k := j; k < d; k, i = k+1, i+1 {
			packed[i] -= p.Rate * grad[i]
			if k > j {
				packed[i] = softThreshold(packed[i], p.Lambda*p.Rate)
			}
		}
	}
}

// softThreshold is sign(x)·max(|x| − t, 0).
func softThreshold(x, t float64) float64 {
	switch {
	case x > t:
		return x - t
	case x < -t:
		return x + t
	}
	return 0
}

// lift keeps P positive definite: if its smallest eigenvalue is under floor,
// the diagonal is raised by the difference. Zeros off the diagonal stay zeros,
// P stays symmetric, and the next gradient step takes back what was too much.
func lift(g *graph.Gaussian, floor float64) (lifted bool) {
	if above(g, floor) {
		return false
	}
	raise := floor - smallestEigenvalue(g.Precision())
	if raise <= 0 {
		return false
	}
	d := g.Dim()
	for j := range d {
		g.Packed.Value[graph.PackedIndex(d, j, j)] += raise
	}
	return true
}

// above tells whether P's smallest eigenvalue is above floor.
func above(g *graph.Gaussian, floor float64) bool {
	p := g.Precision()
	for j := range g.Dim() {
		p.SetSym(j, j, p.At(j, j)-floor)
	}
	var c mat.Cholesky
	return c.Factorize(p)
}

func smallestEigenvalue(p mat.Symmetric) float64 {
	var e mat.EigenSym
	if !e.Factorize(p, false) {
		return 0
	}
	return e.Values(nil)[0]
}
