package sandwich

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/trainers/engine"
)

type root struct {
	factor *mat.LU   // of A there
	se     []float64 // of the free parameters
	damped error     // reason for stabilising A for a step; nil: A is as it was
	saddle bool      // A was stabilised on the way
}

const (
	rootTolerance = 1e-6 // of a Newton step, in standard errors
	rootSteps     = 60
	jacobians     = 8   // evaluations, at most, for few parameters
	derivatives   = 600 // total number of derivatives
	longestStep   = 1.0 // in standard errors
	longestMove   = 0.5 // of a parameter, in standardised units
	dampedStep    = 0.1 // likewise, with a damped Jacobian
	contraction   = 0.3 // required reduction of a step with an old Jacobian
	halvings      = 10
)

// root finds the root near the model's parameters by Newton's method and leaves the model there. It
// fails with noErrors if there is none.
func (q *equation) root() (r *root, err error) {
	if q.n <= len(q.free) {
		return nil, noErrors(fmt.Sprintf("%d rows do not determine %d parameters", q.n, len(q.free)))
	}
	u, err := q.mean(1)
	if err != nil {
		return nil, err
	}
	for last, saddle, left, k := 0., false, max(jacobians, derivatives/len(q.free)), 0; k < rootSteps; k++ {
		fresh := r == nil
		if fresh {
			if left--; left < 0 {
				break
			}
			if r, err = q.linear(); err != nil {
				return nil, err
			}
		}
		step, size := r.step(u)
		switch {
		case size < rootTolerance && fresh:
			r.saddle = saddle
			return r, r.damped
		case size < rootTolerance || !fresh && size > contraction*last:
			r = nil // recompute the Jacobian
			continue
		}
		if u, err = q.along(r, step, size); err != nil {
			return nil, err
		}
		if last = size; r.damped != nil {
			r, saddle = nil, true
		}
	}
	return nil, noErrors(fmt.Sprintf("the estimating equation has no root near the fit: a parameter may be at its boundary. Allow the fit more passes, or take a smaller model for a table of %d rows", q.n))
}

// step returns A⁻¹u and its largest element in standard errors.
func (r *root) step(u []float64) (step []float64, size float64) {
	var solved mat.VecDense
	_ = r.factor.SolveVecTo(&solved, false, mat.NewVecDense(len(u), u)) // the condition was checked
	step = solved.RawVector().Data
	for i, v := range step {
		size = math.Max(size, math.Abs(v)/r.se[i])
	}
	return step, size
}

// along makes a damped Newton step by Deuflhard's natural monotonicity test: the next step with the
// same Jacobian must not be longer. Stabilised steps skip it.
func (q *equation) along(r *root, step []float64, size float64) (u []float64, err error) {
	most := dampedStep
	if r.damped == nil {
		most = longestMove
	}
	length := math.Min(1, most/math.Max(floats.Max(step), -floats.Min(step)))
	if r.damped == nil {
		length = math.Min(length, longestStep/size)
	}
	for range halvings {
		q.shift(step, -length)
		if u, err = q.mean(1); err == nil {
			if _, next := r.step(u); r.damped != nil || next <= size {
				return u, nil
			}
		} else if !engine.Diverged(err) {
			return nil, err
		}
		q.shift(step, length)
		length /= 2
	}
	q.shift(step, -length)
	return q.mean(1)
}

func (q *equation) shift(step []float64, t float64) {
	for i, x := range q.at {
		*x += t * step[i]
	}
}

// linear computes A and the standard errors. It fails with singular.
func (q *equation) linear() (r *root, err error) {
	a, err := q.jacobian()
	if err != nil {
		return nil, err
	}
	r = &root{factor: new(mat.LU)}
	if r.damped, err = stabilise(a); err != nil {
		return nil, err
	}
	r.factor.Factorize(a)
	v, err := q.spread(&scaleEffect{table: q.of.Table})
	if err != nil {
		return nil, err
	}
	var half, whole mat.Dense
	if r.factor.SolveTo(&half, false, v) != nil || r.factor.SolveTo(&whole, false, half.T()) != nil {
		return nil, singular
	}
	for i := range q.free {
		s := math.Sqrt(whole.At(i, i) / float64(q.n))
		if !(s > 0) || math.IsInf(s, 0) {
			return nil, singular
		}
		r.se = append(r.se, s)
	}
	return r, nil
}

const (
	singular = noErrors("the equation's Jacobian is singular: the rows do not determine every parameter. Take a smaller model (fewer components or columns)")
	unstable = noErrors("the equation's root near the fit is not a minimum. Allow the fit more passes, or take a smaller model (fewer components or columns)")
)

const (
	leastEigenvalue  = 1e-8 // relative to the largest; below it A is singular
	dampedEigenvalue = 0.1  // real part after damping
)

// At a minimum the eigenvalues of A scaled by D = |A_jj| have positive real parts. Otherwise
// stabilise adds a multiple of D and returns the reason in why. It fails with singular.
func stabilise(a *mat.Dense) (why, err error) {
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
		return nil, singular
	}
	least, most := math.Inf(1), 0.
	for _, v := range e.Values(nil) {
		least, most = math.Min(least, real(v)), math.Max(most, math.Hypot(real(v), imag(v)))
	}
	if least >= leastEigenvalue*most {
		return nil, nil
	}
	for i := range k {
		a.Set(i, i, a.At(i, i)+(dampedEigenvalue-least)*unit[i]*unit[i])
	}
	if least > -leastEigenvalue*most {
		return singular, nil
	}
	return unstable, nil
}
