package networks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

// Partial correlations 0.5 and −0.25 against −0.25, −0.5 and −0.5.
func TestJudging(t *testing.T) {
	p := mat.NewSymDense(3, []float64{4, -1, 0, -1, 1, 0.5, 0, 0.5, 4})
	q := mat.NewSymDense(3, []float64{1, 0.25, 0.5, 0.25, 1, 0.5, 0.5, 0.5, 1})
	truth, found := network.PartialCorrelations(p), network.PartialCorrelations(q)
	require.InDelta(t, (-0.75+0.25)/2, graphs.Bias(truth, found), 1e-12)
	other, signs := otherBias(truth, found)
	require.InDelta(t, 0.5, other, 1e-12)
	require.InDelta(t, 0.5, signs, 1e-12)
	require.InDelta(t, math.Sqrt((9+9+2*(1.25*1.25+0.25))/(16+1+16+2*(1+0.25))), distance(p, q), 1e-12)
}

func TestEBIC(t *testing.T) {
	k := kind{Graph: "random", Columns: 5, Rows: 200}
	_, _, table, err := k.simulate(gaps.Law{Missing: 0.3}, 1)
	require.NoError(t, err)
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: "exact"}, Network: &regpath.Config{Lambdas: 10}}, trainers.Run{})
	require.NoError(t, err)
	standard, _ := data.Standardise(table)
	compared := 0
	for i, point := range r.Network.Points {
		if math.IsNaN(r.Network.Scores[i]) {
			continue // the program's search did not come by
		}
		g := simulate.Gaussian{Mean: make([]float64, 5), Precision: graph.Unpack(5, point.Packed())}
		refit, ok, err := emglasso.Refit(t.Context(), standard, g, threshold, emglasso.Options{Iterations: 1000, Tolerance: 1e-6})
		require.NoError(t, err)
		require.True(t, ok)
		require.InDelta(t, r.Network.Scores[i], ebic(standard, refit), 0.1)
		compared++
	}
	require.GreaterOrEqual(t, compared, 3)
}

func TestMethodsFindTheTruth(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	var s settings
	require.NoError(t, harness.Decode(text, &s))
	s.Path.Lambdas, s.Likelihood.Lambdas, s.Likelihood.Ratio = 30, 30, 100
	k := kind{Graph: "random", Columns: 5, Rows: 4000}
	for _, name := range []string{"exact", "em-exact", "glasso"} {
		var m method
		m.Fit.Method = name
		values, err := s.run(t.Context(), k, gaps.Law{}, m, 1)
		require.NoError(t, err)
		require.Len(t, values, 10)
		require.Equal(t, "1.00000", values[1], name) // the best F1
		require.Less(t, values[4], "0.2", name)      // error of the precision
		require.Equal(t, "0.00000", values[8], name) // wrong signs
	}
}
