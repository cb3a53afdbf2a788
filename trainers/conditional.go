package trainers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/losses"
)

// exactSource draws from a Gaussian model's own conditional,
// N(μ_m − P_mm⁻¹P_mo(x_o − μ_o), P_mm⁻¹). Rows with one pattern that follow each
// other share its factor.
type exactSource struct {
	r     int
	model *graph.Gaussian
	c     Conditional
}

func newExact(s Setting) (Source, error) {
	g, err := asGaussian(s.Model, "the exact conditional")
	return &exactSource{r: s.Draws, model: g}, err
}

// Complete implements Source.
func (s *exactSource) Complete(b *data.Batch, x, logProposal []float64, rng *rand.Rand) error {
	repeat(b, s.r, x)
	s.c = Conditional{Mean: s.model.Mean(), Precision: s.model.Precision()}
	for i, row := range b.Rows {
		mask := b.Mask[i*b.D : (i+1)*b.D]
		if err := s.c.Condition(mask); err != nil {
			return fmt.Errorf("row %d of the table: %w", row+1, err)
		}
		for k := i * s.r; k < (i+1)*s.r; k++ {
			logProposal[k] = s.c.Draw(x[k*b.D:(k+1)*b.D], rng)
		}
	}
	return nil
}

// Conditional is the distribution of a normal row's missing cells given its
// observed ones.
type Conditional struct {
	Mean      []float64
	Precision *mat.SymDense

	mask           []float64
	observed, gaps []int
	chol           mat.Cholesky // of P_mm
	upper          mat.TriDense
	half, z        []float64
}

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
	c.half, c.z = make([]float64, m), make([]float64, m)
	return nil
}

// Expect sets the missing cells of row to their conditional mean
// μ_m − P_mm⁻¹P_mo(x_o − μ_o).
func (c *Conditional) Expect(row []float64) {
	if len(c.gaps) == 0 {
		return
	}
	for a, j := range c.gaps {
		c.half[a] = 0
		for _, k := range c.observed {
			c.half[a] -= c.Precision.At(j, k) * (row[k] - c.Mean[k])
		}
	}
	v := mat.NewVecDense(len(c.gaps), c.half)
	if err := c.chol.SolveVecTo(v, v); err != nil && !isCondition(err) {
		panic(err) // the factor exists: only its condition number can be complained of
	}
	for a, j := range c.gaps {
		row[j] = c.Mean[j] + c.half[a]
	}
}

func isCondition(err error) bool { _, ok := err.(mat.Condition); return ok }

// Draw fills the missing cells of row and returns the log density of the draw.
// With P_mm = UᵀU it is the mean plus U⁻¹z, z standard normal.
func (c *Conditional) Draw(row []float64, rng *rand.Rand) (log float64) {
	m := len(c.gaps)
	if m == 0 {
		return 0
	}
	c.Expect(row)
	for a := range c.z {
		c.z[a] = rng.NormFloat64()
		log -= 0.5*c.z[a]*c.z[a] + halfLog2Pi - math.Log(c.upper.At(a, a))
	}
	for a := m - 1; a >= 0; a-- {
		v := c.z[a]
		for b := a + 1; b < m; b++ {
			v -= c.upper.At(a, b) * c.z[b]
		}
		c.z[a] = v / c.upper.At(a, a)
		row[c.gaps[a]] += c.z[a]
	}
	return log
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
