package sandwich

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Why a Jacobian is none of a root that can be told of.
const (
	singular = "the equation's Jacobian is singular there: the rows do not determine every parameter. Take a smaller model (fewer components, fewer columns)"
	unstable = "the root of the equation near the fit is none that a fit ends at: there are directions in which it moves away. Allow the fit more passes, or take a smaller model (fewer components, fewer columns)"
)

// Of the Jacobian with ones in its diagonal:
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
	if !finite(scaled) || !e.Factorize(scaled, mat.EigenNone) {
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

// finite tells whether no element is NaN or infinite.
func finite(m mat.Matrix) bool {
	r, c := m.Dims()
	for i := range r {
		for j := range c {
			if v := m.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}
