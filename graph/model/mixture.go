package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/data/mixture"
	"missingscore/internal/data/simulate"
	"missingscore/internal/strictjson"
)

// normals is a mixture of K normals with diagonal covariances,
//
//	log q(x) = log Σ_k w_k Π_j N(x_j; m_kj, σ_kj²).
//
// With r_k the posterior probabilities, s_k = −(x−m_k)/σ_k² and s = Σ_k r_k s_k,
//
//	D = Σ_k r_k ((s_k − s)² − 1/σ_k²),  Hv = Σ_k r_k ((s_k − s)ᵀv (s_k − s) − v/σ_k²).
type normals struct {
	components, d int

	LogWeights *graph.Param // (K, 1): log w_k, up to a constant
	Means      *graph.Param // (K, d)
	LogSDs     *graph.Param // (K, d): log σ_kj
}

// MixtureOptions configures the registered model "mixture". With Levels it is a NewMixed.
type MixtureOptions struct {
	Components int   `json:"components"`       // 10; for tables with levels chosen by held-out rows
	Levels     []int `json:"levels,omitempty"` // per column, 0 for numbers
}

func newMixture(d int, text []byte, rng *rand.Rand) (Model, error) {
	o := MixtureOptions{Components: 10}
	if err := strictjson.Options(text, &o); err != nil {
		return nil, err
	}
	if most := 1_000_000 / d; o.Components < 1 || o.Components > most {
		return nil, fmt.Errorf("%d components of %d columns: 1 to %d are possible", o.Components, d, most)
	}
	if o.Levels != nil {
		if err := checkLevels(o.Levels, d); err != nil {
			return nil, err
		}
		return NewMixed(mixture.New(o.Components, o.Levels)), nil
	}
	m := &normals{o.Components, d, graph.NewParam("log weights", o.Components, 1), graph.NewParam("means", o.Components, d), graph.NewParam("log sds", o.Components, d)}
	for i := range m.Means.Value {
		m.Means.Value[i] = rng.NormFloat64()
	}
	return m, nil
}

func (m *normals) Options() any { return MixtureOptions{Components: m.components} }

// The loss is unbounded below when a component collapses onto a row, so the fit stops early.
func (m *normals) TrainingDefaults() Training { return Training{Overfits: true} }

func NewMixture(of simulate.Mixture) Parametric {
	k, d := len(of.Weights), len(of.Means[0])
	m := &normals{k, d, graph.NewParam("log weights", k, 1), graph.NewParam("means", k, d), graph.NewParam("log sds", k, d)}
	m.set(of.Weights, slices.Concat(of.Means...), slices.Concat(of.Deviations...))
	return m
}

func (m *normals) set(weights, means, deviations []float64) {
	total := floats.Sum(weights)
	for k, w := range weights {
		m.LogWeights.Value[k] = math.Log(w / total)
	}
	copy(m.Means.Value, means)
	for i, s := range deviations {
		m.LogSDs.Value[i] = math.Log(s)
	}
}

func (m *normals) Dim() int               { return m.d }
func (m *normals) Params() []*graph.Param { return []*graph.Param{m.LogWeights, m.Means, m.LogSDs} }

func (m *normals) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	n, _ := graph.Shape(x)
	k := m.components
	logSD := b.Param(m.LogSDs)
	precision := graph.Tile(b, b.Map(graph.Exp, b.Scale(-2, logSD)), n)
	level := graph.Tile(b, b.Sub(b.Param(m.LogWeights), b.RowSum(logSD)), n)

	gap := b.Sub(graph.Tile(b, b.Param(m.Means), n), b.GroupRepeat(x, k))
	scores := b.Prod(gap, precision)
	logs := b.Add(level, b.Scale(-0.5, b.RowDot(gap, scores)))
	r := graph.GroupSoftmax(b, logs, k)
	score := graph.GroupMean(b, r, scores, k)
	about := b.Sub(scores, b.GroupRepeat(score, k))
	within := graph.GroupMean(b, r, precision, k)
	return Evaluation{
		LogDensity: graph.GroupLogSumExp(b, logs, k),
		Score:      score,
		Diagonal:   b.Sub(graph.GroupMean(b, r, b.Map(graph.Square, about), k), within),
		HessianProduct: func(v graph.Node) graph.Node {
			return b.Sub(graph.GroupMean(b, b.Prod(r, b.GroupDot(v, about, k)), about, k), b.Prod(v, within))
		},
	}
}

func (m *normals) Distribution() simulate.Mixture {
	weights, deviations := softmax(m.LogWeights.Value), exponentials(m.LogSDs.Value)
	return simulate.Mixture{
		Weights:    weights,
		Means:      slices.Collect(slices.Chunk(slices.Clone(m.Means.Value), m.d)),
		Deviations: slices.Collect(slices.Chunk(deviations, m.d)),
	}
}

func (m *normals) SampleRows(n int, s *domain.Domain, rng *rand.Rand) ([]float64, error) {
	if s.Bounded() {
		return nil, ErrNoExactSampler
	}
	return m.Distribution().Draw(n, rng), nil
}

func (m *normals) Identified() {}

// Quantities are weights (K, 1), means (K, d) and deviations (K, d).
func (m *normals) Quantities() []Quantity {
	return []Quantity{
		{Name: "weights", Rows: m.components, Cols: 1, Value: softmax(m.LogWeights.Value), Range: Share},
		{Name: "means", Rows: m.components, Cols: m.d, Value: slices.Clone(m.Means.Value)},
		{Name: "deviations", Rows: m.components, Cols: m.d, Value: exponentials(m.LogSDs.Value), Range: Positive},
	}
}

func (m *normals) SetQuantities(qs []Quantity) error {
	weights, err := pick(qs, "weights", m.components, 1)
	if err != nil {
		return err
	}
	means, err := pick(qs, "means", m.components, m.d)
	if err != nil {
		return err
	}
	deviations, err := pick(qs, "deviations", m.components, m.d)
	if err != nil {
		return err
	}
	for k, w := range weights {
		if own := deviations[k*m.d : (k+1)*m.d]; !(w > 0) || !(floats.Min(own) > 0) {
			return fmt.Errorf("component %d: the weight %v and deviations %v must be positive", k+1, w, own)
		}
	}
	m.set(weights, means, deviations)
	return nil
}

func (m *normals) Rescale(mean, deviation []float64) error {
	for i := range m.Means.Value {
		j := i % m.d
		m.Means.Value[i] = mean[j] + deviation[j]*m.Means.Value[i]
		m.LogSDs.Value[i] += math.Log(deviation[j])
	}
	return nil
}

func exponentials(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Exp(v)
	}
	return out
}

func softmax(x []float64) []float64 {
	out := slices.Clone(x)
	floats.AddConst(-floats.LogSumExp(x), out)
	return exponentials(out)
}
