package source

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"missingscore/data/domain"
	"missingscore/data/truncnorm"
)

// gibbs is a step of a chain whose draws are from a normal distribution on a convex set: it
// renews one coordinate after the other from its conditional, a truncated normal in one
// dimension.
type gibbs struct {
	coordinates []int // of the row, those that are renewed
	mean        []float64
	precision   []float64 // (m, m), m coordinates
}

// normal sets the distribution of the coordinates, its precision UᵀU.
func (g *gibbs) normal(coordinates []int, mean []float64, u blas64.Triangular) {
	m := len(coordinates)
	g.coordinates, g.mean = append(g.coordinates[:0], coordinates...), append(g.mean[:0], mean...)
	g.precision = room(g.precision, m*m)
	p := blas64.General{Rows: m, Cols: m, Stride: m, Data: g.precision}
	clear(g.precision)
	for a := range m {
		copy(g.precision[a*m+a:a*m+m], u.Data[a*u.Stride+a:a*u.Stride+m])
	}
	blas64.Trmm(blas.Left, blas.Trans, 1, u, p)
}

// sweep renews x, which must lie in the section.
func (g *gibbs) sweep(s *domain.Section, x []float64, rng *rand.Rand) {
	m := len(g.coordinates)
	for a, j := range g.coordinates {
		q := g.precision[a*m : a*m+m]
		shift := 0.0
		for b, k := range g.coordinates {
			shift += q[b] * (x[k] - g.mean[b])
		}
		shift -= q[a] * (x[j] - g.mean[a])
		mean, sd := g.mean[a]-shift/q[a], 1/math.Sqrt(q[a])
		low, high := s.Interval(x, j)
		if !(low < high) { // the others leave a single point, by rounding
			continue
		}
		z := truncnorm.Transport(rng.NormFloat64(), (low-mean)/sd, (high-mean)/sd)
		x[j] = min(max(mean+sd*z, low), high)
	}
}
