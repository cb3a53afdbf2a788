package source

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/truncnorm"
	"missingscore/losses"
)

// exactSource is N(μ_m − P_mm⁻¹P_mo(x_o − μ_o), P_mm⁻¹), restricted to the domain.
type exactSource struct {
	r      int
	model  model.Normal
	domain *domain.Domain
	c      Conditional
}

func newExact(s Setting) (Source, error) {
	g, err := NormalModel(s.Model, "the exact conditional")
	return &exactSource{r: s.Draws, model: g, domain: s.Domain}, err
}

func (s *exactSource) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	Repeat(b, s.r, x)
	return s.each(b, func(i int, _ []float64) (err error) {
		for k := i * s.r; k < (i+1)*s.r && err == nil; k++ {
			logProposal[k], err = s.c.Draw(x[k*b.D:(k+1)*b.D], rng)
		}
		return err
	})
}

// each visits rows after Condition and Given.
func (s *exactSource) each(b *data.Batch, visit func(i int, row []float64) error) error {
	s.c.Mean, s.c.Precision, s.c.Domain = s.model.Mean(), s.model.Precision(), s.domain
	s.c.renew()
	for i, number := range b.Rows {
		row := b.X[i*b.D : (i+1)*b.D]
		err := s.c.Condition(b.Mask[i*b.D : (i+1)*b.D])
		if err == nil {
			s.c.Given(row)
			err = visit(i, row)
		}
		if err != nil {
			return fmt.Errorf("row %d of the table: %w", number+1, err)
		}
	}
	return nil
}

// RHat is for rows where rejection fails.
func (s *exactSource) RHat(b *data.Batch, rng *Stream) ([]float64, error) {
	rhat := make([]float64, len(b.Rows))
	if !s.domain.Bounded() {
		return rhat, nil
	}
	return rhat, s.each(b, func(i int, row []float64) (err error) {
		rhat[i], err = s.c.rhat(row, rng)
		return err
	})
}

// rhat is 0 unless rejection fails for the row.
func (c *Conditional) rhat(row []float64, rng *Stream) (float64, error) {
	x := slices.Clone(row)
	if _, err := c.Draw(x, rng); err != nil || !c.narrow {
		return 0, err
	}
	return c.chain.rhat(&c.section, x, c.mask, func() error { return c.start(x, rng) }, rng)
}

var errNoRoom = errors.New("no values of its missing cells are inside the domain; check the bounds")

// Conditional draws a normal row's missing cells given its observed ones, on a domain. Call Renew
// after a change of its fields.
type Conditional struct {
	Mean      []float64
	Precision mat.Symmetric
	Domain    *domain.Domain // nil: all of R^d

	mask      []float64
	gaps      []int
	concerned []int
	first     int               // first gap with bounds or half-spaces; these come last
	rows      []float64         // (gaps, d): rows of P
	upper     blas64.Triangular // U of P_mm = UᵀU
	logDet    float64           // log det U
	deviation []float64         // (d): x_o − μ_o, 0 for missing cells
	shift     []float64         // conditional mean minus μ
	y         []float64         // draw minus conditional mean

	section domain.Section
	single  bool             // the section is one half-space over unbounded columns
	cut     domain.HalfSpace // that half-space
	tilt    []float64        // P_mm⁻¹a of it
	narrow  bool             // rejection has failed for the row: draws are ends of chains
	means   []float64        // of the gaps with bounds or half-spaces
	inner   []float64        // a row well inside; empty until needed
	chain   bounces
}

func (c *Conditional) renew() { c.mask = c.mask[:0] }

// tries is the number of rejection draws before chains are used.
const tries = 100

// Condition prepares for a pattern (1 = observed). It fails with losses.ErrNotPositiveDefinite.
func (c *Conditional) Condition(mask []float64) error {
	if len(c.mask) > 0 && slices.Equal(c.mask, mask) {
		return nil
	}
	c.mask = append(c.mask[:0], mask...)
	c.gaps, c.concerned, c.tilt = c.gaps[:0], c.concerned[:0], c.tilt[:0]
	for j, o := range mask {
		switch {
		case o != 0:
		case c.Domain.Bounded() && c.Domain.Concerns(j):
			c.concerned = append(c.concerned, j)
		default:
			c.gaps = append(c.gaps, j)
		}
	}
	c.first = len(c.gaps)
	c.gaps = append(c.gaps, c.concerned...)
	d, m := len(mask), len(c.gaps)
	c.rows, c.upper.Data = c.rows[:0], c.upper.Data[:0]
	for _, j := range c.gaps {
		for k := range d {
			c.rows = append(c.rows, c.Precision.At(j, k))
		}
		for _, k := range c.gaps {
			c.upper.Data = append(c.upper.Data, c.rows[len(c.rows)-d+k])
		}
	}
	if cap(c.deviation) < d {
		c.deviation, c.shift, c.y = make([]float64, d), make([]float64, d), make([]float64, d)
	}
	c.shift, c.y = c.shift[:m], c.y[:m]
	if m == 0 {
		return nil
	}
	// mat.Cholesky would also estimate a condition number, at several times the cost.
	var ok bool
	if c.upper, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: c.upper.Data}); !ok {
		c.renew()
		return losses.ErrNotPositiveDefinite
	}
	c.logDet = 0
	for a := range m {
		c.logDet += math.Log(c.at(a, a))
	}
	return nil
}

// at returns U_ab, a ≤ b.
func (c *Conditional) at(a, b int) float64 { return c.upper.Data[a*c.upper.Stride+b] }

