package extension

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/nets"
)

// Mixture is an imputer of K normals a row, for conditionals with several modes: a hidden
// layer of 50 gives means and weights, and each column has one deviation.
type Mixture struct {
	Components int
	d          int
	params     []*graph.Param // hidden, its bias, means, their bias, logits, their bias, log σ
}

func init() {
	nets.Imputers["own-mixture"] = func(d int, options []byte, rng *rand.Rand) (nets.Imputer, error) {
		m := &Mixture{d: d, Components: 3}
		if err := json.Unmarshal(options, m); len(options) > 0 && (err != nil || m.Components < 2) {
			return nil, fmt.Errorf("%s: {\"Components\": 2} or more", options)
		}
		k, h := m.Components, 50
		for i, s := range [][2]int{{d, h}, {1, h}, {h, k * d}, {1, k * d}, {h, k}, {1, k}, {1, d}} {
			p := graph.NewParam(fmt.Sprint("mixture ", i+1), s[0], s[1])
			for j := range p.Value {
				p.Value[j] = rng.NormFloat64() / math.Sqrt(float64(h))
			}
			m.params = append(m.params, p)
		}
		return m, nil
	}
}

func (m *Mixture) Params() []*graph.Param { return m.params }
func (m *Mixture) Options() any           { return m }
func (m *Mixture) Noise() int             { return m.d }

// Draw implements nets.Imputer: x_k = μ_k + σ ε, log q' = log Σ_l π_l N(x_k; μ_l, σ²).
func (m *Mixture) Draw(b *graph.Builder, rows nets.ImputerRows, noise graph.Node) nets.Strata {
	p := func(i int) graph.Node { return b.Param(m.params[i]) }
	n, _ := graph.Shape(rows.X)
	k, hidden, logSD := m.Components, b.Map(graph.Rectifier, b.Affine(rows.X, p(0), p(1))), p(6)
	means, logits := b.Affine(hidden, p(2), p(3)), b.Affine(hidden, p(4), p(5)) // (n, k·d), (n, k)
	x := b.Add(graph.SplitRows(b, means, k), b.Prod(b.Rows(b.Map(graph.Exp, logSD), n*k), b.GroupRepeat(noise, k)))

	every := func(x graph.Node) graph.Node { return graph.SplitRows(b, b.GroupRepeat(x, k), k) } // of all components, at each draw
	missing, inverse := b.GroupRepeat(b.Map(graph.Complement, rows.Mask), k*k), b.Rows(b.Map(graph.Exp, b.Scale(-1, logSD)), n*k*k)
	z := b.Prod(b.Sub(b.GroupRepeat(x, k), every(means)), inverse)
	logs := b.Scale(-1, b.RowSum(b.Prod(missing, b.AddRow(b.Scale(0.5, b.Map(graph.Square, z)), logSD))))
	split := graph.SplitRows(b, logits, k)
	norm := b.GroupRepeat(graph.GroupLogSumExp(b, split, k), k)
	return nets.Strata{K: k, X: x, LogWeight: b.Sub(split, norm), LogDensity: b.Sub(graph.GroupLogSumExp(b, b.Add(logs, every(logits)), k), norm)}
}
