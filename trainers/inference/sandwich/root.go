package sandwich

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/trainers/engine"
)

type root struct {
	factor *mat.LU   // of A there
	se     []float64 // of the free parameters
	damped bool      // A was made stable for a step
	why    string    // it had to be
	saddle bool      // it had to be on the way
}

const (
	rootTolerance = 1e-6 // of a Newton step, in standard errors
	rootSteps     = 60
	jacobians     = 8   // at most, or of few parameters
	derivatives   = 600 // by one of them in all
	longestStep   = 1.0 // in standard errors
	longestMove   = 0.5 // of a parameter, of standardised columns
	dampedStep    = 0.1 // likewise, where the Jacobian had to be damped
	contraction   = 0.3 // that a step with an earlier Jacobian has to make
	halvings      = 10
)

// root goes by Newton's method to the root near the model's parameters and leaves the model there. The Jacobian is made
// again when steps do not shrink. why, if it is not empty, says why there is none.
func (q *equation) root() (r *root, why string, err error) {
	if q.n <= len(q.free) {
		return nil, fmt.Sprintf("%d rows do not determine %d parameters", q.n, len(q.free)), nil
	}
	u, err := q.mean()
	if err != nil {
		return nil, "", err
	}
	for last, saddle, left, k := 0., false, max(jacobians, derivatives/len(q.free)), 0; k < rootSteps; k++ {
		fresh := r == nil
		if fresh {
			if left--; left < 0 {
				break
			}
			if r, why, err = q.linear(); err != nil || why != "" {
				return nil, why, err
			}
		}
		step, size := r.step(u)
		switch {
		case size < rootTolerance && fresh:
			r.saddle = saddle
			return r, r.why, nil
		case size < rootTolerance || !fresh && size > contraction*last:
			r = nil // a Jacobian of where the model is now
			continue
		}
		if u, err = q.along(r, step, size); err != nil {
			return nil, "", err
		}
		if last = size; r.damped {
			r, saddle = nil, true
		}
	}
	return nil, fmt.Sprintf("the estimating equation has no root near the fit: a parameter may be at its boundary. Allow the fit more passes, or take a smaller model for a table of %d rows", q.n), nil
}

// step is A⁻¹u with its size, the largest in standard errors.
func (r *root) step(u []float64) (step []float64, size float64) {
	var solved mat.VecDense
	_ = r.factor.SolveVecTo(&solved, false, mat.NewVecDense(len(u), u)) // of a condition that was looked at
	step = solved.RawVector().Data
	for i, v := range step {
		size = math.Max(size, math.Abs(v)/r.se[i])
	}
	return step, size
}

// along makes a part of a step, no longer than the longest, to where the equation exists and
// the step that the same Jacobian would make from there is no longer than this one: Deuflhard's
// natural monotonicity test. Damped steps have no such test.
func (q *equation) along(r *root, step []float64, size float64) (u []float64, err error) {
	most := dampedStep
	if !r.damped {
		most = longestMove
	}
	length := math.Min(1, most/math.Max(floats.Max(step), -floats.Min(step)))
	if !r.damped {
		length = math.Min(length, longestStep/size)
	}
	for range halvings {
		q.shift(step, -length)
		if u, err = q.mean(); err == nil {
			if _, next := r.step(u); r.damped || next <= size {
				return u, nil
			}
		} else if !engine.Diverged(err) {
			return nil, err
		}
		q.shift(step, length)
		length /= 2
	}
	q.shift(step, -length)
	return q.mean()
}

// shift moves the free parameters by t times a step.
func (q *equation) shift(step []float64, t float64) {
	for i, place := range q.free {
		*parameter(q.of.Model, place) += t * step[i]
	}
}

// linear makes A where the model is, and the standard errors of the parameters there. why
// says why there are none.
func (q *equation) linear() (r *root, why string, err error) {
	a, err := q.jacobian()
	if err != nil {
		return nil, "", err
	}
	r = new(root)
	var ok bool
	if r.why, ok = stabilise(a); !ok {
		return nil, singular, nil
	}
	r.damped = r.why != ""
	r.factor = new(mat.LU)
	r.factor.Factorize(a)
	v, err := q.spread(&scaleEffect{table: q.of.Table})
	if err != nil {
		return nil, "", err
	}
	var half, whole mat.Dense
	if r.factor.SolveTo(&half, false, v) != nil || r.factor.SolveTo(&whole, false, half.T()) != nil {
		return nil, singular, nil
	}
	for i := range q.free {
		s := math.Sqrt(whole.At(i, i) / float64(q.n))
		if !(s > 0) || math.IsInf(s, 0) {
			return nil, singular, nil
		}
		r.se = append(r.se, s)
	}
	return r, "", nil
}

const (
	singular = "the equation's Jacobian is singular: the rows do not determine every parameter. Take a smaller model (fewer components or columns)"
	unstable = "the equation's root near the fit is not a minimum. Allow the fit more passes, or take a smaller model (fewer components or columns)"
)

const (
	leastEigenvalue  = 1e-8 // beside the largest: below it is singular
	dampedEigenvalue = 0.1  // real part after damping
)

// stabilise looks at the eigenvalues of A in the units D of its diagonal, |A_jj|: at a root
// that a fit ends at their real parts are positive. Where one is not, D is added as often as
// it needs for a step that goes downwards, and what is wrong is said; "" where nothing is. It is
// not ok where A has no eigenvalues to look at.
func stabilise(a *mat.Dense) (why string, ok bool) {
	k, _ := a.Dims()
	scaled, unit := mat.NewDense(k, k, nil), make([]float64, k)
	for i := range k {
		unit[i] = math.Sqrt(math.Abs(a.At(i, i)))
	}
	for i := range k {
		for j := range k {
			scaled.Set(i, j, a.At(i, j)/unit[i]/unit[j])
		}
	}
	var e mat.Eigen
	if !engine.Finite(scaled.RawMatrix().Data...) || !e.Factorize(scaled, mat.EigenNone) {
		return singular, false
	}
	least, most := math.Inf(1), 0.
	for _, v := range e.Values(nil) {
		least, most = math.Min(least, real(v)), math.Max(most, math.Hypot(real(v), imag(v)))
	}
	if least >= leastEigenvalue*most {
		return "", true
	}
	for i := range k {
		a.Set(i, i, a.At(i, i)+(dampedEigenvalue-least)*unit[i]*unit[i])
	}
	if least > -leastEigenvalue*most {
		return singular, true
	}
	return unstable, true
}
