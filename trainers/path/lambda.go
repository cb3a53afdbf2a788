package path

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/trainers/engine"
)

// LambdaMax is the smallest λ, with 5 % to spare (30 % where half-spaces tie the
// columns together), at which a P without edges is stationary. On all of R^d this is P = diag(1/v_j), v_j the observed second moment
// of column j: there the loss has the gradient 2(P_jj + P_kk) Σ_i x_ij x_ik / (n d) by P_jk,
// the sum over rows where both are observed. On a domain see boundedNullGradient.
func LambdaMax(t *data.Table, s *domain.Domain, w domain.Weight) float64 {
	return lambdaMax(engine.Problem{Table: t, Domain: s, Weight: w}, nil, covariates{})
}

// lambdaMax is LambdaMax where the penalty has weights, packed and positive: pairs' gradients
// count in units of these. Pairs of covariates are in the model without edges.
func lambdaMax(p engine.Problem, weights []float64, of covariates) float64 {
	spare, size, t := 1.05, nullGradient(p, of), p.Table
	switch {
	case p.Domain.Bounded() && len(p.Domain.Half) > 0:
		spare = 1.3
	case of.free != nil && !t.Complete(): // what gaps are filled with depends on the covariates
		spare = 1.3
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

// nullGradient gives the sizes of the gradient by off-diagonal P_jk at the best model
// without edges, times the number of cells.
func nullGradient(p engine.Problem, of covariates) (size func(j, k int) float64) {
	if p.Domain.Bounded() {
		return boundedNullGradient(p.Table, p.Domain, p.Weight)
	}
	cross, count, v := secondMoments(p)
	if of.free != nil {
		if sum, ok := of.nullGradient(pairMoments(cross, count)); ok { // each times the rows that have both
			return func(j, k int) float64 { return 2 * math.Abs(sum(j, k)) * count.At(j, k) }
		}
	}
	return func(j, k int) float64 { return 2 * (1/v[j] + 1/v[k]) * math.Abs(cross.At(j, k)) }
}

// boundedNullGradient is nullGradient on a domain, at the best model
// without edges. Its score of column j is s = η_j − P_jj x_j, with (η_j, P_jj) the solution of
//
//	Σ_i g_ij s_ij + ∂g_ij = 0,   Σ_i x_ij (g_ij s_ij + ∂g_ij) + g_ij = 0
//
// over the rows that have x_j, and the gradient is 2 |Σ_i (g_ij s_ij + ∂g_ij) x_ik + (g_ik s_ik + ∂g_ik) x_ij|,
// over the rows that have both. Exact in a box; half-spaces tie the columns
// together, and there it only sets the scale.
func boundedNullGradient(t *data.Table, s *domain.Domain, w domain.Weight) (size func(j, k int) float64) {
	d := t.D
	b := data.NewBatch(t.N, d)
	rows := make([]int, t.N)
	for i := range rows {
		rows[i] = i
	}
	b.Fill(t, rows, 1)
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
			continue // a column without weight has no say
		}
		for i := range t.N {
			x := b.X[i*d+j]
			force.Set(i, j, g[i*d+j]*(solution.AtVec(0)-solution.AtVec(1)*x)+slope[i*d+j])
		}
	}
	x := mat.NewDense(t.N, d, b.X) // zero where missing
	var cross mat.Dense
	cross.Mul(force.T(), x)
	return func(j, k int) float64 { return 2 * math.Abs(cross.At(j, k)+cross.At(k, j)) }
}
