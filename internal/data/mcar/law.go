package mcar

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"missingscore/data"
	"missingscore/data/missingness"
)

// lawPenalty penalises a slope's square: a normal prior with sd 5, in sd of the column.
const lawPenalty = 1.0 / 25

// Law estimates a missing-at-random mechanism: for each column that Test finds at p < 0.05,
// uncorrected, a logistic regression of "it is observed" on the other columns, imputed by
// conditional means; nil if there is no such column. Predictors are all other columns, or the
// significant ones (Bonferroni) with fewer than ten rows of the rarer kind for each term.
func Law(t *data.Table) *missingness.Model {
	at := withGaps(t)
	if at == nil || t.Counted != nil {
		return nil
	}
	z, scale := data.Standardise(t)
	w := newWork(z, z.N)
	law := missingness.NewLogistic(t.D)
	found := false
	for a, c := range w.tests(1, at) {
		if !(c.P < level) {
			continue
		}
		found = true
		j := at[a]
		predictors := w.lawPredictors(j, c.Joint)
		law.Intercept[j] = w.regress(j, predictors, law.Slope.RawRowView(j))
	}
	if !found {
		return nil
	}
	for j := range t.D { // from z to x
		row := law.Slope.RawRowView(j)
		floats.Div(row, scale.Deviation)
		if law.Concerns(j) {
			law.Intercept[j] -= floats.Dot(row, scale.Mean)
		}
	}
	return &missingness.Model{Logistic: law, Estimated: true}
}

// lawPredictors returns the columns with slopes in column j's law.
func (w *work) lawPredictors(j int, joint bool) []int {
	single := w.single(j)
	if joint {
		return predictors(single)
	}
	slices.SortStableFunc(single, func(a, b association) int { return cmp.Compare(b.square, a.square) })
	n := len(single)
	single = slices.DeleteFunc(single, func(a association) bool { return float64(n)*survival(a.square) >= level })
	missing := missing(w.table, j)
	room := max(1, min(missing, w.table.N-missing)/perTerm)
	chosen := predictors(single[:min(room, len(single))])
	slices.Sort(chosen)
	return chosen
}

// regress fills slope (d) with column j's law and returns its intercept.
func (w *work) regress(j int, predictors []int, slope []float64) (intercept float64) {
	_, yx := w.design(&joint{column: j, predictors: predictors}, w.fill(predictors))
	n, p := yx.Dims()
	d := design{n: n, p: p, x: yx.RawMatrix().Data}
	for i := 0; i < len(d.x); i += p { // y makes room for the constant
		d.y = append(d.y, d.x[i] == 1)
		d.x[i] = 1
	}
	beta := d.fit(lawPenalty)
	for a, k := range predictors {
		slope[k] = beta[1+a]
	}
	return beta[0]
}

// design has rows x (n, p) and outcomes y, P(y = 1 | x) = 1/(1 + exp(−βᵀx)); column 0 is 1.
type design struct {
	n, p int
	x    []float64
	y    []bool
}

const (
	maxNewton   = 100
	newtonLimit = 1e-10 // maximum gain of the last step, per row
)

// fit maximises the log-likelihood − ½ penalty Σ β_k², k ≥ 1, by Newton's method with step halving.
// Separated outcomes have no maximum without a penalty.
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

// derivatives fills the gradient and the negative Hessian of penalised.
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
	hessian[0] += 1e-12 * float64(d.n) // if every outcome is certain
}
