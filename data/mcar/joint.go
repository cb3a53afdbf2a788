package mcar

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"missingscore/data/gaussian"
)

// joint is a test of a column by all its predictors together.
type joint struct {
	column     int
	predictors []int
	nuisance   []int // predictors with gaps, one of each pattern of these
}

// newJoint is that of a column; nil where there are too few rows for it.
func (w *work) newJoint(column int, predictors []int) *joint {
	missing := missing(w.table, column)
	rows := min(missing, w.table.N-missing)
	if rows < perTerm*len(predictors) {
		return nil
	}
	r := &joint{column, predictors, w.patterns(predictors)}
	if rows < perTerm*(len(r.nuisance)+len(predictors)) {
		return nil
	}
	return r
}

// whole says that the predictors are all other columns, and have gaps.
func (r *joint) whole(d int) bool { return len(r.predictors) == d-1 && len(r.nuisance) > 0 }

// blockRows is how many rows of a design are made at once.
const blockRows = 1024

// rowBlocks are the rows of a score test, made anew whenever they are visited: n rows, in blocks
// of N (m columns) and of y and X side by side (1 + q columns), which visit may change.
type rowBlocks struct {
	n, m, q int
	blocks  func(visit func(nuisance, yx *mat.Dense))
}

// robustScore is the p of a score test of b = 0 in E[y] = Na + Xb with the variance of
// its rows (White 1980): e and X* what is left of y (n) and X (n, q) after regression on
// N (n, m), u_i = e_i x*_i,
//
//	S = (Σ u_i)ᵀ (Σ u_i u_iᵀ)⁻¹ (Σ u_i),   S/ν ~ Beta(q/2, (ν − q)/2),   ν = n − m + 1
//
// which is F(q, ν − q) for (ν − q)/q · S/(ν − S), as of a Hotelling's T². It holds whatever
// the variance of y and X given N. Columns that others make up count as predictors that tell nothing.
func robustScore(d rowBlocks) float64 {
	coefficients := d.regression()
	sum, v := make([]float64, d.q), mat.NewSymDense(d.q, nil)
	var fitted mat.Dense
	u := mat.NewDense(min(blockRows, d.n), d.q, nil)
	d.blocks(func(nuisance, yx *mat.Dense) {
		if coefficients != nil {
			fitted.Reset()
			fitted.Mul(nuisance, coefficients)
			yx.Sub(yx, &fitted)
		}
		n, _ := yx.Dims()
		for i := range n {
			left, to := yx.RawRowView(i), u.RawRowView(i)
			for k, x := range left[1:] {
				to[k] = left[0] * x
				sum[k] += to[k]
			}
		}
		blas64.Syrk(blas.Trans, 1, u.Slice(0, n, 0, d.q).(*mat.Dense).RawMatrix(), 1, v.RawSymmetric())
	})
	for k := range d.q {
		v.SetSym(k, k, v.At(k, k)*(1+sumRidge)+sumRidge)
	}
	var factor mat.Cholesky
	var solved mat.VecDense
	total := mat.NewVecDense(d.q, sum)
	if !factor.Factorize(v) || factor.SolveVecTo(&solved, total) != nil {
		return 1
	}
	nu, freedom := float64(d.n-d.m+1), float64(d.q)
	return mathext.RegIncBeta((nu-freedom)/2, freedom/2, max(1-mat.Dot(total, &solved)/nu, 0))
}

const sumRidge = 1e-9 // of what a column counts: for columns that are sums of others

// regression are the coefficients (m, 1 + q) of y and X on N by least squares; nil where there
// are none.
func (d rowBlocks) regression() *mat.Dense {
	cross, gram := mat.NewDense(d.m, 1+d.q, nil), mat.NewSymDense(d.m, nil)
	d.blocks(func(nuisance, yx *mat.Dense) {
		blas64.Syrk(blas.Trans, 1, nuisance.RawMatrix(), 1, gram.RawSymmetric())
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, nuisance.RawMatrix(), yx.RawMatrix(), 1, cross.RawMatrix())
	})
	for k := range d.m {
		gram.SetSym(k, k, gram.At(k, k)*(1+sumRidge))
	}
	var factor mat.Cholesky
	if !factor.Factorize(gram) || factor.SolveTo(cross, cross) != nil {
		return nil
	}
	return cross
}

// rowBlocks have a row for each of the table's that has one of the predictors: whether it has
// the column, the constant and whether it has each column of gaps, and the predictors, filled.
func (w *work) rowBlocks(r *joint, filled []float64) rowBlocks {
	q, m := len(r.predictors), 1+len(r.nuisance)
	var rows []int
	for i := range w.table.N {
		if slices.ContainsFunc(r.predictors, func(k int) bool { return w.seen(i, k) }) {
			rows = append(rows, i)
		}
	}
	indicator := func(i, k int) float64 {
		if w.seen(i, k) {
			return 1
		}
		return 0
	}
	most := min(blockRows, len(rows))
	nuisance, yx := mat.NewDense(most, m, nil), mat.NewDense(most, 1+q, nil)
	return rowBlocks{len(rows), m, q, func(visit func(nuisance, yx *mat.Dense)) {
		for some := range slices.Chunk(rows, blockRows) {
			for a, i := range some {
				row, all := nuisance.RawRowView(a), yx.RawRowView(a)
				row[0], all[0] = 1, indicator(i, r.column)
				for b, k := range r.nuisance {
					row[1+b] = indicator(i, k)
				}
				copy(all[1:], filled[i*q:(i+1)*q])
			}
			visit(nuisance.Slice(0, len(some), 0, m).(*mat.Dense), yx.Slice(0, len(some), 0, 1+q).(*mat.Dense))
		}
	}}
}

// patterns are predictors with gaps, one of those whose gaps are in the same rows.
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

// findAlike gives of each column the first whose gaps are in the same rows; −1 of one without.
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

// fill are the predictors (n, |predictors|), gaps filled from each other.
func (w *work) fill(predictors []int) []float64 {
	c := gaussian.NewFiller(w.table, predictors)
	if len(w.patterns(predictors)) > 0 {
		c.Fill(w.normal())
	}
	return c.X
}
