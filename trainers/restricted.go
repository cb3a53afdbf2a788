package trainers

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

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
	domain     *domain.Domain
	deviations deviations
	section    domain.Section
	gaps       []gap
	kind       restriction
	log        float64 // part of the log density that the row's draws share

	along []float64 // (gaps): σ∘a/‖σ∘a‖ of the half-space
	shift []float64 // (gaps): σ∘along
	beta  float64   // its bound along that direction

	z []float64 // normals of the row's draws

	gibbs gibbs
}

type restriction int

const (
	toBox restriction = iota // or to nothing
	toHalfSpace
	toIntersection
)

// gap is a missing cell.
type gap struct {
	j           int
	mean, sd    float64
	low, high   float64
	alpha, beta float64 // the bounds, standardised
	bounded     bool
}

const rejections = 50 // draws from the box before Gibbs steps take over

// row prepares for a row with these observed cells, on a domain with a boundary.
func (s *restricted) row(x, mask, mean []float64) {
	s.gaps, s.log, s.kind = s.gaps[:0], 0, toBox
	s.domain.Section(&s.section, x, mask)
	for j, m := range mask {
		if m != 0 {
			continue
		}
		g := gap{j: j, mean: mean[j], sd: s.deviations.sd[j]}
		s.log -= s.deviations.log[j]
		if s.domain.BoundedColumn(j) {
			g.bounded, g.low, g.high = true, s.section.Lower[j], s.section.Upper[j]
			g.alpha, g.beta = (g.low-g.mean)/g.sd, (g.high-g.mean)/g.sd
			s.log -= truncnorm.LogMass(g.alpha, g.beta)
		}
		s.gaps = append(s.gaps, g)
	}
	if len(s.section.Cuts) == 0 {
		return
	}
	h, single := s.section.Single()
	if !single {
		s.kind = toIntersection
		return
	}
	s.kind, s.along, s.beta = toHalfSpace, s.along[:0], h.B
	size := 0.0
	for _, g := range s.gaps {
		u := h.A[g.j] * g.sd
		s.along = append(s.along, u)
		size += u * u
		s.beta -= h.A[g.j] * g.mean
	}
	size = math.Sqrt(size)
	s.beta /= size
	s.shift = s.shift[:0]
	for k, g := range s.gaps {
		s.along[k] /= size
		s.shift = append(s.shift, g.sd*s.along[k])
	}
	s.log -= truncnorm.LogMass(math.Inf(-1), s.beta)
}

// draw fills the missing cells of the row's draws x, as many as log, and gives their log
// densities.
func (s *restricted) draw(x, log, mask []float64, rng *Stream) (err error) {
	d, m := len(mask), len(s.gaps)
	if s.kind == toIntersection {
		for k := range log {
			if log[k], err = s.intersection(x[k*d:k*d+d], mask, rng); err != nil {
				return err
			}
		}
		return nil
	}
	rng.Normals(s.normals(len(log) * m))
	for k := range log {
		row, z := x[k*d:k*d+d], s.z[k*m:k*m+m]
		if log[k] = s.box(row, z); s.kind == toHalfSpace {
			log[k] += s.half(row, z)
		}
	}
	return nil
}

// normals is room for so many.
func (s *restricted) normals(n int) []float64 {
	if len(s.z) < n {
		s.z = make([]float64, n)
	}
	return s.z[:n]
}

// intersection draws from the box until it is inside, else by Gibbs steps.
func (s *restricted) intersection(x, mask []float64, rng *Stream) (log float64, err error) {
	z := s.normals(len(s.gaps))
	for range rejections {
		rng.Normals(z)
		if log = s.box(x, z); s.section.Contains(x, mask) {
			return log, nil
		}
	}
	point, ok := s.domain.Interior(x, mask)
	if !ok {
		return 0, errNoRoom
	}
	copy(x, point)
	s.gibbs.independent(s.gaps)
	s.gibbs.sweep(&s.section, x, rng.Rand)
	log = s.log
	for _, g := range s.gaps {
		z := (x[g.j] - g.mean) / g.sd
		log -= 0.5 * z * z
	}
	return log, nil
}

var errNoRoom = errors.New("its missing cells have no room inside the domain")

// box draws from the box: z, moved into its bounds.
func (s *restricted) box(x, z []float64) (log float64) {
	log = s.log
	for k := range s.gaps {
		g, z := &s.gaps[k], z[k]
		if !g.bounded {
			x[g.j] = g.mean + g.sd*z
		} else {
			z = truncnorm.Transport(z, g.alpha, g.beta)
			x[g.j] = min(max(g.mean+g.sd*z, g.low), g.high) // rounding may take it over the edge
		}
		log -= 0.5 * z * z
	}
	return log
}

// half truncates the component along the half-space of a draw from the box, and gives
// what that adds to its log density.
func (s *restricted) half(x, z []float64) (log float64) {
	along := floats.Dot(s.along, z) // bounded gaps have no part in it
	t := truncnorm.Transport(along, math.Inf(-1), s.beta)
	for k := range s.gaps {
		x[s.gaps[k].j] += (t - along) * s.shift[k]
	}
	return 0.5 * (along*along - t*t)
}
