package source

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
//   - otherwise: Conditional. The log density then lacks a constant of the row.
type restricted struct {
	domain     *domain.Domain
	deviations deviations
	section    domain.Section
	gaps       simd.Gaps
	x          []float64 // the row
	mean       []float64
	bounds     []bound
	several    bool    // an intersection
	log        float64 // common part of the log densities of the row's draws

	along []float64 // (gaps): σ∘a/‖σ∘a‖ of the half-space, empty without one
	beta  float64   // its bound along that direction

	z    []float64   // normals of the row's draws
	rest Conditional // of an intersection
}

type bound struct {
	gap, j      int // number of the gap in the row, and column
	low, high   float64
	alpha, beta float64 // standardised
}

func (s *restricted) row(x, mask, mean []float64) error {
	s.x, s.mean = x, mean
	s.gaps.Set(mask)
	s.bounds, s.along, s.several = s.bounds[:0], s.along[:0], false
	s.log = 0
	s.domain.Section(&s.section, x, mask)
	for k, j := range s.gaps {
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
		return nil
	}
	h, single := s.section.Single()
	if !single {
		s.several = true
		precision := mat.NewDiagDense(len(mean), nil)
		for j, sd := range s.deviations.sd {
			precision.SetDiag(j, 1/(sd*sd))
		}
		s.rest.Mean, s.rest.Precision, s.rest.Domain = mean, precision, s.domain
		s.rest.renew()
		if err := s.rest.Condition(mask); err != nil {
			return err
		}
		s.rest.Given(x)
		return nil
	}
	s.beta = h.B
	for _, j := range s.gaps {
		s.along = append(s.along, h.A[j]*s.deviations.sd[j])
		s.beta -= h.A[j] * mean[j]
	}
	size := floats.Norm(s.along, 2)
	s.beta /= size
	floats.Scale(1/size, s.along)
	s.log -= truncnorm.LogMass(math.Inf(-1), s.beta)
	return nil
}

// draw writes len(log) draws of the row and their log densities.
func (s *restricted) draw(x, log []float64, rng *Stream) (err error) {
	d, m := len(s.x), len(s.gaps)
	if s.several {
		for k := range log {
			copy(x[k*d:], s.x)
			if log[k], err = s.rest.Draw(x[k*d:k*d+d], rng); err != nil {
				return err
			}
		}
		return nil
	}
	s.z = slices.Grow(s.z[:0], len(log)*m)[:len(log)*m]
	rng.Normals(s.z)
	for k := range log {
		z := s.z[k*m:]
		s.box(z)
		if len(s.along) > 0 {
			s.half(z[:m])
		}
		log[k] = s.place(x[k*d:k*d+d], z)
	}
	return nil
}

func (s *restricted) box(z []float64) {
	for _, b := range s.bounds {
		z[b.gap] = truncnorm.Transport(z[b.gap], b.alpha, b.beta)
	}
}

// half truncates the component of z along the half-space, which excludes bounded gaps.
func (s *restricted) half(z []float64) {
	along := floats.Dot(s.along, z)
	floats.AddScaled(z, truncnorm.Transport(along, math.Inf(-1), s.beta)-along, s.along)
}

func (s *restricted) place(x, z []float64) (log float64) {
	copy(x, s.x)
	for k, j := range s.gaps {
		x[j] = s.mean[j] + float64(s.deviations.sd[j]*z[k])
	}
	for _, b := range s.bounds { // rounding may cross the boundary
		x[b.j] = min(max(x[b.j], b.low), b.high)
	}
	z = z[:len(s.gaps)]
	return s.log - 0.5*floats.Dot(z, z)
}
