package losses

import (
	"fmt"

	"missingscore/data/domain"
	"missingscore/graph"
)

// Truncated is the objective on a domain, weighted by g_Λ (paper, equation of the
// truncated marginal loss; maths.md, formula M and "Truncated support"):
//
//	R = Σ_{j∈Λ} 2g_j (D̃_j + s̃_j²) + 2∂_jg_j s̃_j,  S = s̃,  c_j = −g_j
//
// Where half-spaces h cut missing coordinates, the score and its derivative are
// taken along t_j = e_j − Σ_h a_hj v_h, tangent to them (domain.Tangent), because only
// then the range of the missing cells does not move with x_j:
//
//	s̃_j = s_j − Σ_h a_hj v_hᵀs,   D̃_j = t_jᵀHt_j
//
// With Weight.NoTangent t_j = e_j, as in the paper. Units: 1/x² as for Classical.
// g must vanish on the boundary of the observed projection; domain.Weight does.
type Truncated struct {
	Domain *domain.Domain
	Weight domain.Weight
}

// Names of the inputs of Truncated; those of half-space k end in its number.
const (
	inputG       = "g"
	inputSlope   = "slope of g"
	inputTangent = "tangent %d"
	inputNormal  = "normal %d"
)

// ObjectiveFor is Truncated on a domain that has a boundary, else Classical.
func ObjectiveFor(s *domain.Domain, w domain.Weight) Objective {
	if s.Bounded() {
		return Truncated{s, w}
	}
	return Classical{}
}

// Parts implements Objective.
func (o Truncated) Parts(b *graph.Builder, rows Rows, t graph.Terms) Parts {
	n, d := graph.Shape(rows.Mask)
	g, slope := b.Input(inputG, n, d), b.Input(inputSlope, n, d)
	score, diagonal := o.along(b, n, rows.R, t)
	twice := b.Scale(2, g)
	return Parts{
		Linear: b.Add(b.GroupSquares(twice, score, rows.R), b.Add(
			b.GroupDot(twice, diagonal, rows.R),
			b.GroupDot(b.Scale(2, slope), score, rows.R))),
		Score:     score,
		Quadratic: b.Scale(-1, g),
	}
}

// along is s̃ and D̃. With K half-spaces, D̃_j = D_j − 2 Σ_k a_kj (Hv_k)_j + Σ_kl a_kj a_lj v_lᵀHv_k.
func (o Truncated) along(b *graph.Builder, n, r int, t graph.Terms) (score, diagonal graph.Node) {
	score, diagonal = t.Score, t.Diagonal
	if o.Weight.NoTangent {
		return score, diagonal
	}
	rows, d := graph.Shape(t.Score)
	var normals, tangents []graph.Node
	for k := range o.Domain.Half {
		normals = append(normals, b.Input(fmt.Sprintf(inputNormal, k), 1, d))
		tangents = append(tangents, b.Input(fmt.Sprintf(inputTangent, k), n, d))
	}
	for k, v := range tangents {
		a := normals[k]
		score = b.Sub(score, b.MatMul(false, false, b.GroupDot(v, t.Score, r), a))
		hv := t.HessianProduct(b.GroupRepeat(v, r))
		diagonal = b.Sub(diagonal, b.Scale(2, b.Prod(b.Rows(a, rows), hv)))
		for l, u := range tangents {
			diagonal = b.Add(diagonal, b.MatMul(false, false, b.GroupDot(u, hv, r), b.Prod(a, normals[l])))
		}
	}
	return score, diagonal
}

// Bind implements Objective.
func (o Truncated) Bind(p *graph.Program, x, mask []float64) {
	d := len(o.Domain.Lower)
	g, slope := p.Input(inputG), p.Input(inputSlope)
	var tangents [][]float64
	if !o.Weight.NoTangent {
		for k, h := range o.Domain.Half {
			copy(p.Input(fmt.Sprintf(inputNormal, k)), h.A)
			tangents = append(tangents, p.Input(fmt.Sprintf(inputTangent, k)))
		}
	}
	var t domain.Tangent
	for i := 0; i < len(x); i += d {
		o.Weight.At(o.Domain, x[i:i+d], mask[i:i+d], g[i:i+d], slope[i:i+d], &t)
		for k, v := range tangents {
			copy(v[i:i+d], t.V[k])
		}
	}
}
