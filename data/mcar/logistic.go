package mcar

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// design are rows x (n, p) of a logistic regression, P(y = 1 | x) = 1/(1 + exp(−βᵀx)), with their
// outcomes. The first column is the constant 1.
type design struct {
	n, p int
	x    []float64
	y    []bool
}

const (
	maxNewton   = 100
	newtonLimit = 1e-10 // of what the last step could gain, per row
)

// fit is β that maximises the log likelihood less ½ penalty Σ β_k², k ≥ 1, by Newton's method with
// halved steps. Columns besides the first should be of unit size. Separated outcomes have
// no maximum without a penalty.
func (d design) fit(penalty float64) []float64 {
	beta, next := make([]float64, d.p), make([]float64, d.p)
	gradient, step, scaled, hessian := make([]float64, d.p), make([]float64, d.p), make([]float64, len(d.x)), make([]float64, d.p*d.p)
	value := d.penalised(beta, penalty)
	for range maxNewton {
		d.derivatives(beta, penalty, gradient, scaled, hessian)
		copy(step, gradient)
		factor, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: d.p, Stride: d.p, Data: hessian})
		if !ok { // separated by a constant: no curvature is left
			break
		}
		v := blas64.Vector{N: d.p, Inc: 1, Data: step}
		blas64.Trsv(blas.NoTrans, factor, v)
		blas64.Trsv(blas.Trans, factor, v)
		gain := blas64.Dot(v, blas64.Vector{N: d.p, Inc: 1, Data: gradient})
		moved := false
		for size := 1.0; size > 1e-6 && !moved; size /= 2 {
			for k := range next {
				next[k] = beta[k] + size*step[k]
			}
			if to := d.penalised(next, penalty); to > value {
				value, moved = to, true
				copy(beta, next)
			}
		}
		if !moved || gain < newtonLimit*float64(d.n) {
			break
		}
	}
	return beta
}

func (d design) row(i int) []float64 { return d.x[i*d.p : (i+1)*d.p] }

// penalised is the log likelihood less the penalty.
func (d design) penalised(beta []float64, penalty float64) (sum float64) {
	for i, y := range d.y {
		eta := floats.Dot(beta, d.row(i))
		if !y {
			eta = -eta
		}
		sum -= max(-eta, 0) + math.Log1p(math.Exp(-math.Abs(eta)))
	}
	for _, b := range beta[1:] {
		sum -= penalty / 2 * b * b
	}
	return sum
}

// derivatives fills the gradient and minus the Hessian of penalised; scaled is room for
// the rows times √(p(1−p)).
func (d design) derivatives(beta []float64, penalty float64, gradient, scaled, hessian []float64) {
	clear(gradient)
	for i, y := range d.y {
		row, to := d.row(i), scaled[i*d.p:(i+1)*d.p]
		p := 1 / (1 + math.Exp(-floats.Dot(beta, row)))
		residual := -p
		if y {
			residual = 1 - p
		}
		root := math.Sqrt(p * (1 - p))
		for k, v := range row {
			gradient[k] += residual * v
			to[k] = root * v
		}
	}
	clear(hessian)
	blas64.Syrk(blas.Trans, 1, blas64.General{Rows: d.n, Cols: d.p, Stride: d.p, Data: scaled}, 0,
		blas64.Symmetric{Uplo: blas.Lower, N: d.p, Stride: d.p, Data: hessian})
	for k := 1; k < d.p; k++ {
		gradient[k] -= penalty * beta[k]
		hessian[k*d.p+k] += penalty
	}
	hessian[0] += 1e-12 * float64(d.n) // where every outcome is certain
}
