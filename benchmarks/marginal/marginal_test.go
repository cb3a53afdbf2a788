package marginal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/marginal"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// The true marginal precision is the inverse of the covariance's block.
func TestWithoutFirst(t *testing.T) {
	truth, err := simulate.Normal(6, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	naive, exact := marginal.WithoutFirst(truth.Precision)
	var covariance, product mat.Dense
	require.NoError(t, covariance.Inverse(truth.Precision))
	product.Mul(exact, covariance.Slice(1, 6, 1, 6))
	require.True(t, mat.EqualApprox(&product, mat.NewDiagDense(5, []float64{1, 1, 1, 1, 1}), 1e-10))
	require.True(t, mat.Equal(naive, truth.Precision.SliceSym(1, 6)))
	require.Zero(t, naive.At(1, 4), "the last column depends on the first only")
	require.NotZero(t, exact.At(1, 4))
	drawn, err := marginal.Figures("x-", "a normal", truth.Precision)
	require.NoError(t, err)
	require.Len(t, drawn, 4)
	require.Equal(t, "x-covariance", drawn[0].Name)
}
