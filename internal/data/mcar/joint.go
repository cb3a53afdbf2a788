package mcar

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"missingscore/internal/data/gaussian"
)

type joint struct {
	column     int
	predictors []int
	nuisance   []int // predictors with missing cells, one of each pattern of these
}

// newJoint returns the joint test of a column; nil if there are too few rows.
func (w *work) newJoint(column int, predictors []int) *joint {
	rows := w.rarer(column)
	if rows < perTerm*len(predictors) {
		return nil
	}
	r := &joint{column, predictors, w.patterns(predictors)}
	if rows < perTerm*(len(r.nuisance)+len(predictors)) {
		return nil
	}
	return r
}

func (r *joint) whole(d int) bool { return len(r.predictors) == d-1 && len(r.nuisance) > 0 }

// robustScore is the p value of a score test of b = 0 in E[y] = Na + Xb with
// heteroskedasticity-robust variance (White 1980). With e and X* the residuals of y (n) and X (n,
// q) after regression on N (n, m), u_i = e_i x*_i,
//
//	S = (Σ u_i)ᵀ (Σ u_i u_iᵀ)⁻¹ (Σ u_i),   S/ν ~ Beta(q/2, (ν − q)/2),   ν = n − m + 1
//
// as for Hotelling's T². Collinear columns count as uninformative predictors. yx holds y and X side
// by side and is overwritten.
func robustScore(nuisance, yx *mat.Dense) float64 {
	n, m := nuisance.Dims()
	_, q := yx.Dims()
	q--
	var cross, gram mat.Dense
	gram.Mul(nuisance.T(), nuisance)
	cross.Mul(nuisance.T(), yx)
	own := mat.NewSymDense(m, gram.RawMatrix().Data)
	for k := range m {
		own.SetSym(k, k, own.At(k, k)*(1+sumRidge))
	}
	var factor mat.Cholesky
	if factor.Factorize(own) && factor.SolveTo(&cross, &cross) == nil {
		var fitted mat.Dense
		fitted.Mul(nuisance, &cross)
		yx.Sub(yx, &fitted)
	}
	sum, u := mat.NewVecDense(q, nil), mat.NewDense(n, q, nil)
	for i := range n {
		left, to := yx.RawRowView(i), u.RawRowView(i)
		floats.AddScaled(to, left[0], left[1:])
		floats.Add(sum.RawVector().Data, to)
	}
	v := mat.NewSymDense(q, nil)
	v.SymOuterK(1, u.T())
	for k := range q {
		v.SetSym(k, k, v.At(k, k)*(1+sumRidge)+sumRidge)
	}
	var solved mat.VecDense
	if !factor.Factorize(v) || factor.SolveVecTo(&solved, sum) != nil {
		return 1
	}
	nu, freedom := float64(n-m+1), float64(q)
	return mathext.RegIncBeta((nu-freedom)/2, freedom/2, max(1-mat.Dot(sum, &solved)/nu, 0))
}

const sumRidge = 1e-9 // relative ridge for collinear columns

// design has a row for each row with a predictor. nuisance: the constant and the observed marks of
// columns with missing cells. yx: whether the column is observed, and the imputed predictors.
func (w *work) design(r *joint, filled []float64) (nuisance, yx *mat.Dense) {
	q, m := len(r.predictors), 1+len(r.nuisance)
	var left, right []float64
	indicator := func(i, k int) float64 {
		if w.seen(i, k) {
			return 1
		}
		return 0
	}
	for i := range w.table.N {
		if !slices.ContainsFunc(r.predictors, func(k int) bool { return w.seen(i, k) }) {
			continue
		}
		left, right = append(left, 1), append(right, indicator(i, r.column))
		for _, k := range r.nuisance {
			left = append(left, indicator(i, k))
		}
		right = append(right, filled[i*q:(i+1)*q]...)
	}
	return mat.NewDense(len(left)/m, m, left), mat.NewDense(len(right)/(1+q), 1+q, right)
}

// patterns returns one of each set of predictors that are missing in the same rows.
func (w *work) patterns(predictors []int) (columns []int) {
	alike, known := w.alike(), map[int]bool{}
	for _, k := range predictors {
		if of := alike[k]; of >= 0 && !known[of] {
			known[of] = true
			columns = append(columns, k)
		}
	}
	return columns
}

// findAlike returns each column's first column with the same missing rows; −1 for complete columns.
func (w *work) findAlike() (first []int) {
	known := map[string]int{}
	for k := range w.table.D {
		pattern := make([]byte, (w.table.N+7)/8)
		gaps := false
		for i := range w.table.N {
			if !w.seen(i, k) {
				pattern[i/8] |= 1 << (i % 8)
				gaps = true
			}
		}
		of, found := known[string(pattern)]
		switch {
		case !gaps:
			of = -1
		case !found:
			of = k
			known[string(pattern)] = k
		}
		first = append(first, of)
	}
	return first
}

// fill returns the predictors (n, |predictors|), imputed from each other.
func (w *work) fill(predictors []int) []float64 {
	c := gaussian.NewFiller(w.table, predictors)
	if len(w.patterns(predictors)) > 0 {
		c.Fill(w.normal())
	}
	return c.X
}
