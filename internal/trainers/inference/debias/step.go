package debias

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/memory"
	"missingscore/internal/panics"
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
// positive definite, with errSingular or errTooManyColumns.
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
	size, squares := float64(parameters(p.Table.D)), 1.
	if p.Own { // observed and blended
		squares = 3
	}
	return memory.Held(8 * size * size * squares), memory.Check(8*size*(squares*(size+2*formTogether)+2*blockRows*workers), "use Spec.Inference bootstrap=N", "one step for the %.0f parameters of %d columns", size, p.Table.D)
}

func (p Problem) directStep(multiply graph.Product[float64], o *rows) (*Estimate, error) {
	m, e := p.moments(multiply, o), &Estimate{}
	if p.Own {
		e.Own = m.blend()
	}
	if !m.invert() {
		return nil, errSingular
	}
	step := make([]float64, len(m.gradient))
	multiply(false, false, len(step), 1, len(step), m.hessian, m.gradient, step)
	if floats.HasNaN(step) {
		return nil, errSingular
	}
	e.Precision = graph.Unpack(o.d, step[o.d:])
	e.Precision.ScaleSym(-1, e.Precision)
	e.Precision.AddSym(p.Precision, e.Precision)
	contrasts := e.contrasts()
	if p.Robust {
		e.errors(contrasts, p.rowVariances(gradients{o, p.Equation}, m.hessian, contrasts))
	} else {
		e.errors(contrasts, variances(contrasts, mat.NewSymDense(len(step), m.hessian), 1/m.effective))
	}
	return e, nil
}

// ownFloor is the least share of the expected information that the observed Hessian must keep.
const ownFloor = 0.1

// blend replaces the Hessian by w H_own + (1 − w) H_expected with the largest w of 1, ¾, ½, ¼ and 0
// for which
//
//	w H_own + (1 − w) H_expected − ownFloor H_expected
//
// is positive definite; it returns w.
func (m *moments) blend() (share float64) {
	size, above := len(m.gradient), make([]float64, len(m.hessian))
	for share = 1; share > 0; share -= 0.25 {
		floats.ScaleTo(above, 1-ownFloor, m.hessian)
		floats.AddScaled(above, share, m.own)
		if graph.Factor(above, size, size) {
			break
		}
	}
	floats.AddScaled(m.hessian, share, m.own)
	m.own = nil
	return share
}

// invert replaces the Hessian by its inverse, in both triangles; ok is false if it is not positive
// definite.
func (m *moments) invert() (ok bool) {
	h, size := m.hessian, len(m.gradient)
	if !graph.Factor(h, size, size) || !graph.InvertFactor(h, size, size) {
		return false
	}
	for j := range size {
		for k := range j {
			h[k*size+j] = h[j*size+k]
		}
	}
	return true
}

// The variance of wᵀH⁻¹g_i over rows, divided by n (docs/theory/weights.md#eq-weighted-sandwich).
func (p Problem) rowVariances(g gradients, inverse []float64, contrasts []contrast) []float64 {
	n, k, size := len(g.of), len(contrasts), parameters(g.d)
	sums := make([][]float64, (n+blockRows-1)/blockRows) // by block: sums and sums of squares
	blocks(p.Workers, n, func(multiply graph.Product[float64], at, count int) {
		rows, steps := make([]float64, count*size), make([]float64, count*size)
		g.each(multiply, at, at+count, func(i int, row []float64) {
			weight := 1.0
			if p.Table.Weights != nil {
				weight = g.weight[i]
			}
			floats.ScaleTo(rows[(i-at)*size:(i-at+1)*size], weight, row)
		})
		multiply(false, false, count, size, size, rows, inverse, steps)
		out := make([]float64, 2*k)
		for i := range count {
			step := steps[i*size : (i+1)*size]
			for j, c := range contrasts {
				v := c.w[0]*step[c.at[0]] + c.w[1]*step[c.at[1]] + c.w[2]*step[c.at[2]]
				out[j] += v
				out[k+j] += v * v
			}
		}
		sums[at/blockRows] = out
	})
	total := make([]float64, 2*k)
	for _, s := range sums {
		floats.Add(total, s)
	}
	variances, rows := total[k:], float64(n)
	for j, sum := range total[:k] {
		variances[j] = (variances[j] - sum*sum/rows) / rows / rows
	}
	return variances
}

const blockRows = 256

// blocks calls do for blocks of 0 … end − 1, which do not depend on the number of workers.
func blocks(workers, end int, do func(multiply graph.Product[float64], at, count int)) {
	if err := each(workers, (end+blockRows-1)/blockRows, func(multiply graph.Product[float64], task int) error {
		do(multiply, task*blockRows, min(blockRows, end-task*blockRows))
		return nil
	}); err != nil {
		panic(err)
	}
}

// Results of each do not depend on scheduling.
func each(workers, tasks int, do func(multiply graph.Product[float64], task int) error) error {
	return panics.Each(context.Background(), workers, tasks, func() (func(context.Context, int) error, error) {
		multiply, err := graph.NewProduct()
		return func(_ context.Context, task int) error { return do(multiply, task) }, err
	}, nil)
}
