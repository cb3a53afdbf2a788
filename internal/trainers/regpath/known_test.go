package regpath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/data/network"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

// If cells determine everything, log L is that of S plus n/2 Σ log S_jj.
func TestKnownLikelihoodOfNumbers(t *testing.T) {
	const d = 6
	r, _ := estimate(t, star(t, d, 300, 0), "pairwise", Config{Lambdas: 20})
	m, constant := r.matrix, 0.0
	m.of.Known = make([]float64, d*d)
	for j := range d {
		m.of.Known[j*d+j] = 1
		for k := range d {
			m.of.S[j*d+k] *= float64(j+1) * float64(k+1)
		}
		constant += m.of.Rows / 2 * math.Log(m.of.S[j*d+j])
	}
	edges := 0
	for _, threshold := range []float64{math.Inf(1), 0.05, 0, -1} {
		a := Adjacency(r.State.Points[12].Packed(), d, threshold)
		require.GreaterOrEqual(t, a.Count(), edges)
		edges = a.Count()
		known, all := m.of.Known, m.likelihood(a)
		m.of.Known = nil
		require.InDelta(t, m.likelihood(a)+constant, all, 1e-6, "%d edges", edges)
		m.of.Known = known
	}
	require.Equal(t, 15, edges)
}

// Mean 1, as χ²: two binary columns, 40 % of the second missing, over 200 tables.
func TestKnownLikelihoodRatioOfAnIndependentPair(t *testing.T) {
	const tables, n = 200, 300
	var ratios, known []float64
	for seed := range tables {
		rng := stream.New(uint64(seed), stream.Simulate)
		table := &data.Table{N: n, D: 2, Names: []string{"a", "b"}}
		for range n {
			for j, cut := range []float64{0, -0.5} {
				seen, v := rng.Float64() < []float64{1, 0.6}[j], 0.0
				if rng.NormFloat64() > cut {
					v = 1
				}
				table.Values, table.Observed = append(table.Values, v), append(table.Observed, seen)
			}
		}
		for j := range 2 {
			cut := distuv.UnitNormal.Quantile(1 - stat.Mean(table.Column(j), nil))
			table.Cuts = append(table.Cuts, []float64{cut})
			for i := j; i < len(table.Values); i += 2 { // any number between its thresholds
				table.Values[i] += cut - 0.5
			}
		}
		latent := losses.GaussianLatent.(losses.OfMatrix)
		of, err := latent.Matrix(t.Context(), table, table.AllRows(), nil, 1, known == nil)
		require.NoError(t, err)
		if known == nil {
			known = of.Known
		}
		of.Known = known
		m := &matrix{problem: &problem{Engine: &engine.Engine{Problem: engine.Problem{Table: table}}}, of: of}
		joined, apart := network.Adjacency{D: 2, Edge: []bool{true}}, network.Adjacency{D: 2, Edge: []bool{false}}
		ratios = append(ratios, 2*(m.likelihood(joined)-m.likelihood(apart)))
	}
	mean, deviation := stat.MeanStdDev(ratios, nil)
	require.InDelta(t, 1, mean, 3*deviation/math.Sqrt(tables))
}
