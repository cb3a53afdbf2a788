package mcar

import (
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"missingscore/data/completion"
)

// joint is the p of column j by all its predictors together; false where there are too
// few rows for it.
func (w *work) joint(j int, predictors []int) (p float64, ok bool) {
	missing := missing(w.table, j)
	if min(missing, w.table.N-missing) < perTerm*len(predictors) {
		return 0, false
	}
	gaps := w.patterns(predictors)
	if min(missing, w.table.N-missing) < perTerm*(len(gaps)+len(predictors)) {
		return 0, false
	}
	seen, nuisance, x := w.design(j, predictors, gaps)
	return robustScore(seen, nuisance, x), true
}

// robustScore is the p of a score test of b = 0 in E[y] = Na + Xb with the variance of
// its rows (White 1980): e and X* what is left of y (n) and X (n, q) after regression on
// N (n, m), u_i = e_i x*_i,
//
//	S = (Σ u_i)ᵀ (Σ u_i u_iᵀ)⁻¹ (Σ u_i),   S/ν ~ Beta(q/2, (ν − q)/2),   ν = n − m + 1
//
// which is F(q, ν − q) for (ν − q)/q · S/(ν − S), as of a Hotelling's T². It holds whatever
// the variance of y and X given N. Columns that others make up count as predictors that tell nothing.
func robustScore(y *mat.Dense, nuisance, x *mat.Dense) float64 {
	n, m := nuisance.Dims()
	_, q := x.Dims()
	e, rest := residuals(nuisance, y), residuals(nuisance, x)
	sum := make([]float64, q)
	for i := range n {
		row := rest.RawRowView(i)
		for k := range row {
			row[k] *= e.At(i, 0)
			sum[k] += row[k]
		}
	}
	v := mat.NewSymDense(q, nil)
	v.SymOuterK(1, rest.T())
	for k := range q {
		v.SetSym(k, k, v.At(k, k)*(1+sumRidge)+sumRidge)
	}
	var factor mat.Cholesky
	var solved mat.VecDense
	u := mat.NewVecDense(q, sum)
	if !factor.Factorize(v) || factor.SolveVecTo(&solved, u) != nil {
		return 1
	}
	nu, freedom := float64(n-m+1), float64(q)
	return mathext.RegIncBeta((nu-freedom)/2, freedom/2, max(1-mat.Dot(u, &solved)/nu, 0))
}

const sumRidge = 1e-9 // of what a column counts: for columns that are sums of others

// residuals are what is left of the columns of y after least squares on those of x.
func residuals(x, y *mat.Dense) *mat.Dense {
	_, m := x.Dims()
	var cross, fitted mat.Dense
	gram := mat.NewSymDense(m, nil)
	gram.SymOuterK(1, x.T())
	for k := range m {
		gram.SetSym(k, k, gram.At(k, k)*(1+sumRidge))
	}
	cross.Mul(x.T(), y)
	var factor mat.Cholesky
	out := mat.DenseCopyOf(y)
	if factor.Factorize(gram) && factor.SolveTo(&cross, &cross) == nil {
		fitted.Mul(x, &cross)
		out.Sub(out, &fitted)
	}
	return out
}

// design has a row for each of the table's that has one of the predictors: whether it has
// column j, the constant and whether it has each column of gaps, and the predictors, filled.
func (w *work) design(j int, predictors, gaps []int) (seen, nuisance, x *mat.Dense) {
	filled := w.filled(predictors)
	q := len(predictors)
	indicator := func(i, k int) float64 {
		if w.seen(i, k) {
			return 1
		}
		return 0
	}
	var y, g, v []float64
	for i := range w.table.N {
		if !slices.ContainsFunc(predictors, func(k int) bool { return w.seen(i, k) }) {
			continue
		}
		y, g, v = append(y, indicator(i, j)), append(g, 1), append(v, filled[i*q:(i+1)*q]...)
		for _, k := range gaps {
			g = append(g, indicator(i, k))
		}
	}
	return mat.NewDense(len(y), 1, y), mat.NewDense(len(y), 1+len(gaps), g), mat.NewDense(len(y), q, v)
}

// patterns are predictors with gaps, one of those whose gaps are in the same rows.
func (w *work) patterns(predictors []int) (columns []int) {
	known := map[string]bool{}
	for _, k := range predictors {
		pattern := make([]byte, w.table.N)
		gaps := false
		for i := range pattern {
			if !w.seen(i, k) {
				pattern[i], gaps = 1, true
			}
		}
		if gaps && !known[string(pattern)] {
			known[string(pattern)] = true
			columns = append(columns, k)
		}
	}
	return columns
}

// filled are the predictors (n, |predictors|), their gaps filled from each other.
func (w *work) filled(predictors []int) []float64 {
	c := completion.New(w.table, predictors)
	if c.Gaps() {
		c.Fill(w.normal())
	}
	return c.X
}
