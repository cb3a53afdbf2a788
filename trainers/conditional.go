package trainers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/truncnorm"
	"missingscore/graph"
	"missingscore/losses"
)

// exactSource draws from a Gaussian model's own conditional,
// N(μ_m − P_mm⁻¹P_mo(x_o − μ_o), P_mm⁻¹), restricted to the domain. Rows with one
// pattern that follow each other share its factor.
type exactSource struct {
	r      int
	model  *graph.Gaussian
	domain *domain.Domain
	c      Conditional
}

func newExact(s Setting) (Source, error) {
	g, err := asGaussian(s.Model, "the exact conditional")
	return &exactSource{r: s.Draws, model: g, domain: s.Domain}, err
}

// Complete implements Source.
func (s *exactSource) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	repeat(b, s.r, x)
	s.c = Conditional{Mean: s.model.Mean(), Precision: s.model.Precision(), Domain: s.domain}
	for i, row := range b.Rows {
		mask := b.Mask[i*b.D : (i+1)*b.D]
		if err := s.c.Condition(mask); err != nil {
			return fmt.Errorf("row %d of the table: %w", row+1, err)
		}
		s.c.Given(b.X[i*b.D : (i+1)*b.D])
		for k := i * s.r; k < (i+1)*s.r; k++ {
			var err error
			if logProposal[k], err = s.c.Draw(x[k*b.D:(k+1)*b.D], rng.Rand); err != nil {
				return fmt.Errorf("row %d of the table: %w", row+1, err)
			}
		}
	}
	return nil
}

// Conditional is the distribution of a normal row's missing cells given its
// observed ones, restricted to a domain.
type Conditional struct {
	Mean      []float64
	Precision *mat.SymDense
	Domain    *domain.Domain // nil for all of R^d

	mask           []float64
	observed, gaps []int
	first          int          // of the gaps that bounds or half-spaces concern; they come last
	chol           mat.Cholesky // of P_mm
	upper          mat.TriDense
	shift, z       []float64 // the conditional mean less μ; work space

	section domain.Section
	single  bool             // the section is one half-space over unbounded columns,
	cut     domain.HalfSpace // this one
	tilt    []float64        // P_mm⁻¹a for it
	gibbs   gibbs
}

const unrestrictedTries = 10 // draws of the unrestricted conditional before Gibbs sweeps

// Condition prepares for a pattern (1 = observed). It fails with
// losses.ErrNotPositiveDefinite where P_mm is not positive definite.
func (c *Conditional) Condition(mask []float64) error {
	if c.mask != nil && slices.Equal(c.mask, mask) {
		return nil
	}
	c.mask = append(c.mask[:0], mask...)
	c.observed, c.gaps = c.observed[:0], c.gaps[:0]
	for j, o := range mask {
		if o != 0 {
			c.observed = append(c.observed, j)
		} else {
			c.gaps = append(c.gaps, j)
		}
	}
	m := len(c.gaps)
	if m == 0 {
		return nil
	}
	c.first, c.tilt = m, c.tilt[:0]
	if c.Domain.Bounded() {
		var concerned []int
		c.gaps = slices.DeleteFunc(c.gaps, func(j int) bool {
			if c.Domain.Concerns(j) {
				concerned = append(concerned, j)
			}
			return c.Domain.Concerns(j)
		})
		c.first = len(c.gaps)
		c.gaps = append(c.gaps, concerned...)
	}
	pmm := mat.NewSymDense(m, nil)
	for a, j := range c.gaps {
		for b := a; b < m; b++ {
			pmm.SetSym(a, b, c.Precision.At(j, c.gaps[b]))
		}
	}
	if !c.chol.Factorize(pmm) {
		c.mask = nil
		return losses.ErrNotPositiveDefinite
	}
	c.upper.Reset()
	c.chol.UTo(&c.upper)
	c.shift, c.z = make([]float64, m), make([]float64, m)
	return nil
}

// Given prepares for a row of the pattern last conditioned on: its conditional
// mean and, on a domain, its section.
func (c *Conditional) Given(row []float64) {
	m := len(c.gaps)
	if m == 0 {
		return
	}
	for a, j := range c.gaps {
		c.shift[a] = 0
		for _, k := range c.observed {
			c.shift[a] -= c.Precision.At(j, k) * (row[k] - c.Mean[k])
		}
	}
	c.solve(c.shift)
	if c.first == m {
		return
	}
	c.Domain.Section(&c.section, row, c.mask)
	c.cut, c.single = c.section.Single()
	c.single = c.single && !slices.ContainsFunc(c.gaps, c.Domain.BoundedColumn)
	if c.single && len(c.tilt) == 0 {
		for _, j := range c.gaps {
			c.tilt = append(c.tilt, c.cut.A[j])
		}
		c.solve(c.tilt)
	}
}

// solve replaces v by P_mm⁻¹v.
func (c *Conditional) solve(v []float64) {
	x := mat.NewVecDense(len(v), v)
	if err := c.chol.SolveVecTo(x, x); err != nil && !isCondition(err) {
		panic(err) // the factor exists: only its condition number can be complained of
	}
}

// Expect sets the missing cells of row to their conditional mean
// μ_m − P_mm⁻¹P_mo(x_o − μ_o), the domain left aside.
func (c *Conditional) Expect(row []float64) {
	c.Given(row)
	for a, j := range c.gaps {
		row[j] = c.expected(a)
	}
}

func isCondition(err error) bool { _, ok := err.(mat.Condition); return ok }

