package debias

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/losses"
)

// rows are a table's rows by pattern, with δ̂ = E[x − μ | x_o] under N(μ, Σ), P = Σ⁻¹
// (docs/theory/inference.md#eq-pattern).
type rows struct {
	d        int
	mu       []float64
	p, sigma []float64 // (d, d)
	patterns []pattern
	of       []int     // by row: its pattern
	weight   []float64 // by row: multiplicity or sampling weight
	total    float64   // Σ weight
	delta    []float64 // (rows, d): δ̂
}

// pattern is a set of missing columns, with
//
//	C = P_mm⁻¹, 0 elsewhere,   W = I − CP, 0 in the columns of m,   Σ̃ = Σ − C
type pattern struct {
	gaps        []int
	c           []float64 // C on the gaps (m, m)
	first, last int       // its rows
	share       float64   // of the total weight
}

func newRows(multiply graph.Product[float64], t *data.Table, mu []float64, p mat.Symmetric) (*rows, error) {
	d := len(mu)
	var inverse mat.SymDense
	var c mat.Cholesky
	if !c.Factorize(p) || c.InverseTo(&inverse) != nil {
		return nil, losses.ErrNotPositiveDefinite
	}
	o := &rows{d: d, mu: mu, p: mat.DenseCopyOf(p).RawMatrix().Data, sigma: mat.DenseCopyOf(&inverse).RawMatrix().Data}
	o.of, o.weight, o.delta = make([]int, 0, t.N), make([]float64, 0, t.N), make([]float64, 0, t.N*d)
	for _, group := range t.Patterns(t.AllRows()) {
		q := pattern{first: len(o.of)}
		observed := t.Observed[group[0]*d : (group[0]+1)*d]
		for j, seen := range observed {
			if !seen {
				q.gaps = append(q.gaps, j)
			}
		}
		if len(q.gaps) == d {
			continue
		}
		var ok bool
		if q.c, ok = o.conditional(q.gaps); !ok {
			return nil, losses.ErrNotPositiveDefinite
		}
		for _, i := range group {
			w := t.Weight(i)
			o.of, o.weight, q.share = append(o.of, len(o.patterns)), append(o.weight, w), q.share+w
			for j, seen := range observed {
				z := 0.0
				if seen {
					z = t.Values[i*d+j] - mu[j]
				}
				o.delta = append(o.delta, z)
			}
		}
		q.last = len(o.of)
		o.total += q.share
		o.patterns = append(o.patterns, q)
	}
	for k := range o.patterns {
		o.patterns[k].share /= o.total
	}
	o.fill(multiply, o.delta, o.of)
	return o, nil
}

// conditional returns P_mm⁻¹ (m, m); ok is false if P_mm is not positive definite.
func (o *rows) conditional(gaps []int) (c []float64, ok bool) {
	m := len(gaps)
	c = make([]float64, m*m)
	for a, j := range gaps {
		for b, k := range gaps {
			c[a*m+b] = o.p[j*o.d+k]
		}
	}
	if m == 0 {
		return c, true
	}
	if !graph.Factor(c, m, m) || !graph.InvertFactor(c, m, m) {
		return nil, false
	}
	for a := range m {
		for b := range a {
			c[b*m+a] = c[a*m+b]
		}
	}
	return c, true
}

// fill sets z, rows with these patterns, to W z.
func (o *rows) fill(multiply graph.Product[float64], z []float64, patterns []int) {
	d, first := o.d, 0
	for of := range slices.Chunk(patterns, rowsTogether) {
		part := z[first*d : (first+len(of))*d]
		first += len(of)
		for i, k := range of {
			for _, j := range o.patterns[k].gaps {
				part[i*d+j] = 0
			}
		}
		pz := o.times(multiply, part)
		for i, k := range of {
			q := &o.patterns[k]
			m := len(q.gaps)
			for a, j := range q.gaps {
				for b, l := range q.gaps {
					part[i*d+j] -= q.c[a*m+b] * pz[i*d+l]
				}
			}
		}
	}
}

const rowsTogether = 4096 // bounds the memory of a product

func (o *rows) times(multiply graph.Product[float64], z []float64) []float64 {
	out := make([]float64, len(z))
	multiply(false, false, len(z)/o.d, o.d, o.d, z, o.p, out)
	return out
}

func (q *pattern) add(a []float64, w float64, d int) {
	m := len(q.gaps)
	for i, j := range q.gaps {
		for k, l := range q.gaps {
			a[j*d+l] += w * q.c[i*m+k]
		}
	}
}

// spread returns Σ̃ of a pattern.
func (o *rows) spread(q *pattern) *mat.SymDense {
	s := slices.Clone(o.sigma)
	q.add(s, -1, o.d)
	return mat.NewSymDense(o.d, s)
}

// residual returns C and W of a pattern.
func (o *rows) residual(q *pattern) (c *mat.SymDense, w *mat.Dense) {
	d := o.d
	c, w = mat.NewSymDense(d, nil), mat.NewDense(d, d, nil)
	q.add(c.RawSymmetric().Data, 1, d)
	w.Mul(c, mat.NewDense(d, d, o.p))
	w.Scale(-1, w)
	for j := range d {
		w.Set(j, j, w.At(j, j)+1)
	}
	return c, w
}

// gradients are the rows' gradients with respect to θ = (μ, packed P). For −log p(x_o)
// (docs/theory/inference.md#eq-likelihood):
//
//	∂/∂μ = −Pδ̂,   ∂/∂P = ½(δ̂δ̂ᵀ − Σ̃)
//
// For the marginal loss −2 tr Q + ‖Q(x − μ)_o‖² (docs/theory/inference.md#eq-marginal), with y =
// WPδ̂:
//
//	∂/∂μ = −2Py,   ∂/∂P = −2B + δ̂yᵀ + yδ̂ᵀ
type gradients struct {
	*rows
	equation Equation
}

// visit may change g but must not keep it.
func (g gradients) each(multiply graph.Product[float64], first, last int, visit func(i int, g []float64)) {
	for ; first < last; first += rowsTogether {
		g.block(multiply, first, min(first+rowsTogether, last), visit)
	}
}

func (g gradients) block(multiply graph.Product[float64], first, last int, visit func(i int, g []float64)) {
	d, at := g.d, -1
	delta, scale, speed := g.delta[first*d:last*d], 0.25, 1.
	y := delta
	if g.equation == Marginal {
		y, scale, speed = g.times(multiply, delta), 1, 2
		g.fill(multiply, y, g.of[first:last])
	}
	slope := g.times(multiply, y)
	var constant mat.SymDense
	out := make([]float64, parameters(d))
	for i := first; i < last; i++ {
		if k := g.of[i]; k != at {
			at = k
			if constant.Reset(); g.equation == Likelihood {
				constant.ScaleSym(-0.5, g.spread(&g.patterns[k]))
			} else {
				_, w := g.residual(&g.patterns[k])
				constant.SymOuterK(-2, w)
			}
		}
		row := (i - first) * d
		x, y := delta[row:row+d], y[row:row+d]
		floats.ScaleTo(out[:d], -speed, slope[row:row+d])
		to := d
		for j := range d {
			for k := j; k < d; k++ {
				cell := scale*(x[j]*y[k]+y[j]*x[k]) + constant.At(j, k)
				if j != k {
					cell *= 2
				}
				out[to] = cell
				to++
			}
		}
		visit(i, out)
	}
}
