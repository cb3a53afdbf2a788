package regpath

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/trainers/engine"
)

// secondMoments returns Σ_i x_ij x_ik over rows with both observed, their number, and the means v_j
// of x_j².
func secondMoments(p engine.Problem) (cross, count *mat.SymDense, v []float64) {
	sums, d := p.PairSums(), p.Table.D
	cross, count, v = mat.NewSymDense(d, sums.Cross), mat.NewSymDense(d, sums.Number), make([]float64, d)
	for j := range v {
		v[j] = cross.At(j, j) / count.At(j, j)
	}
	return cross, count, v
}

func pairMoments(cross, count *mat.SymDense) *mat.SymDense {
	d := cross.SymmetricDim()
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			if n := count.At(j, k); n > 0 {
				s.SetSym(j, k, cross.At(j, k)/n)
			}
		}
	}
	return s
}

// stableRate returns a step below 2/L; for complete rows L ≤ 4 λ_max(S) by packed P.
func stableRate(p engine.Problem) float64 {
	cross, count, _ := secondMoments(p)
	s := pairMoments(cross, count)
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		return math.Inf(1)
	}
	return 1 / (4 * e.Values(nil)[p.Table.D-1])
}

func meanPairCount(p engine.Problem) float64 {
	_, count, _ := secondMoments(p)
	sum, d := 0.0, p.Table.D
	for j := range d {
		for k := j + 1; k < d; k++ {
			sum += count.At(j, k)
		}
	}
	return sum / float64(d*(d-1)/2)
}

// lambdaMax returns the smallest λ, plus 5 % (30 % with half-spaces), at which a P without edges is
// stationary. On all of R^d this is P = diag(1/v_j), v_j the observed second moment of column j,
// where the gradient by P_jk is 2(P_jj + P_kk) Σ_i x_ij x_ik / (n d) over rows with both observed.
// On a domain see boundedNullGradient. Packed weights divide the gradients.
func lambdaMax(p engine.Problem, weights []float64, of covariates) float64 {
	spare, size, t := 1.05, nullGradient(p, of), p.Table
	switch {
	case p.Domain.Bounded() && len(p.Domain.Half) > 0:
		spare = 1.3
	case of.free != nil && !t.Complete(): // the imputations depend on the covariates
		spare = 1.3
	}
	if p.Missingness != nil { // ignores the score of φ
		spare *= 1.3
	}
	top := 0.0
	for j := range t.D {
		for k := j + 1; k < t.D; k++ {
			gradient := size(j, k)
			if weights != nil {
				gradient /= weights[graph.PackedIndex(t.D, j, k)]
			}
			top = max(top, gradient)
		}
	}
	return spare * top / float64(t.RowCount()*t.D)
}

// nullGradient returns the absolute gradients by P_jk at the best model without edges, times the
// number of cells.
func nullGradient(p engine.Problem, of covariates) (size func(j, k int) float64) {
	if p.Domain.Bounded() {
		return boundedNullGradient(p.Table, p.Domain, p.Weight)
	}
	cross, count, v := secondMoments(p)
	if of.free != nil {
		if sum, ok := of.nullGradient(p.Table.D, mat.DenseCopyOf(pairMoments(cross, count)).RawMatrix().Data); ok { // times the rows with both
			return func(j, k int) float64 { return 2 * math.Abs(sum(j, k)) * count.At(j, k) }
		}
	}
	return func(j, k int) float64 { return 2 * (1/v[j] + 1/v[k]) * math.Abs(cross.At(j, k)) }
}

// boundedNullGradient is nullGradient on a domain. The score of column j is s = η_j − P_jj x_j,
// with (η_j, P_jj) the solution of
//
//	Σ_i g_ij s_ij + ∂g_ij = 0,   Σ_i x_ij (g_ij s_ij + ∂g_ij) + g_ij = 0
//
// over the rows with x_j, and the gradient is 2 |Σ_i (g_ij s_ij + ∂g_ij) x_ik + (g_ik s_ik + ∂g_ik)
// x_ij| over the rows with both. It is exact in a box and approximate with half-spaces.
func boundedNullGradient(t *data.Table, s *domain.Domain, w domain.Weight) (size func(j, k int) float64) {
	d := t.D
	b := data.NewBatch(t.N, d)
	b.Fill(t, t.AllRows(), 1)
	g, slope := make([]float64, len(b.X)), make([]float64, len(b.X))
	var tangent domain.Tangent
	for i := 0; i < len(b.X); i += d {
		w.At(s, b.X[i:i+d], b.Mask[i:i+d], g[i:i+d], slope[i:i+d], &tangent)
	}
	force := mat.NewDense(t.N, d, nil) // g s + ∂g
	for j := range d {
		var g0, gx, gxx, slope0, slopeX float64
		for i := j; i < len(b.X); i += d {
			x := b.X[i]
			g0, gx, gxx = g0+g[i], gx+g[i]*x, gxx+g[i]*x*x
			slope0, slopeX = slope0+slope[i], slopeX+slope[i]*x
		}
		var solution mat.VecDense
		// g0 η − gx P = −∂g, gx η − gxx P = −g0 − Σ ∂g x
		if err := solution.SolveVec(mat.NewDense(2, 2, []float64{g0, -gx, gx, -gxx}), mat.NewVecDense(2, []float64{-slope0, -g0 - slopeX})); err != nil {
			continue // a column without weight
		}
		for i := range t.N {
			x := b.X[i*d+j]
			force.Set(i, j, g[i*d+j]*(solution.AtVec(0)-solution.AtVec(1)*x)+slope[i*d+j])
		}
	}
	x := mat.NewDense(t.N, d, b.X) // zero if missing
	var cross mat.Dense
	cross.Mul(force.T(), x)
	return func(j, k int) float64 { return 2 * math.Abs(cross.At(j, k)+cross.At(k, j)) }
}

// crowd is the number of common rows per neighbour of a column at the smallest λ.
const crowd = 4

// crowdedRatio returns the largest λ over the smallest: 200 for few columns. Above DenseColumns the
// path ends when the gradients of as many pairs exceed λ as give each column n̄/crowd neighbours,
// n̄ the mean number of common rows.
func crowdedRatio(d int, pairs float64, gradient func(j, k int) float64, top float64) float64 {
	widest := Penalty{Kind: l1}.ratio()
	if d <= DenseColumns {
		return widest
	}
	const bins = 10_000 // of log λ
	counts := make([]float64, bins)
	for j := range d {
		for k := j + 1; k < d; k++ {
			below := math.Log(top / gradient(j, k))
			if bin := max(0, bins*below/math.Log(widest)); bin < bins {
				counts[int(bin)]++
			}
		}
	}
	left := float64(d) * pairs / crowd / 2
	for bin, n := range counts {
		if left -= n; left < 0 {
			return math.Pow(widest, float64(bin+1)/bins)
		}
	}
	return widest
}
