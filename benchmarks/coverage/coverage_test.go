package coverage

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/gaps"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
)

// Edges of partial correlations 0.5 and −0.25.
func TestJudge(t *testing.T) {
	truth := simulate.Gaussian{Mean: make([]float64, 3), Precision: mat.NewSymDense(3, []float64{1, -0.5, 0.25, -0.5, 1, 0, 0.25, 0, 1})}
	pairs := []network.Uncertainty{
		{Estimate: 0.4, SE: 0.1, Low: 0.2, High: 0.6, P: 1e-4, Q: 3e-4},
		{Estimate: -0.35, SE: 0.2, Low: -0.7, High: -0.26, P: 0.2, Q: 0.2},
		{Estimate: 0.3, SE: 0.1, Low: 0.1, High: 0.5, P: 0.003, Q: 0.005},
	}
	require.Equal(t, []string{"2", "0.5", "0", "0.1", "0.3", "0.158114", "0.1", "0", "0.003", "2", "0.5"}, rounded(judge(truth, pairs, 0.1)))
	pairs[2] = network.Unknown(0)
	require.Equal(t, []string{"2", "0.5", "0", "0.1", "0", "0.158114", "0", "0", "-", "1", "0"}, rounded(judge(truth, pairs, 0.1)))
}

func rounded(words []string) []string {
	for i, w := range words {
		if v, err := strconv.ParseFloat(w, 64); err == nil && math.Abs(v) < 1e-12 {
			words[i] = "0"
		}
	}
	return words
}

// Student's rows have 5/3 of the normal variance.
func TestSimulate(t *testing.T) {
	at := func(rows string) setting {
		return setting{design: design{Rows: rows}, columns: 4, rows: 20000, law: gaps.Law{Missing: 0.2}}
	}
	variance := func(rows string) float64 {
		truth, _, table, err := at(rows).simulate(1)
		require.NoError(t, err)
		var sigma mat.Dense
		require.NoError(t, sigma.Inverse(truth.Precision))
		sum := 0.0
		x := table.Column(0)
		for _, v := range x {
			sum += v * v / float64(len(x)) / sigma.At(0, 0)
		}
		return sum
	}
	require.InDelta(t, 1, variance("normal"), 0.05)
	require.InDelta(t, 5./3, variance("t5"), 0.2)
	_, support, table, err := at("truncated").simulate(1)
	require.NoError(t, err)
	require.NoError(t, table.Inside(support))
	require.False(t, math.IsInf(support.Lower[1], -1))
	require.True(t, math.IsInf(support.Lower[2], -1))
}
