package em

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph/model"
	"missingscore/trainers/engine"
)

// SingularError says that a minimisation step has no solution: in the rows as the turn has
// completed them a combination of columns has no variance but rounding, or next to none under
// the penalty.
type SingularError struct {
	Turn        int
	Mean        []float64
	Covariances []float64 // (d, d), of the completed rows
}

func (e *SingularError) Error() string { return e.Unwrap().Error() }

// Unwrap is an *engine.DivergedError of the same turn.
func (e *SingularError) Unwrap() error {
	return &engine.DivergedError{Iteration: e.Turn, What: "precision"}
}

// leastShare is what Put leaves of a column's variance at least.
const leastShare = 1e-10

// Put puts a model to the mean and, but for 1e-10 of each variance that is added for P to be
// there, to the covariances. It is not ok where these are no covariances.
func (e *SingularError) Put(g *model.Gaussian) (ok bool) {
	d := len(e.Mean)
	raised := mat.NewSymDense(d, append([]float64(nil), e.Covariances...))
	for j := range d {
		raised.SetSym(j, j, raised.At(j, j)*(1+leastShare))
	}
	var factor mat.Cholesky
	var p mat.SymDense
	if !factor.Factorize(raised) || factor.InverseTo(&p) != nil && math.IsInf(factor.Cond(), 1) || g.SetPrecision(&p) != nil {
		return false
	}
	g.SetMean(e.Mean)
	return true
}
