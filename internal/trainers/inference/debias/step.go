package debias

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/memory"
)

// Equation is the estimating equation of a step on R^d.
type Equation int

const (
	Likelihood Equation = iota // of the observed cells: em-exact, full
	Marginal                   // the marginal loss: exact
)

// Problem is N(Mean, Precision⁻¹) fitted to a table, the start of a step.
type Problem struct {
	Table     *data.Table // columns standardised
	Mean      []float64
	Precision mat.Symmetric
	Equation  Equation
	Robust    bool // robust standard errors; else model-based ones, for Likelihood only
	Own       bool // Likelihood: the observed Hessian, valid under MAR, blended with the expected one if needed; else the expected one, valid under MCAR
	Workers   int
	Seed      uint64 // for standard errors with more than DirectColumns columns
}

type Estimate struct {
	Precision  *mat.SymDense // may have a nonpositive diagonal with few rows
	Covariance *mat.SymDense // StepInside only: of θ = (η, P), P packed
	Partial    []float64     // partial correlations of pairs j < k, (0,1), (0,2), …; NaN if undefined
	SE         []float64     // their standard errors
	Own        float64       // Step only: weight of the observed Hessian; 0 for the expected one
	Free       bool          // StepInside only: the root was found with all pairs free; else one step from the start
	tails      tails         // Step only, without Robust
}

const errSingular = noIntervals("the second derivatives of the loss are singular: the rows do not determine every pair of columns")

// DirectColumns is the largest number of columns with factorised second derivatives.
const DirectColumns = 150

var errTooManyColumns = noIntervals(fmt.Sprintf("more than %d columns need second derivatives of Spec.Steps.Method em-exact", DirectColumns))

// Step makes one Newton step from θ̂ and returns it with standard errors
// (docs/theory/inference.md#eq-one-step),
//
//	θ̃ = θ̂ − H⁻¹ ∇ℓ_n(θ̂),   cov θ̃ = H⁻¹ V H⁻¹ / n
//
// where θ is the mean and the packed precision. With more than DirectColumns columns the step uses
// conjugate gradients, standard errors use draws, and Own has no effect. It fails if P is not
// positive definite, with ErrSingular or ErrTooManyColumns.
func Step(p Problem) (*Estimate, error) {
	large := p.Table.D > DirectColumns
	if large && p.Equation != Likelihood {
		return nil, errTooManyColumns
	}
	free, err := p.reserve(large)
	if err != nil {
		return nil, err
	}
	defer free()
	multiply, err := graph.NewProduct()
	if err != nil {
		return nil, err
	}
	o, err := newRows(multiply, p.Table, p.Mean, p.Precision)
	if err != nil {
		return nil, err
	}
	var e *Estimate
	if large {
		e, err = p.largeStep(multiply, o)
	} else {
		e, err = p.directStep(multiply, o)
	}
	if err == nil && !p.Robust {
		e.tails = o.tails(multiply, p.Table.Weights != nil)
	}
	return e, err
}

func (p Problem) reserve(large bool) (free func(), err error) {
	d, n, workers := float64(p.Table.D), float64(p.Table.N), float64(max(1, p.Workers))
	if large {
		return func() {}, memory.Check(8*((workers+1)*(12*d*d+3*n*d)+(errorDraws+n)*d*d), "use Spec.Inference bootstrap=N", "one step for %.0f columns", d)
	}
	size, triangles := float64(parameters(p.Table.D)), 1.
	if p.Own { // observed and blended
		triangles = 3
	}
	return memory.Held(4 * size * size * triangles), memory.Check(8*size*(triangles*size/2+2*formTogether+blockWidth*3*max(2, workers)), "use Spec.Inference bootstrap=N", "one step for the %.0f parameters of %d columns", size, p.Table.D)
}

