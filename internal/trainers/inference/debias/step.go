package debias

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

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

// Problem is a normal distribution N(Mean, Precision⁻¹) fitted to a table, the start of a step.
type Problem struct {
	Table     *data.Table // columns standardised
	Mean      []float64
	Precision mat.Symmetric
	Equation  Equation
	Robust    bool // robust standard errors; else model-based ones
	Own       bool // Likelihood: the observed Hessian, valid under MAR, blended with the expected one if needed; else the expected one, valid under MCAR
	Workers   int
	Seed      uint64 // for standard errors with more than DirectColumns columns
}

// Estimate is the result of a step.
type Estimate struct {
	Precision  *mat.SymDense // may have a nonpositive diagonal with few rows
	Covariance *mat.SymDense // StepInside only: of θ = (η, P), P packed
	Partial    []float64     // partial correlations of pairs j < k, (0,1), (0,2), …; NaN if undefined
	SE         []float64     // their standard errors
	Own        float64       // Step only: weight of the observed Hessian; 0 for the expected one
	Free       bool          // StepInside only: the root was found with all pairs free; else one step from the start
}

// errSingular means that the step has no solution.
var errSingular = errors.New("the second derivatives of the loss are singular: the rows do not determine every pair of columns")

// DirectColumns is the largest number of columns with factorised second derivatives.
const DirectColumns = 150

// errTooManyColumns means too many columns for the second derivatives of the marginal loss.
var errTooManyColumns = fmt.Errorf("more than %d columns need second derivatives of Spec.Steps.Method em-exact", DirectColumns)

// Step makes one Newton step from θ̂ and returns it with standard errors
// (docs/theory/inference.md#eq-one-step),
//
//	θ̃ = θ̂ − H⁻¹ ∇ℓ_n(θ̂),   cov θ̃ = H⁻¹ V H⁻¹ / n
//
// where θ is the mean and the packed precision. H and V have d(d+3)/2 rows; their memory is
// reserved first. With more than DirectColumns columns neither is formed: the step uses conjugate
// gradients, standard errors use draws, and Own has no effect. It fails if P is not positive
// definite, with ErrSingular or ErrTooManyColumns.
func Step(p Problem) (*Estimate, error) {
	large := p.Table.D > DirectColumns
	if large && p.Equation != Likelihood {
		return nil, errTooManyColumns
	}
	if large {
		return p.largeStep()
	}
	size, triangles := float64(parameters(p.Table.D)), 1.
	switch {
	case p.Own: // observed and blended
		triangles = 3
	case p.Equation == Marginal && !p.Robust: // the variance
		triangles = 2
	}
	defer memory.Held(4 * size * size * triangles)()
	if err := memory.Check(8*size*(triangles*size/2+2*formTogether+float64(blockWidth*(1+3*max(2, p.Workers)))), "use Spec.Inference bootstrap=N", "one step for the %.0f parameters of %d columns", size, p.Table.D); err != nil {
		return nil, err
	}
	n, err := newNormal(p.Mean, p.Precision)
	if err != nil {
		return nil, err
	}
	m, err := p.moments(n)
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
	d := p.Table.D
	e.Precision = graph.Unpack(d, step[d:])
	e.Precision.ScaleSym(-1, e.Precision)
	e.Precision.AddSym(n.p, e.Precision)
	contrasts := e.contrasts()
	var variances []float64
	if p.Robust {
		variances, err = p.rowVariances(n, h, contrasts)
	} else {
		variances, err = m.variances(contrasts)
	}
	e.errors(contrasts, variances)
	return e, err
}

// moments are the sums over rows for one step at θ = (μ, packed P).
type moments struct {
	total    float64   // number of rows, or the sum of their weights
	squares  float64   // sum of squared weights; total without weights
	gradient []float64 // mean
	hessian  *triangle // expected under MCAR
	own      *triangle // observed minus expected Hessian; nil unless Problem.Own
	variance *triangle // of a row's gradient under the model; nil: equal to the Hessian, or robust errors
}

// parameters returns the length of θ for d columns.
func parameters(d int) int { return d + d*(d+1)/2 }

// take adds the gradient of a row with a multiplicity or a weight.
func (m *moments) take(count float64, weighted bool, g []float64) {
	floats.AddScaled(m.gradient, count, g)
	m.total += count
	if weighted {
		count *= count
	}
	m.squares += count
}

// ownFloor is the least share of the expected information that the observed Hessian must keep in
// every direction.
const ownFloor = 0.1

// blend replaces the Hessian by w H_own + (1 − w) H_expected with the largest w of 1, ¾, ½, ¼ and 0
// for which
//
//	w H_own + (1 − w) H_expected − ownFloor H_expected
//
// is positive definite, and returns w.
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

// variances returns model-based variances of contrasts of θ̃, wᵀH⁻¹VH⁻¹w/n. With sampling weights n
// is the effective sample size (docs/theory/weights.md#eq-weighted-sandwich).
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
		y := x
		if m.variance != nil {
			h.backward(w, x, count)
			y = m.variance.times(w, x, count)
		}
		for i, value := range x {
			out[at+i%count] += value * y[i] * m.squares / m.total / m.total
		}
	})
	return out, err
}

// rowVariances returns robust variances of contrasts of θ̃: the variance of wᵀH⁻¹g_i over rows,
// divided by n. Gradients have the sampling weights (docs/theory/weights.md#eq-weighted-sandwich).
func (p Problem) rowVariances(n *normal, h *triangle, contrasts []contrast) ([]float64, error) {
	rows, together := 0, blockWidth*max(2, p.Workers)
	sum, squares := make([]float64, len(contrasts)), make([]float64, len(contrasts))
	waiting := make([]float64, 0, together*h.n) // gradients (rows, θ), then H⁻¹ times gradients
	take := func() error {
		count := len(waiting) / h.n
		err := blocks(h.workers, 0, count, func(w *worker, at, count int) {
			u := make([]float64, h.n*count)
			some := waiting[at*h.n : (at+count)*h.n]
			for i, v := range some {
				u[i%h.n*count+i/h.n] = v
			}
			h.forward(w, u, count, 0)
			h.backward(w, u, count)
			for i := range some {
				some[i] = u[i%h.n*count+i/h.n]
			}
		})
		for row := range slices.Chunk(waiting, h.n) {
			for k, c := range contrasts {
				v := c.w[0]*row[c.at[0]] + c.w[1]*row[c.at[1]] + c.w[2]*row[c.at[2]]
				sum[k] += v
				squares[k] += v * v
			}
		}
		rows += count
		waiting = waiting[:0]
		return err
	}
	var failed error
	err := n.eachPattern(p.Table, p.Workers, func(q *pattern) {
		q.gradients(n, p.Equation, func(count float64, g []float64) {
			if p.Table.Weights != nil {
				floats.Scale(count, g)
			}
			if waiting = append(waiting, g...); len(waiting) == cap(waiting) && failed == nil {
				failed = take()
			}
		})
	})
	if failed == nil {
		failed = take()
	}
	total := float64(rows)
	for k := range squares {
		squares[k] = (squares[k] - sum[k]*sum[k]/total) / total / total
	}
	return squares, cmp.Or(err, failed)
}