// Given prepares for a row of the current pattern.
func (c *Conditional) Given(row []float64) {
	m, d := len(c.gaps), len(c.mask)
	if m == 0 {
		return
	}
	for k, o := range c.mask {
		if c.deviation[k] = 0; o != 0 {
			c.deviation[k] = row[k] - c.Mean[k]
		}
	}
	for a := range m {
		c.shift[a] = -floats.Dot(c.rows[a*d:a*d+d], c.deviation)
	}
	c.solve(c.shift)
	if c.first == m {
		return
	}
	c.narrow, c.inner = false, nil
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

func (c *Conditional) solve(v []float64) {
	x := blas64.Vector{N: len(v), Inc: 1, Data: v}
	blas64.Trsv(blas.Trans, c.upper, x)
	blas64.Trsv(blas.NoTrans, c.upper, x)
}

// Expect sets missing cells to μ_m − P_mm⁻¹P_mo(x_o − μ_o), ignoring the domain.
func (c *Conditional) Expect(row []float64) {
	c.Given(row)
	for a, j := range c.gaps {
		row[j] = c.expected(a)
	}
}

// Draw fills the missing cells of row and returns the log density of the draw, on a domain up to a
// constant of the row (the mass inside). Call Given first. With P_mm = UᵀU the draw is the mean
// plus U⁻¹z, z standard normal; restricted to
//
//   - one half-space over unbounded columns: aᵀx from its truncated normal and the rest moved along P_mm⁻¹a, exactly;
//   - one bounded column: from its truncated normal, then the others exactly;
//   - any other set: the constrained columns by rejection, exactly; after rejection failed once for the row, by ends of chains (bounces); then the others exactly.
func (c *Conditional) Draw(row []float64, rng *Stream) (log float64, err error) {
	m := len(c.gaps)
	switch {
	case m == 0:
		return 0, nil
	case c.first == m:
		return c.unrestricted(row, m, rng), nil
	case c.single:
		return c.unrestricted(row, m, rng) + c.move(row, rng.Rand), nil
	}
	if err := c.drawConcerned(row, rng); err != nil {
		return 0, err
	}
	for b, j := range c.gaps[c.first:] {
		c.y[c.first+b] = row[j] - c.expected(c.first+b)
	}
	for a := c.first; a < m; a++ {
		z := c.at(a, a)*c.y[a] + c.later(a)
		log -= 0.5*z*z + halfLog2Pi
	}
	return log + c.unrestricted(row, c.first, rng), nil
}

func (c *Conditional) expected(b int) float64 { return c.Mean[c.gaps[b]] + c.shift[b] }

func (c *Conditional) unrestricted(row []float64, first int, rng *Stream) (log float64) {
	rng.Normals(c.y[:first])
	log = c.logDet - float64(first)*halfLog2Pi - 0.5*floats.Dot(c.y[:first], c.y[:first])
	for a := first - 1; a >= 0; a-- {
		c.y[a] = (c.y[a] - c.later(a)) / c.at(a, a)
		row[c.gaps[a]] = c.expected(a) + c.y[a]
	}
	return log
}

// later returns the contribution of the gaps after a to element a of Uy.
func (c *Conditional) later(a int) float64 {
	n := c.upper.Stride
	return floats.Dot(c.upper.Data[a*n+a+1:a*n+n], c.y[a+1:])
}

// move moves an unrestricted draw into the half-space.
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

// drawConcerned draws the gaps with bounds or half-spaces.
func (c *Conditional) drawConcerned(row []float64, rng *Stream) error {
	if len(c.gaps)-c.first == 1 && len(c.section.Cuts) == 0 {
		c.sequence(row, rng.Rand, true)
		return nil
	}
	if !c.narrow {
		for range tries {
			if c.sequence(row, rng.Rand, false) && c.section.Contains(row, c.mask) {
				return nil
			}
		}
		c.prepareChain()
	}
	if err := c.start(row, rng); err != nil {
		return err
	}
	for range paths {
		c.chain.move(&c.section, row, c.mask, rng)
	}
	return nil
}

// sequence draws the constrained gaps in order, each given the previous ones, truncated or not;
// false at the first value out of bounds.
func (c *Conditional) sequence(row []float64, rng *rand.Rand, truncated bool) bool {
	for a := len(c.gaps) - 1; a >= c.first; a-- {
		j := c.gaps[a]
		low, high := c.section.Lower[j], c.section.Upper[j]
		sd := 1 / c.at(a, a)
		mean, z := c.expected(a)-c.later(a)*sd, rng.NormFloat64()
		if row[j] = mean + sd*z; truncated {
			row[j] = min(max(mean+sd*truncnorm.Transport(z, (low-mean)/sd, (high-mean)/sd), low), high)
		}
		if row[j] < low || row[j] > high {
			return false
		}
		c.y[a] = row[j] - c.expected(a)
	}
	return true
}

// prepareChain sets the distribution from the last block of P_mm = UᵀU.
func (c *Conditional) prepareChain() {
	m, f, u := len(c.gaps), c.first, c.upper
	c.narrow, c.means = true, c.means[:0]
	for a := f; a < m; a++ {
		c.means = append(c.means, c.expected(a))
	}
	u.N, u.Data = m-f, u.Data[f*u.Stride+f:]
	c.chain.in(&c.section, c.gaps[f:], c.means, u)
}

// start returns a sequential draw if that is inside, else a point well inside.
func (c *Conditional) start(row []float64, rng *Stream) error {
	if c.sequence(row, rng.Rand, true) && c.section.Contains(row, c.mask) {
		return nil
	}
	if c.inner == nil {
		var ok bool
		if c.inner, ok = c.Domain.Interior(row, c.mask); !ok {
			return errNoRoom
		}
	}
	for _, j := range c.gaps[c.first:] {
		row[j] = c.inner[j]
	}
	return nil
}
