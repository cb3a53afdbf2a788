package nets

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"missingscore/graph"
)

// conditionalNormal adds, for each of n rows, a draw of the missing cells m given the observed ones
// under N(0, Ω⁻¹), as a function of Ω and of the noise ε:
//
//	δ_m = −Ω_mm⁻¹ Ω_mo r_o + C⁻ᵀ ε_m,   Ω_mm = CCᵀ,   and ½ log det Ω_mm
//
// (docs/theory/imputer.md#eq-imputer-linear). Shapes: r (n, d), 0 where missing; mask (n, d), 1 =
// observed; Ω (d, d); ε (n, d); δ (n, d), 0 where observed; halfLogDet (n, 1). It fails if Ω_mm is
// not positive definite.
func conditionalNormal(b *graph.Builder, r, mask, omega, noise graph.Node) (delta, halfLogDet graph.Node) {
	n, d := graph.Shape(r)
	k := &conditionals{d: d, rows: make([]conditional, n)}
	both := b.Apply(graph.Op{Name: "conditional normal", Rows: n, Cols: d + 1, Kernel: k.draw, Constant: []bool{false, true, false, true},
		Reverse: func(out, g graph.Node) []graph.Node {
			by := func(name string, rows int, kernel graph.Kernel[float64]) graph.Node {
				return b.Apply(graph.Op{Name: name, Rows: rows, Cols: d, Kernel: kernel}, r, omega, out, g)
			}
			return []graph.Node{by("conditional normal by r", n, k.byR), nil, by("conditional normal by Ω", d, k.byOmega), nil}
		}}, r, mask, omega, noise)
	return graph.SomeColumns(b, both, 0, d), graph.SomeColumns(b, both, d, 1)
}

type conditionals struct {
	d    int
	rows []conditional
}

type conditional struct {
	gaps   []int
	factor []float64 // C (m, m), its lower triangle
	mean   []float64 // Ω_mm⁻¹ Ω_mo r_o
	spread []float64 // C⁻ᵀ ε_m
}

func (c *conditional) triangle() blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: len(c.gaps), Stride: len(c.gaps), Data: c.factor}
}

func (c *conditional) solve(t blas.Transpose, v []float64) {
	blas64.Trsv(t, c.triangle(), blas64.Vector{N: len(v), Inc: 1, Data: v})
}

func (k *conditionals) draw(out []float64, in [][]float64) error {
	r, mask, omega, noise := in[0], in[1], in[2], in[3]
	clear(out)
	for i := range k.rows {
		c, from, to := &k.rows[i], i*k.d, out[i*(k.d+1):][:k.d+1] // to: δ, ½ log det Ω_mm
		c.gaps = c.gaps[:0]
		for j, m := range mask[from : from+k.d] {
			if m == 0 {
				c.gaps = append(c.gaps, j)
			}
		}
		m := len(c.gaps)
		c.factor, c.mean, c.spread = c.factor[:0], c.mean[:0], c.spread[:0]
		if m == 0 {
			continue
		}
		for _, j := range c.gaps {
			for _, l := range c.gaps {
				c.factor = append(c.factor, omega[j*k.d+l])
			}
			sum := 0.0
			for l, v := range r[from : from+k.d] {
				sum += omega[j*k.d+l] * v
			}
			c.mean, c.spread = append(c.mean, sum), append(c.spread, noise[from+j])
		}
		if !graph.Factor(c.factor, m, m) {
			return errors.New("the imputer's covariance is not positive definite")
		}
		c.solve(blas.NoTrans, c.mean)
		c.solve(blas.Trans, c.mean)
		c.solve(blas.Trans, c.spread)
		for a, j := range c.gaps {
			to[j] = c.spread[a] - c.mean[a]
			to[k.d] += math.Log(c.factor[a*m+a])
		}
	}
	return nil
}

func (c *conditional) pick(row []float64) []float64 {
	v := make([]float64, len(c.gaps))
	for a, j := range c.gaps {
		v[a] = row[j]
	}
	return v
}

// byR is the gradient with respect to r: −Ω_om Ω_mm⁻¹ g.
func (k *conditionals) byR(out []float64, in [][]float64) error {
	omega, g := in[1], in[3]
	clear(out)
	for i := range k.rows {
		c, from := &k.rows[i], i*k.d
		v := c.pick(g[i*(k.d+1):])
		if len(v) == 0 {
			continue
		}
		c.solve(blas.NoTrans, v)
		c.solve(blas.Trans, v)
		for a, j := range c.gaps {
			for l := range k.d {
				out[from+l] -= omega[j*k.d+l] * v[a]
			}
		}
	}
	return nil
}

// byOmega is the gradient with respect to Ω, summed over rows. With v = Ω_mm⁻¹ g, y the mean, w the
// spread and p = C⁻¹g it is −v rᵀ in the rows of the missing cells, v yᵀ on Ω_mm, plus the gradient
// through C, mapped to Ω_mm (Murray 2016, "Differentiation of the Cholesky decomposition", eq. 9):
// the lower triangle of −w pᵀ, and 1/C_aa of ½ log det Ω_mm = Σ log C_aa.
func (k *conditionals) byOmega(out []float64, in [][]float64) error {
	r, g := in[0], in[3]
	clear(out)
	for i := range k.rows {
		c, from, by := &k.rows[i], i*k.d, g[i*(k.d+1):]
		p := c.pick(by)
		m := len(p)
		if m == 0 {
			continue
		}
		c.solve(blas.NoTrans, p)
		v := append([]float64(nil), p...)
		c.solve(blas.Trans, v)
		byC := make([]float64, m*m)
		for a := range m {
			for e := range a + 1 {
				byC[a*m+e] = -c.spread[a] * p[e]
			}
			byC[a*m+a] += by[k.d] / c.factor[a*m+a]
		}
		through := c.throughFactor(byC)
		for a, j := range c.gaps {
			for l, x := range r[from : from+k.d] {
				out[j*k.d+l] -= v[a] * x
			}
			for e, l := range c.gaps {
				out[j*k.d+l] += v[a]*c.mean[e] + (through[a*m+e]+through[e*m+a])/2
			}
		}
	}
	return nil
}

// throughFactor computes S = C⁻ᵀ Φ C⁻¹ with Φ the lower triangle of CᵀC̄, its diagonal halved: the
// gradient with respect to CCᵀ is (S + Sᵀ)/2.
func (c *conditional) throughFactor(byC []float64) []float64 {
	m := len(c.gaps)
	phi := make([]float64, m*m)
	for a := range m {
		for e := range a + 1 {
			for l := a; l < m; l++ { // C_la = 0 for l < a
				phi[a*m+e] += c.factor[l*m+a] * byC[l*m+e]
			}
		}
		phi[a*m+a] /= 2
	}
	s := blas64.General{Rows: m, Cols: m, Stride: m, Data: phi}
	blas64.Trsm(blas.Left, blas.Trans, 1, c.triangle(), s)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, c.triangle(), s)
	return phi
}
