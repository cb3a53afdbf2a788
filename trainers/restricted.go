package trainers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/data/truncnorm"
)

// restricted draws the missing cells of a row from independent normals
// N(μ_j, σ_j²) restricted to the row's section of a domain (maths.md, "Truncated
// support" 1), with their log density:
//
//   - nothing cuts the row: N(μ_j, σ_j²);
//   - a box: each coordinate a truncated normal;
//   - one half-space over unbounded coordinates: the component along σ∘a truncated;
//   - otherwise: draws from the box until one is in the section; if that is rare,
//     Gibbs steps from a point well inside. The log density is then known up to a
//     constant of the row, which self-normalised weights do not need.
type restricted struct {
	domain  *domain.Domain
	section domain.Section
	z       []float64
	gibbs   gibbs
}

const rejections = 50 // draws from the box before Gibbs steps take over

// row prepares for a row with these observed cells.
func (s *restricted) row(x, mask []float64) {
	if s.domain.Bounded() {
		s.domain.Section(&s.section, x, mask)
	}
}

// draw fills the missing cells of x and returns their log density.
func (s *restricted) draw(x, mask, mean, sd []float64, rng *rand.Rand) (log float64, err error) {
	if !s.domain.Bounded() {
		return s.free(x, mask, mean, sd, rng), nil
	}
	switch h, single := s.section.Single(); {
	case len(s.section.Cuts) == 0:
		return s.box(x, mask, mean, sd, rng), nil
	case single:
		return s.half(h, x, mask, mean, sd, rng), nil
	}
	for range rejections {
		log = s.box(x, mask, mean, sd, rng)
		if s.section.Contains(x, mask) {
			return log, nil
		}
	}
	point, ok := s.domain.Interior(x, mask)
	if !ok {
		return 0, errNoRoom
	}
	copy(x, point)
	s.gibbs.independent(mask, mean, sd)
	s.gibbs.sweep(&s.section, x, rng)
	log = 0
	for j, m := range mask {
		if m == 0 {
			z := (x[j] - mean[j]) / sd[j]
			log += truncnorm.LogDensity(z, (s.section.Lower[j]-mean[j])/sd[j], (s.section.Upper[j]-mean[j])/sd[j]) - math.Log(sd[j])
		}
	}
	return log, nil
}

var errNoRoom = fmt.Errorf("its missing cells have no room inside the domain")

func (s *restricted) free(x, mask, mean, sd []float64, rng *rand.Rand) (log float64) {
	for j, m := range mask {
		if m == 0 {
			z := rng.NormFloat64()
			x[j] = mean[j] + sd[j]*z
			log -= 0.5*z*z + math.Log(sd[j]) + halfLog2Pi
		}
	}
	return log
}

func (s *restricted) box(x, mask, mean, sd []float64, rng *rand.Rand) (log float64) {
	for j, m := range mask {
		if m != 0 {
			continue
		}
		low, high := s.section.Lower[j], s.section.Upper[j]
		z := rng.NormFloat64()
		log -= math.Log(sd[j]) + halfLog2Pi
		if !math.IsInf(low, -1) || !math.IsInf(high, 1) {
			alpha, beta := (low-mean[j])/sd[j], (high-mean[j])/sd[j]
			z = truncnorm.Transport(z, alpha, beta)
			log -= truncnorm.LogMass(alpha, beta)
		}
		log -= 0.5 * z * z
		x[j] = min(max(mean[j]+sd[j]*z, low), high) // rounding may take it over the edge
	}
	return log
}

// half draws from the box, then truncates the component of z along u = σ∘a/‖σ∘a‖.
func (s *restricted) half(h domain.HalfSpace, x, mask, mean, sd []float64, rng *rand.Rand) (log float64) {
	log = s.box(x, mask, mean, sd, rng)
	bound, size, along := h.B, 0.0, 0.0
	for j, a := range h.A {
		if a != 0 {
			bound -= a * mean[j]
			size += a * a * sd[j] * sd[j]
			along += a * (x[j] - mean[j])
		}
	}
	size = math.Sqrt(size)
	along /= size
	t := truncnorm.Transport(along, math.Inf(-1), bound/size)
	for j, a := range h.A {
		if a != 0 {
			x[j] += sd[j] * (t - along) * a * sd[j] / size
		}
	}
	return log + 0.5*(along*along-t*t) - truncnorm.LogMass(math.Inf(-1), bound/size)
}
