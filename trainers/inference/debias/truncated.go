package debias

import (
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
)

// truncated are the moments of score matching on a domain, of a table without gaps, by
// θ = (η, P), η = Pμ (docs/theory/inference.md#eq-truncated). With s = η − Px the loss of a
// row is quadratic in θ:
//
//	ℓ = Σ_j g_j (s_j² − 2P_jj) + 2 ∂_jg_j s_j,   a_j = g_j s_j + ∂_jg_j
//	∂/∂η = 2a,   ∂/∂P_jk = −2 a_j x_k − 2 g_j [j = k] by cells
//	Hessian:  Σ_j 2 g_j (dη_j − dP_j·x)²
//
// So one step is to the minimum without a penalty, from wherever it is made.
func truncated(t *data.Table, linear []float64, p *mat.SymDense, s *domain.Domain, w domain.Weight, keep bool, workers int) *moments {
	d := t.D
	m := newMoments(d, t.N, keep, workers)
	squares := make([]*mat.SymDense, d) // of (1, −x), weighted by 2 g_j
	for j := range squares {
		squares[j] = mat.NewSymDense(d+1, nil)
	}
	g, slope, mask := make([]float64, d), make([]float64, d), make([]float64, d)
	for j := range mask {
		mask[j] = 1
	}
	var tangent domain.Tangent
	location, along := make([]float64, d), mat.NewVecDense(d+1, nil)
	for i := range t.N {
		x := t.Values[i*d : i*d+d]
		w.At(s, x, mask, g, slope, &tangent)
		var px mat.VecDense
		px.MulVec(p, mat.NewVecDense(d, x))
		along.SetVec(0, 1)
		for j := range d {
			location[j] = 2 * (g[j]*(linear[j]-px.AtVec(j)) + slope[j])
			along.SetVec(j+1, -x[j])
		}
		for j := range d {
			squares[j].SymRankOne(squares[j], 2*g[j]/float64(t.N), along)
		}
		m.take(1, false, location, func(j, k int) float64 {
			v := -location[j] * x[k]
			if j == k {
				v -= 2 * g[j]
			}
			return v
		})
	}
	m.average()
	for j, square := range squares {
		at := func(k int) int { // the coordinate of dη_j, k = 0, and of dP_jk
			if k == 0 {
				return j
			}
			return d + graph.PackedIndex(d, min(j, k-1), max(j, k-1))
		}
		for k := range d + 1 {
			for l := k; l < d+1; l++ {
				m.hessian.SetSym(at(k), at(l), m.hessian.At(at(k), at(l))+square.At(k, l))
			}
		}
	}
	return m
}
