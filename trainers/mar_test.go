package trainers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/path"
)

// TestMissingAtRandom is maths.md's trial: x → y → z, y hidden where x < 0. The mean of
// y is 0, its observed mean about 0.8; x and z are not joined.
func TestMissingAtRandom(t *testing.T) {
	rng := stream.New(11, 3)
	const n, slope = 4000, 1.155
	table := &data.Table{Names: []string{"x", "y", "z"}, N: n, D: 3}
	precision := mat.NewSymDense(3, []float64{1 + slope*slope, -slope, 0, -slope, 1 + slope*slope, -slope, 0, -slope, 1})
	partial := func(p mat.Symmetric, j, k int) float64 { return -p.At(j, k) / math.Sqrt(p.At(j, j)*p.At(k, k)) }
	for range n {
		x := rng.NormFloat64()
		y := slope*x + rng.NormFloat64()
		z := slope*y + rng.NormFloat64()
		if x < 0 {
			y = math.NaN()
		}
		table.Values = append(table.Values, x, y, z)
		table.Observed = append(table.Observed, true, x >= 0, true)
	}
	estimate := func(method string) *trainers.Result {
		r, err := trainers.Estimate(context.Background(), table, trainers.Spec{
			Steps:   engine.Config{Method: method, Seed: 1},
			Network: &path.Config{Select: path.Selection{Kind: "none"}, LambdaMin: 1e-4, Threshold: 0.05},
		}, trainers.Run{})
		require.NoError(t, err)
		require.True(t, r.Converged)
		return r
	}
	// Standard error of a partial correlation of complete rows is (1 − ρ²)/√n, at most
	// 0.016; half of the rows count twice that at most: 0.12 is four of it for ρ = 0.
	right := estimate("em-exact").Network.Precision
	require.InDelta(t, partial(precision, 0, 1), partial(right, 0, 1), 0.06)
	require.InDelta(t, partial(precision, 1, 2), partial(right, 1, 2), 0.06)
	require.InDelta(t, 0, partial(right, 0, 2), 0.12)
	marginal := estimate("exact").Network.Precision
	require.Less(t, partial(marginal, 0, 1), 0.4)
	require.Greater(t, partial(marginal, 0, 2), 0.2)
}
