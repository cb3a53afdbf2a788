package losses

import (
	"fmt"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Truncated is the objective on a domain with weights g_Λ (paper, equation of the truncated
// marginal loss; docs/theory/objectives.md#eq-truncated):
//
//	R = Σ_{j∈Λ} 2g_j (D̃_j + s̃_j²) + 2∂_jg_j s̃_j,  S = s̃,  c_j = −g_j
//
// If half-spaces h cut missing coordinates, the score and its derivative are taken along t_j = e_j
// − Σ_h a_hj v_h, tangent to them (domain.Tangent), so that the range of the missing cells does not
// depend on x_j:
//
//	s̃_j = s_j − Σ_h a_hj v_hᵀs,   D̃_j = t_jᵀHt_j
//
// With Weight.NoTangent t_j = e_j, as in the paper. Units: 1/x² as for Classical. g must vanish on
// the boundary of the observed projection; domain.Weight does.
type Truncated struct {
	Domain *domain.Domain
	Weight domain.Weight
}

const (
	inputG       = "g"
	inputSlope   = "slope of g"
	inputTangent = "tangent %d"
	inputNormal  = "normal %d"
)

func tangentName(k int) string { return fmt.Sprintf(inputTangent, k) }

// ObjectiveFor returns Truncated on a domain with a boundary, else Classical.
func ObjectiveFor(s *domain.Domain, w domain.Weight) Objective {
	if s.Bounded() {
		return Truncated{s, w}
	}
	return classical{}
}

func (o Truncated) Parts(b *graph.Builder, rows Rows, t model.Evaluation) Parts {
	n, d := graph.Shape(rows.Mask)
	g, slope := b.Input(inputG, n, d), b.Input(inputSlope, n, d)
	score, diagonal := o.score(b, n, rows.R, t.NeedScore(b)), o.diagonal(b, n, rows.R, t)
	twice := b.Scale(2, g)
	return Parts{
		Linear: b.Add(graph.GroupSquares(b, twice, score, rows.R), b.Add(
			b.GroupDot(twice, diagonal, rows.R),
			b.GroupDot(b.Scale(2, slope), score, rows.R))),
		Score:     score,
		Quadratic: b.Scale(-1, g),
	}
}

func (o Truncated) tangents(b *graph.Builder, n int) (normals, along []graph.Node) {
	if o.Weight.NoTangent {
		return nil, nil
	}
	for k, h := range o.Domain.Half {
		normals = append(normals, b.Input(fmt.Sprintf(inputNormal, k), 1, len(h.A)))
		along = append(along, b.Input(tangentName(k), n, len(h.A)))
	}
	return normals, along
}

func (o Truncated) score(b *graph.Builder, n, r int, s graph.Node) graph.Node {
	normals, tangents := o.tangents(b, n)
	along := s
	for k, v := range tangents {
		along = b.Sub(along, b.MatMul(false, false, b.GroupDot(v, s, r), normals[k]))
	}
	return along
}

// diagonal returns D̃_j = D_j − 2 Σ_k a_kj (Hv_k)_j + Σ_kl a_kj a_lj v_lᵀHv_k.
func (o Truncated) diagonal(b *graph.Builder, n, r int, t model.Evaluation) graph.Node {
	normals, tangents := o.tangents(b, n)
	each := t.Hessians(r)
	var change graph.Node // (n·each, d)
	for k, v := range tangents {
		a := normals[k]
		hv := t.NeedHessianProduct(b)(b.GroupRepeat(v, each))
		change = plus(b, change, b.Scale(-2, b.Prod(b.Rows(a, n*each), hv)))
		for l, u := range tangents {
			change = b.Add(change, b.MatMul(false, false, b.GroupDot(u, hv, each), b.Prod(a, normals[l])))
		}
	}
	if change == nil {
		return t.NeedDiagonal(b)
	}
	return b.Add(t.NeedDiagonal(b), b.GroupRepeat(change, r/each))
}

// tangential returns Σ_j u_j t_j = u − Σ_h (a_hᵀu) v_h for directions u (n, d).
func (o Truncated) tangential(b *graph.Builder, u graph.Node) graph.Node {
	n, d := graph.Shape(u)
	normals, tangents := o.tangents(b, n)
	w := u
	for k, v := range tangents {
		w = b.Sub(w, b.Prod(b.Columns(b.RowDot(u, b.Rows(normals[k], n)), d), v))
	}
	return w
}

func (o Truncated) Bind(p graph.Inputs, batch *data.Batch, _ *rand.Rand) {
	d, x, mask := batch.D, batch.X, batch.Mask
	g, slope := p.Input(inputG), p.Input(inputSlope)
	var tangents [][]float64
	if !o.Weight.NoTangent {
		for k, h := range o.Domain.Half {
			copy(p.Input(fmt.Sprintf(inputNormal, k)), h.A)
			tangents = append(tangents, p.Input(tangentName(k)))
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
