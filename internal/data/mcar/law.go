package mcar

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/missingness"
)

// lawPenalty penalises a slope's square: a normal prior with sd 5, in sd of the column.
const lawPenalty = 1.0 / 25

// Law estimates a missing-at-random mechanism: for each column that TestBy finds at p < 0.05,
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
	room := max(1, w.rarer(j)/perTerm)
	chosen := predictors(single[:min(room, len(single))])
	slices.Sort(chosen)
	return chosen
}

// regress fills slope (d) with column j's law and returns its intercept.
func (w *work) regress(j int, predictors []int, slope []float64) (intercept float64) {
	_, yx := w.design(&joint{column: j, predictors: predictors}, w.fill(predictors))
	n, _ := yx.Dims()
	y := mat.Col(nil, 0, yx)
	for i := range n { // y makes room for the constant
		yx.Set(i, 0, 1)
	}
	beta := logistic(yx, y, lawPenalty)
	for a, k := range predictors {
		slope[k] = beta.AtVec(1 + a)
	}
	return beta.AtVec(0)
}

const (
	maxNewton   = 100
	newtonLimit = 1e-10 // maximum gain of the last step, per row
)

// logistic maximises the log-likelihood − ½ penalty Σ β_k², k ≥ 1, of P(y = 1 | x) = 1/(1 + exp(−βᵀx))
// by Newton's method with step halving, for rows x (n, p) whose column 0 is 1, and y 0 or 1.
// Separated outcomes have no maximum without a penalty.
func logistic(x *mat.Dense, y []float64, penalty float64) *mat.VecDense {
	n, p := x.Dims()
	beta, next, residual := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil), mat.NewVecDense(n, nil)
	scaled, hessian := mat.NewDense(n, p, nil), mat.NewSymDense(p, nil)
	var eta, gradient, step mat.VecDense
	var factor mat.Cholesky
	value := penalised(x, y, beta, penalty)
	for range maxNewton {
		eta.MulVec(x, beta)
		for i := range n {
			share := 1 / (1 + math.Exp(-eta.AtVec(i)))
			residual.SetVec(i, y[i]-share)
			floats.ScaleTo(scaled.RawRowView(i), math.Sqrt(share*(1-share)), x.RawRowView(i))
		}
		gradient.MulVec(x.T(), residual)
		hessian.SymOuterK(1, scaled.T())
		for k := 1; k < p; k++ {
			gradient.SetVec(k, gradient.AtVec(k)-penalty*beta.AtVec(k))
			hessian.SetSym(k, k, hessian.At(k, k)+penalty)
		}
		hessian.SetSym(0, 0, hessian.At(0, 0)+1e-12*float64(n))                       // if every outcome is certain
		if !factor.Factorize(hessian) || factor.SolveVecTo(&step, &gradient) != nil { // no curvature is left
			break
		}
		moved := false
		for size := 1.0; size > 1e-6 && !moved; size /= 2 {
			next.AddScaledVec(beta, size, &step)
			if to := penalised(x, y, next, penalty); to > value {
				value, moved = to, true
				beta.CopyVec(next)
			}
		}
		if !moved || mat.Dot(&step, &gradient) < newtonLimit*float64(n) {
			break
		}
	}
	return beta
}

func penalised(x *mat.Dense, y []float64, beta *mat.VecDense, penalty float64) (sum float64) {
	for i, v := range y {
		eta := (2*v - 1) * floats.Dot(beta.RawVector().Data, x.RawRowView(i))
		sum -= max(-eta, 0) + math.Log1p(math.Exp(-math.Abs(eta)))
	}
	for _, b := range beta.RawVector().Data[1:] {
		sum -= penalty / 2 * b * b
	}
	return sum
}
