package source

import (
	"math"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/data/truncnorm"
)

// gibbs draws from a normal distribution on a convex set: each step renews one
// coordinate from its conditional, a truncated normal in one dimension.
type gibbs struct {
	coordinates []int // of the row, those that are renewed
	mean        []float64
	precision   []float64 // (m, m), m coordinates
}

// sweeps renew every coordinate that often. Chains start from a sequential draw,
// near the target (or, in intersections, from a point inside).
const sweeps = 20

// independent sets the normals of the coordinates at.
func (g *gibbs) independent(at []int, mean, sd []float64) {
	m := len(at)
	g.coordinates, g.mean = g.coordinates[:0], g.mean[:0]
	g.precision = append(g.precision[:0], make([]float64, m*m)...)
	for a, j := range at {
		g.coordinates, g.mean = append(g.coordinates, j), append(g.mean, mean[j])
		g.precision[a*m+a] = 1 / (sd[j] * sd[j])
	}
}

// sweep renews x, which must lie in the section.
func (g *gibbs) sweep(s *domain.Section, x []float64, rng *rand.Rand) {
	m := len(g.coordinates)
	for range sweeps {
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
}
