package benchmarks_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/internal/stream"
)

// The true marginal precision is the inverse of the covariance's block.
func TestWithoutFirst(t *testing.T) {
	truth, err := data.SimulateNormal(6, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	naive, marginal := benchmarks.WithoutFirst(truth.Precision)
	var covariance, product mat.Dense
	require.NoError(t, covariance.Inverse(truth.Precision))
	product.Mul(marginal, covariance.Slice(1, 6, 1, 6))
	require.True(t, mat.EqualApprox(&product, mat.NewDiagDense(5, []float64{1, 1, 1, 1, 1}), 1e-10))
	require.True(t, mat.Equal(naive, truth.Precision.SliceSym(1, 6)))
	require.Zero(t, naive.At(1, 4), "the last column depends on the first only")
	require.NotZero(t, marginal.At(1, 4))
	figures, err := benchmarks.Marginalisation("x-", "a normal", truth.Precision)
	require.NoError(t, err)
	require.Len(t, figures, 4)
	require.Equal(t, "x-covariance", figures[0].Name)
}
