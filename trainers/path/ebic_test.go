package path

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

func TestLogLikelihoodAgainstDistmv(t *testing.T) {
	testMean := []float64{1, -0.5, 0.3, 2}
	testPrecision := mat.NewSymDense(4, []float64{2, 0.6, -0.4, 0, 0.6, 1.5, 0.3, -0.2, -0.4, 0.3, 1, 0.5, 0, -0.2, 0.5, 1.8})
	joint, ok := distmv.NewNormalPrecision(testMean, testPrecision, nil)
	require.True(t, ok)
	table := &data.Table{Names: []string{"a", "b", "c", "d"}, N: 3, D: 4,
		Values:   []float64{0.2, math.NaN(), -0.7, math.NaN(), 1, 2, 3, 4, math.NaN(), 0.5, 0.5, 0.5},
		Observed: []bool{true, false, true, false, true, true, true, true, false, true, true, true}}
	marginal, ok := joint.MarginalNormal([]int{0, 2}, nil)
	require.True(t, ok)
	rest, ok := joint.MarginalNormal([]int{1, 2, 3}, nil)
	require.True(t, ok)
	want := marginal.LogProb([]float64{0.2, -0.7}) + joint.LogProb([]float64{1, 2, 3, 4}) + rest.LogProb([]float64{0.5, 0.5, 0.5})
	require.InDelta(t, want, LogLikelihood(table, []int{0, 1, 2}, testMean, testPrecision), 1e-10)
	require.True(t, math.IsInf(LogLikelihood(table, []int{0}, testMean, mat.NewSymDense(4, nil)), -1))
}

// likeliest is the greatest log likelihood of a network of d columns with the edges of
// a packed P, by a quasi-Newton method on LogLikelihood itself, whose derivatives are differences.
func likeliest(t *testing.T, table *data.Table, packed []float64, threshold float64) float64 {
	t.Helper()
	d := table.D
	rows := make([]int, table.N)
	for i := range rows {
		rows[i] = i
	}
	var free []int
	for i, held := range without(Adjacency(packed, d, threshold).Edge, d) {
		if !held {
			free = append(free, i)
		}
	}
	value := func(x []float64) float64 {
		p := make([]float64, len(packed))
		for a, i := range free {
			p[i] = x[d+a]
		}
		return -LogLikelihood(table, rows, x[:d], graph.Unpack(d, p))
	}
	start := make([]float64, d)
	for _, i := range free {
		start = append(start, packed[i])
	}
	r, err := optimize.Minimize(optimize.Problem{Func: value, Grad: func(grad, x []float64) {
		fd.Gradient(grad, value, x, &fd.Settings{Formula: fd.Central})
	}}, start, &optimize.Settings{GradientThreshold: 1e-4}, &optimize.BFGS{})
	if r == nil {
		require.NoError(t, err)
	}
	return -r.F
}

// The criterion is that of the likeliest networks, whatever method has found their edges.
func TestEBICByItsFormula(t *testing.T) {
	const d = 4
	_, table := testtables.Star(t, d, 150, 0.3)
	standard, _ := data.Standardise(table)
	both := 0.0
	for i := range table.N {
		for j := range d {
			for k := range j {
				if table.Observed[i*d+j] && table.Observed[i*d+k] {
					both++
				}
			}
		}
	}
	for _, method := range []string{"exact", "em-exact"} {
		r, scores := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: method}, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 20, Select: Selection{Kind: "ebic", Gamma: new(0.7)}})
		require.Len(t, scores, 20)
		best, judged := -1, 0
		for i, p := range r.State.Points {
			if math.IsNaN(scores[i]) {
				continue
			}
			judged++
			edges := float64(p.Edges)
			want := -2*likeliest(t, standard, p.Packed, r.Config.Threshold) + edges*math.Log(both/6) + 4*0.7*edges*math.Log(d)
			// A refit ends where a turn gains less than refitGain; with turns of rate ρ there is ρ/(1−ρ)
			// as much left, and −2 log L has it twice: 5 suffices to ρ = 0.71.
			require.InDelta(t, want, scores[i], 5*refitGain, "%s, point %d", method, i)
			if best < 0 || scores[i] < scores[best] {
				best = i
			}
		}
		require.Greater(t, judged, 5)
		require.Equal(t, best, r.State.Refine.Index)
		require.True(t, r.State.Refine.Refit)
		require.True(t, r.State.Refine.Converged, r.Verdict())
		if method == "em-exact" { // the result is that network
			at := -2*LogLikelihood(standard, r.rows, r.model.Mean(), r.model.Precision()) + float64(r.edges())*(math.Log(both/6)+4*0.7*math.Log(d))
			require.InDelta(t, scores[best], at, 5*refitGain)
		}
	}
}
