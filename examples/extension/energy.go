package extension

import (
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/graph/model"
)

// weights start as U(−1/√rows, 1/√rows).
func weights(name string, rows, cols int, rng *rand.Rand) *graph.Param {
	p := graph.NewParam(name, rows, cols)
	for i := range p.Value {
		p.Value[i] = (2*rng.Float64() - 1) / math.Sqrt(float64(rows))
	}
	return p
}

// NewTwoLayers is the density of a neural energy with two layers of h units,
//
//	log q = vᵀ tanh(W₂ tanh(W₁x + b₁) + b₂) − ½‖x‖²
func NewTwoLayers(d, h int, rng *rand.Rand) model.Model {
	w1, b1 := weights("w1", d, h, rng), weights("b1", 1, h, rng)
	w2, b2 := weights("w2", h, h, rng), weights("b2", 1, h, rng)
	v := weights("v", h, 1, rng)
	return model.FromLogDensity(d, []*graph.Param{w1, b1, w2, b2, v}, func(b *graph.Builder, x graph.Node) graph.Node {
		first := b.Map(graph.Tanh, b.Affine(x, b.Param(w1), b.Param(b1)))
		second := b.Map(graph.Tanh, b.Affine(first, b.Param(w2), b.Param(b2)))
		return b.Sub(b.MatMul(false, false, second, b.Param(v)), b.Scale(0.5, b.RowDot(x, x)))
	})
}

// NewAttention is the density of a small attention energy: a column is a token of e numbers,
// t_j = x_j a_j + c_j, and looks at the columns l with weights softmax_l(q_jᵀk_l/√e):
//
//	log q = Σ_j u_jᵀ tanh(Σ_l weight_jl v_l) − ½‖x‖²,  q = tQ, k = tK, v = tV
func NewAttention(d, e int, rng *rand.Rand) model.Model {
	size, place := weights("size", d, e, rng), weights("place", d, e, rng)
	query, key, value := weights("query", e, e, rng), weights("key", e, e, rng), weights("value", e, e, rng)
	out := weights("out", d, e, rng)
	params := []*graph.Param{size, place, query, key, value, out}
	return model.FromLogDensity(d, params, func(b *graph.Builder, x graph.Node) graph.Node {
		n, _ := graph.Shape(x)
		each := func(p *graph.Param) graph.Node { return graph.Tile(b, b.Param(p), n) } // (n·d, e), for each row
		tokens := b.Add(b.Prod(b.Columns(graph.SplitRows(b, x, d), e), each(size)), each(place))
		project := func(p *graph.Param) graph.Node { return b.MatMul(false, false, tokens, b.Param(p)) }
		// All columns of a row below each of its columns: (n·d, e) to (n·d·d, e).
		others := func(t graph.Node) graph.Node { return graph.SplitRows(b, b.GroupRepeat(graph.JoinRows(b, t, d), d), d) }
		logits := b.Scale(1/math.Sqrt(float64(e)), b.GroupDot(project(query), others(project(key)), d))
		seen := graph.GroupMean(b, graph.GroupSoftmax(b, logits, d), others(project(value)), d) // (n·d, e)
		energy := b.GroupSum(b.RowDot(each(out), b.Map(graph.Tanh, seen)), d)
		return b.Sub(energy, b.Scale(0.5, b.RowDot(x, x)))
	})
}