func (p Problem) directStep(multiply graph.Product[float64], o *rows) (*Estimate, error) {
	m, err := p.moments(multiply, o)
	if err != nil {
		return nil, err
	}
	e := &Estimate{}
	if p.Own {
		if e.Own, err = m.blend(); err != nil {
			return nil, err
		}
	}
	h := m.hessian
	if err := h.factorise(); err != nil {
		return nil, err
	}
	step, err := h.solve(m.gradient)
	if err != nil {
		return nil, err
	}
	if floats.HasNaN(step) {
		return nil, errSingular
	}
	e.Precision = graph.Unpack(o.d, step[o.d:])
	e.Precision.ScaleSym(-1, e.Precision)
	e.Precision.AddSym(p.Precision, e.Precision)
	contrasts := e.contrasts()
	var variances []float64
	if p.Robust {
		variances, err = p.rowVariances(gradients{o, p.Equation}, h, contrasts)
	} else {
		variances, err = m.variances(contrasts)
	}
	e.errors(contrasts, variances)
	return e, err
}

// ownFloor is the least share of the expected information that the observed Hessian must keep.
const ownFloor = 0.1

// blend replaces the Hessian by w H_own + (1 − w) H_expected with the largest w of 1, ¾, ½, ¼ and 0
// for which
//
//	w H_own + (1 − w) H_expected − ownFloor H_expected
//
// is positive definite; it returns w.
func (m *moments) blend() (share float64, err error) {
	above := newTriangle(m.hessian.n, m.hessian.workers)
	for share = 1; share > 0; share -= 0.25 {
		for _, p := range above.panels {
			clear(p.cells)
		}
		above.addScaled(1-ownFloor, m.hessian)
		above.addScaled(share, m.own)
		if err = above.factorise(); !errors.Is(err, errSingular) {
			break
		}
	}
	if share == 0 {
		return 0, nil
	}
	m.hessian.addScaled(share, m.own)
	m.own = nil
	return share, err
}

// variances returns wᵀH⁻¹w/n; with sampling weights n is the effective sample size
// (docs/theory/weights.md#eq-weighted-sandwich).
func (m *moments) variances(contrasts []contrast) (out []float64, err error) {
	h, out := m.hessian, make([]float64, len(contrasts))
	err = blocks(h.workers, 0, len(contrasts), func(w *worker, at, count int) {
		x, from := make([]float64, h.n*count), h.n
		for a, c := range contrasts[at : at+count] {
			from = min(from, c.at[0])
			for b, i := range c.at {
				x[i*count+a] += c.w[b]
			}
		}
		h.forward(w, x, count, from)
		for i, value := range x {
			out[at+i%count] += value * value / m.effective
		}
	})
	return out, err
}

// The variance of wᵀH⁻¹g_i over rows, divided by n (docs/theory/weights.md#eq-weighted-sandwich).
func (p Problem) rowVariances(g gradients, h *triangle, contrasts []contrast) ([]float64, error) {
	n, k := len(g.of), len(contrasts)
	sums := make([][]float64, (n+blockWidth-1)/blockWidth) // by block: sums and sums of squares
	err := blocks(h.workers, 0, n, func(w *worker, at, count int) {
		u := make([]float64, h.n*count) // (θ, rows)
		g.each(w.multiply, at, at+count, func(i int, row []float64) {
			weight := 1.0
			if p.Table.Weights != nil {
				weight = g.weight[i]
			}
			for a, v := range row {
				u[a*count+i-at] = weight * v
			}
		})
		h.forward(w, u, count, 0)
		h.backward(w, u, count)
		out := make([]float64, 2*k)
		for i := range count {
			for j, c := range contrasts {
				v := c.w[0]*u[c.at[0]*count+i] + c.w[1]*u[c.at[1]*count+i] + c.w[2]*u[c.at[2]*count+i]
				out[j] += v
				out[k+j] += v * v
			}
		}
		sums[at/blockWidth] = out
	})
	if err != nil {
		return nil, err
	}
	total := make([]float64, 2*k)
	for _, s := range sums {
		floats.Add(total, s)
	}
	variances, rows := total[k:], float64(n)
	for j, sum := range total[:k] {
		variances[j] = (variances[j] - sum*sum/rows) / rows / rows
	}
	return variances, nil
}
