package debias

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/memory"
)

// Equation is what a step is made for.
type Equation int

const (
	Likelihood Equation = iota // of the observed cells: that of em-exact, and of full on R^d
	Marginal                   // the marginal loss on R^d: exact
	Truncated                  // score matching on a domain, no gaps: full
)

// Problem is a normal distribution fitted to a table, N(Mean, Precision⁻¹), from which a
// step is made.
type Problem struct {
	Table     *data.Table // columns standardised
	Mean      []float64
	Precision mat.Symmetric
	Equation  Equation
	Robust    bool           // errors by the rows; else by the model
	Own       bool           // Likelihood: the rows' own Hessian, right under MAR, as far as they determine it; else the expected one, right under MCAR
	Domain    *domain.Domain // of Truncated
	Weight    domain.Weight  // of Truncated
	Workers   int
	Seed      uint64 // of draws that standard errors of more than 150 columns are from
}

// Estimate is what a step comes to.
type Estimate struct {
	Mean      []float64
	Precision *mat.SymDense // may have a diagonal that is not positive where the rows are few
	Partial   []float64     // partial correlations of pairs j < k, (0,1), (0,2), …; NaN where there is none
	SE        []float64     // their standard errors
	Own       float64       // share of the rows' own Hessian in the likelihood's; 0 where the expected one is used
}

// ErrSingular says that the step has no solution.
var ErrSingular = errors.New("the second derivatives of the loss are singular: the rows do not determine every pair of columns")

// ErrTooManyColumns says that there are too many for the second derivatives of another equation
// than the likelihood.
var ErrTooManyColumns = fmt.Errorf("there are more than %d columns, for which second derivatives are those of --method em-exact only", DirectColumns)

// Step makes one Newton step from θ̂ and gives the standard errors of what it comes to
// (docs/theory/inference.md#eq-one-step),
//
//	θ̃ = θ̂ − H⁻¹ ∇ℓ_n(θ̂),   cov θ̃ = H⁻¹ V H⁻¹ / n
//
// where θ is mean (or η = Pμ) and packed precision. H and V are matrices of that size, d(d+3)/2,
// and their memory is asked for first. With more than 150 columns neither is formed: the step is
// by conjugate gradients, errors are from draws, and Own has no effect. It fails where P is not positive
// definite, by ErrSingular and by ErrTooManyColumns.
func Step(p Problem) (*Estimate, error) {
	large := p.Table.D > DirectColumns
	switch {
	case large && p.Equation != Likelihood:
		return nil, ErrTooManyColumns
	case large:
		if err := p.largeRoom(); err != nil {
			return nil, err
		}
		return p.largeStep()
	}
	if err := p.room(); err != nil {
		return nil, err
	}
	if p.Equation == Truncated {
		return p.truncatedStep()
	}
	n, err := newNormal(p.Mean, p.Precision)
	if err != nil {
		return nil, err
	}
	var m *moments
	if p.Equation == Marginal {
		m, err = marginal(p.Table, n, p.Robust, p.Workers)
	} else {
		m, err = likelihood(p.Table, n, p.Robust, p.Own, p.Workers)
	}
	if err != nil {
		return nil, err
	}
	e := &Estimate{}
	if m.observed != nil {
		if e.Own, err = m.blend(p.Workers); err != nil {
			return nil, err
		}
	}
	h, step, err := m.solve(p.Workers)
	if err != nil {
		return nil, err
	}
	e.Mean, e.Precision = moved(p.Mean, n.p, step)
	return e, e.partial(m, h, p.Robust)
}

// room asks for the memory of the largest step.
func (p Problem) room() error {
	size, d := float64(parameters(p.Table.D)), p.Table.D
	matrices := 5. // H, its factor and inverse, sums of a form
	if p.Robust {
		kept := 2 * float64(p.Table.N) / size // gradients, and what they come to
		if tooMany(p.Table.N, int(size)) {
			kept = 1
		}
		matrices += kept
	}
	if p.Own {
		matrices += 3
	}
	return memory.Check(8*matrices*size*size, "use --inference bootstrap=N", "one step for the %.0f parameters of %d columns", size, d)
}

// truncatedStep is Step on a domain. Where it comes to, a row's gradients are too small, for
// every column's own parameters were fitted to the rows: V is enlarged by n/(n − d − 1), as
// in a regression of a column on the others.
func (p Problem) truncatedStep() (*Estimate, error) {
	d, n := p.Table.D, p.Table.N
	if n <= d+1 {
		return nil, ErrSingular
	}
	precision := mat.NewSymDense(d, nil)
	precision.CopySym(p.Precision)
	var linear mat.VecDense
	linear.MulVec(precision, mat.NewVecDense(d, p.Mean))
	h, step, err := truncated(p.Table, linear.RawVector().Data, precision, p.Domain, p.Weight, false, p.Workers).solve(p.Workers)
	if err != nil {
		return nil, err
	}
	e := &Estimate{}
	eta, precision := moved(linear.RawVector().Data, precision, step)
	m := truncated(p.Table, eta, precision, p.Domain, p.Weight, true, p.Workers)
	var mean mat.VecDense
	if err := mean.SolveVec(precision, mat.NewVecDense(d, eta)); err != nil {
		return nil, ErrSingular
	}
	e.Mean, e.Precision = mean.RawVector().Data, precision
	if err := e.partial(m, h, true); err != nil {
		return nil, err
	}
	floats.Scale(math.Sqrt(float64(n)/float64(n-d-1)), e.SE)
	return e, nil
}

// solve is H, factorised, and H⁻¹ times the mean gradient.
func (m *moments) solve(workers int) (h *factor, step []float64, err error) {
	if h, err = factorise(m.hessian, workers); err != nil {
		return nil, nil, err
	}
	if step, err = h.solve(m.gradient); err == nil && floats.HasNaN(step) {
		err = ErrSingular
	}
	return h, step, err
}

// moved is where a step against a gradient ends.
func moved(location []float64, p *mat.SymDense, step []float64) (to []float64, q *mat.SymDense) {
	d := len(location)
	to = floats.SubTo(make([]float64, d), location, step[:d])
	q = graph.Unpack(d, step[d:])
	q.ScaleSym(-1, q)
	q.AddSym(p, q)
	return to, q
}

// ownFloor is the least share of the expected information, in every direction, that the
// rows' own Hessian may leave.
const ownFloor = 0.1

// blend makes the Hessian the rows' own, as far as that is determined: the largest share w of
// 1, ¾, ½, ¼ and 0 for which
//
//	w H_own + (1 − w) H_expected − ownFloor H_expected
//
// is positive definite. Far from the maximum, or with few rows for so many parameters, the own
// one need not be so.
func (m *moments) blend(workers int) (share float64, err error) {
	size := m.hessian.SymmetricDim()
	for share = 1; share > 0; share -= 0.25 {
		h, above := mat.NewSymDense(size, nil), mat.NewSymDense(size, nil)
		for j := range size {
			for k := j; k < size; k++ {
				expected := m.hessian.At(j, k)
				v := share*m.observed.At(j, k) + (1-share)*expected
				h.SetSym(j, k, v)
				above.SetSym(j, k, v-ownFloor*expected)
			}
		}
		_, err := factorise(above, workers)
		if err == nil {
			m.hessian = h
			return share, nil
		}
		if !errors.Is(err, ErrSingular) {
			return 0, err
		}
	}
	return 0, nil
}
