package trainers

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

// independent sets the normals of the gaps.
func (g *gibbs) independent(gaps []gap) {
	m := len(gaps)
	g.coordinates, g.mean = g.coordinates[:0], g.mean[:0]
	g.precision = append(g.precision[:0], make([]float64, m*m)...)
	for a, v := range gaps {
		g.coordinates, g.mean = append(g.coordinates, v.j), append(g.mean, v.mean)
		g.precision[a*m+a] = 1 / (v.sd * v.sd)
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
