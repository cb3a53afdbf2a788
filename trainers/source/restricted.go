package source

import (
	"errors"
	"math"

	"missingscore/data/domain"
	"missingscore/data/truncnorm"
	"missingscore/internal/simd"
)

// restricted draws the missing cells of a row from independent normals
// N(μ_j, σ_j²) restricted to the row's section of a domain (docs/theory/truncated.md#imputed-values-inside), with their log density:
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
	gaps       simd.Gaps
	x, mask    []float64 // of the row
	mean       []float64
	bounds     []bound
	kind       restriction
	log        float64 // part of the log density that the row's draws share

	along []float64 // (gaps): σ∘a/‖σ∘a‖ of the half-space
	beta  float64   // its bound along that direction

	z     []float64 // normals of the row's draws
	gibbs gibbs
}

type restriction int

const (
	toBox restriction = iota // or to nothing
	toHalfSpace
	toIntersection
)

// bound is that of a missing cell.
type bound struct {
	gap, j      int // the cell is gap number gap of the row, and column j
	low, high   float64
	alpha, beta float64 // standardised
}

const rejections = 50 // draws from the box before Gibbs steps take over

// row prepares for a row with these observed cells, on a domain with a boundary.
func (s *restricted) row(x, mask, mean []float64) {
	s.x, s.mask, s.mean = x, mask, mean
	s.gaps.Set(mask)
	s.bounds, s.kind = s.bounds[:0], toBox
	s.log = 0
	s.domain.Section(&s.section, x, mask)
	for k, j := range s.gaps.At() {
		sd := s.deviations.sd[j]
		s.log -= s.deviations.log[j]
		if s.domain.BoundedColumn(j) {
			b := bound{gap: k, j: j, low: s.section.Lower[j], high: s.section.Upper[j]}
			b.alpha, b.beta = (b.low-mean[j])/sd, (b.high-mean[j])/sd
			s.log -= truncnorm.LogMass(b.alpha, b.beta)
			s.bounds = append(s.bounds, b)
		}
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
	for _, j := range s.gaps.At() {
		s.along = append(s.along, h.A[j]*s.deviations.sd[j])
		s.beta -= h.A[j] * mean[j]
	}
	size := math.Sqrt(simd.Dot(s.along, s.along))
	s.beta /= size
	simd.Scale(s.along, 1/size, s.along)
	s.log -= truncnorm.LogMass(math.Inf(-1), s.beta)
}

// draw writes the row's draws, as many as log, to x, with their log densities.
func (s *restricted) draw(x, log []float64, rng *Stream) (err error) {
	d, m := len(s.x), len(s.gaps.At())
	if s.kind == toIntersection {
		for k := range log {
			if log[k], err = s.intersection(x[k*d:k*d+d], rng); err != nil {
				return err
			}
		}
		return nil
	}
	rng.Normals(s.normals(len(log) * m))
	for k := range log {
		z := s.z[k*m:]
		s.box(z)
		if s.kind == toHalfSpace {
			s.half(z[:m])
		}
		log[k] = s.place(x[k*d:k*d+d], z)
	}
	return nil
}

// normals is room for so many.
func (s *restricted) normals(n int) []float64 {
	if len(s.z) < n+simd.Spare {
		s.z = make([]float64, n+simd.Spare)
	}
	return s.z[:n]
}

// intersection draws from the box until it is inside, else by Gibbs steps.
func (s *restricted) intersection(x []float64, rng *Stream) (log float64, err error) {
	z := s.normals(len(s.gaps.At()))
	for range rejections {
		rng.Normals(z)
		s.box(s.z)
		if log = s.place(x, s.z); s.section.Contains(x, s.mask) {
			return log, nil
		}
	}
	point, ok := s.domain.Interior(x, s.mask)
	if !ok {
		return 0, errNoRoom
	}
	copy(x, point)
	s.gibbs.independent(s.gaps.At(), s.mean, s.deviations.sd)
	s.gibbs.sweep(&s.section, x, rng.Rand)
	log = s.log
	for _, j := range s.gaps.At() {
		z := (x[j] - s.mean[j]) / s.deviations.sd[j]
		log -= 0.5 * z * z
	}
	return log, nil
}

var errNoRoom = errors.New("its missing cells have no room inside the domain")

// box moves the normals z into the box.
func (s *restricted) box(z []float64) {
	for _, b := range s.bounds {
		z[b.gap] = truncnorm.Transport(z[b.gap], b.alpha, b.beta)
	}
}

// half truncates the component of z along the half-space, in which bounded gaps have no
// part.
func (s *restricted) half(z []float64) {
	along := simd.Dot(s.along, z)
	simd.Axpy(z, truncnorm.Transport(along, math.Inf(-1), s.beta)-along, s.along)
}

// place writes the row with the draw z, and gives its log density.
func (s *restricted) place(x, z []float64) (log float64) {
	simd.Scatter(x, s.x, s.mean, s.deviations.sd, z, &s.gaps)
	for _, b := range s.bounds { // rounding may take it over the edge
		x[b.j] = min(max(x[b.j], b.low), b.high)
	}
	z = z[:len(s.gaps.At())]
	return s.log - 0.5*simd.Dot(z, z)
}
