package claims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/claims"
)

// 1, 2, 3: mean 2, standard error 1/√3, t(0.975; 2) = 4.30265 (R: qt(.975, 2)).
func TestMeanInterval(t *testing.T) {
	mean, half := claims.MeanInterval([]float64{1, 2, 3})
	require.InDelta(t, 2, mean, 1e-12)
	require.InDelta(t, 4.302653/1.7320508, half, 1e-5)
}