// Draw fills the missing cells of row and returns the log density of the draw, on
// a domain up to a constant of the row (the mass inside). With P_mm = UᵀU it is the
// mean plus U⁻¹z, z standard normal; restricted
//
//   - to one half-space over unbounded columns: the component aᵀx is drawn from its
//     truncated normal and the rest moved along P_mm⁻¹a, exactly;
//   - to one bounded column: from its truncated normal, then the others exactly;
//   - to anything else: the columns concerned by rejection if a few tries suffice, which
//     is exact; if not, by Gibbs sweeps from truncated normals one after the other, or
//     from a point well inside; then the others exactly.
//
// Given comes first.
func (c *Conditional) Draw(row []float64, rng *rand.Rand) (log float64, err error) {
	m := len(c.gaps)
	switch {
	case m == 0:
		return 0, nil
	case c.first == m:
		return c.unrestricted(row, m, rng), nil
	case c.single:
		return c.unrestricted(row, m, rng) + c.move(row, rng), nil
	}
	if err := c.concerned(row, rng); err != nil {
		return 0, err
	}
	for a := m - 1; a >= c.first; a-- {
		z := 0.0
		for b := a; b < m; b++ {
			z += c.upper.At(a, b) * (row[c.gaps[b]] - c.expected(b))
		}
		log -= 0.5*z*z + halfLog2Pi - math.Log(c.upper.At(a, a))
	}
	return log + c.unrestricted(row, c.first, rng), nil
}

// expected is the unrestricted conditional mean of gap b.
func (c *Conditional) expected(b int) float64 { return c.Mean[c.gaps[b]] + c.shift[b] }

// unrestricted draws the first gaps given the others, from the last to the first.
func (c *Conditional) unrestricted(row []float64, first int, rng *rand.Rand) (log float64) {
	for a := range first {
		c.z[a] = rng.NormFloat64()
		log -= 0.5*c.z[a]*c.z[a] + halfLog2Pi - math.Log(c.upper.At(a, a))
	}
	for a := first - 1; a >= 0; a-- {
		row[c.gaps[a]] = c.expected(a) + (c.z[a]-c.later(row, a))/c.upper.At(a, a)
	}
	return log
}

// later is what the gaps after a contribute to row a of U(x − mean).
func (c *Conditional) later(row []float64, a int) (v float64) {
	for b := a + 1; b < len(c.gaps); b++ {
		v += c.upper.At(a, b) * (row[c.gaps[b]] - c.expected(b))
	}
	return v
}

// move takes an unrestricted draw into the half-space.
func (c *Conditional) move(row []float64, rng *rand.Rand) (log float64) {
	variance, mean, at := 0.0, 0.0, 0.0
	for a, j := range c.gaps {
		variance += c.cut.A[j] * c.tilt[a]
		mean += c.cut.A[j] * c.expected(a)
		at += c.cut.A[j] * row[j]
	}
	sd := math.Sqrt(variance)
	from, to := (at-mean)/sd, truncnorm.Transport(rng.NormFloat64(), math.Inf(-1), (c.cut.B-mean)/sd)
	for a, j := range c.gaps {
		row[j] += (to - from) * c.tilt[a] / sd
	}
	return 0.5 * (from*from - to*to)
}

// concerned draws the gaps that the domain concerns.
func (c *Conditional) concerned(row []float64, rng *rand.Rand) error {
	m, f := len(c.gaps), c.first
	sequence := func(truncate bool) {
		for a := m - 1; a >= f; a-- {
			j := c.gaps[a]
			sd := 1 / c.upper.At(a, a)
			mean, z := c.expected(a)-c.later(row, a)*sd, rng.NormFloat64()
			if !truncate {
				row[j] = mean + sd*z
				continue
			}
			low, high := c.section.Lower[j], c.section.Upper[j]
			row[j] = min(max(mean+sd*truncnorm.Transport(z, (low-mean)/sd, (high-mean)/sd), low), high)
		}
	}
	if m-f == 1 && len(c.section.Cuts) == 0 {
		sequence(true)
		return nil
	}
	for range unrestrictedTries {
		if sequence(false); c.section.Contains(row, c.mask) {
			return nil
		}
	}
	if sequence(true); !c.section.Contains(row, c.mask) {
		point, ok := c.Domain.Interior(row, c.mask)
		if !ok {
			return errNoRoom
		}
		for _, j := range c.gaps[f:] {
			row[j] = point[j]
		}
	}
	g := &c.gibbs
	g.coordinates, g.mean = append(g.coordinates[:0], c.gaps[f:]...), g.mean[:0]
	g.precision = append(g.precision[:0], make([]float64, (m-f)*(m-f))...)
	for a := f; a < m; a++ {
		g.mean = append(g.mean, c.expected(a))
		for b := f; b < m; b++ { // the precision of the last block alone is its part of UᵀU
			for k := f; k <= min(a, b); k++ {
				g.precision[(a-f)*(m-f)+b-f] += c.upper.At(k, a) * c.upper.At(k, b)
			}
		}
	}
	g.sweep(&c.section, row, rng)
	return nil
}

// LogLikelihood is the log density of a row's observed cells,
// ½ log det Q − ½ (x−μ)_oᵀQ(x−μ)_o − ½|Λ| log 2π with Q = Σ_ΛΛ⁻¹ and
// log det Q = log det P − log det P_mm, for the pattern last conditioned on.
func (c *Conditional) LogLikelihood(row []float64, logDetP float64) float64 {
	full := append(c.z[:0:0], row...)
	c.Expect(full)
	logDet := logDetP
	if len(c.gaps) > 0 {
		logDet -= c.chol.LogDet()
	}
	square := 0.0
	for _, j := range c.observed { // Q(x−μ)_o is (P(x̂−μ))_o at the completed row
		y := 0.0
		for k := range full {
			y += c.Precision.At(j, k) * (full[k] - c.Mean[k])
		}
		square += (row[j] - c.Mean[j]) * y
	}
	return 0.5 * (logDet - square - float64(len(c.observed))*math.Log(2*math.Pi))
}
