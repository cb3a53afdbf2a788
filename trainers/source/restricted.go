package source

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"missingscore/data/domain"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/simd"
)

// restricted draws the missing cells of a row from independent normals N(μ_j, σ_j²) restricted to
// the row's section of a domain (docs/theory/truncated.md#imputed-values-inside), with their log
// density:
//
//   - no restriction: N(μ_j, σ_j²);
//   - a box: truncated normals;
//   - one half-space over unbounded coordinates: the component along σ∘a truncated;
//   - otherwise: rejection from the box; after rejection failed once for the row, ends of chains (bounces). The log density then lacks a constant of the row.
type restricted struct {
	domain     *domain.Domain
	deviations deviations
	section    domain.Section
	gaps       simd.Gaps
	x, mask    []float64 // of the row
	mean       []float64
	bounds     []bound
	kind       restriction
	log        float64 // common part of the log densities of the row's draws

	along []float64 // (gaps): σ∘a/‖σ∘a‖ of the half-space
	beta  float64   // its bound along that direction

	z      []float64 // normals of the row's draws
	narrow bool      // rejection has failed for the row: use chain
	means  []float64 // of its gaps
	inner  []float64 // a row well inside
	root   []float64 // (gaps, gaps): 1/sd on the diagonal
	chain  bounces
}

type restriction int

const (
	toBox restriction = iota // or unrestricted
	toHalfSpace
	toIntersection
)

type bound struct {
	gap, j      int // number of the gap in the row, and column
	low, high   float64
	alpha, beta float64 // standardised
}

func (s *restricted) row(x, mask, mean []float64) {
	s.x, s.mask, s.mean = x, mask, mean
	s.gaps.Set(mask)
	s.bounds, s.kind = s.bounds[:0], toBox
	s.log, s.narrow = 0, false
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
	simd.Scale(s.along, []float64{1 / size}, s.along)
	s.log -= truncnorm.LogMass(math.Inf(-1), s.beta)
}

// draw writes len(log) draws of the row and their log densities.
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
	s.z = room(s.z, len(log)*m)
	rng.Normals(s.z)
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

func (s *restricted) rhat(x []float64, rng *Stream) (float64, error) {
	if s.kind != toIntersection {
		return 0, nil
	}
	if _, err := s.intersection(x, rng); err != nil || !s.narrow {
		return 0, err
	}
	return s.chain.rhat(&s.section, x, s.mask, func() error { copy(x, s.inner); return nil }, rng)
}

// intersection draws from the box until inside, else by a chain.
func (s *restricted) intersection(x []float64, rng *Stream) (log float64, err error) {
	s.z = room(s.z, len(s.gaps.At()))
	if !s.narrow {
		for range tries {
			rng.Normals(s.z)
			s.box(s.z)
			if log = s.place(x, s.z); s.section.Contains(x, s.mask) {
				return log, nil
			}
		}
		if err := s.prepareChain(); err != nil {
			return 0, err
		}
	}
	copy(x, s.inner)
	for range paths {
		s.chain.move(&s.section, x, s.mask, rng)
	}
	log = s.log
	for _, j := range s.gaps.At() {
		z := (x[j] - s.mean[j]) / s.deviations.sd[j]
		log -= 0.5 * z * z
	}
	return log, nil
}

// prepareChain sets the precision diag(1/sd²).
func (s *restricted) prepareChain() (err error) {
	var ok bool
	if s.inner, ok = s.domain.Interior(s.x, s.mask); !ok {
		return errNoRoom
	}
	gaps := s.gaps.At()
	m := len(gaps)
	s.narrow, s.means, s.root = true, s.means[:0], room(s.root, m*m)
	clear(s.root)
	for a, j := range gaps {
		s.means = append(s.means, s.mean[j])
		s.root[a*m+a] = 1 / s.deviations.sd[j]
	}
	s.chain.in(&s.section, gaps, s.means, blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: m, Stride: m, Data: s.root})
	return nil
}

var errNoRoom = errors.New("no values of its missing cells are inside the domain; check the bounds")

func (s *restricted) box(z []float64) {
	for _, b := range s.bounds {
		z[b.gap] = truncnorm.Transport(z[b.gap], b.alpha, b.beta)
	}
}

// half truncates the component of z along the half-space, which excludes bounded gaps.
func (s *restricted) half(z []float64) {
	along := simd.Dot(s.along, z)
	simd.Axpy(z, []float64{truncnorm.Transport(along, math.Inf(-1), s.beta) - along}, s.along)
}

func (s *restricted) place(x, z []float64) (log float64) {
	copy(x, s.x)
	for k, j := range s.gaps.At() {
		x[j] = s.mean[j] + float64(s.deviations.sd[j]*z[k])
	}
	for _, b := range s.bounds { // rounding may cross the boundary
		x[b.j] = min(max(x[b.j], b.low), b.high)
	}
	z = z[:len(s.gaps.At())]
	return s.log - 0.5*simd.Dot(z, z)
}
