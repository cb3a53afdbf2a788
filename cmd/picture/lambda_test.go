package picture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLogTicks(t *testing.T) {
	labels := func(low, high float64) (found []string) {
		for _, tick := range (logTicks{}).Ticks(low, high) {
			require.True(t, tick.Value >= low && tick.Value <= high)
			if tick.Label != "" {
				found = append(found, tick.Label)
			}
		}
		return found
	}
	require.Equal(t, []string{"0.05", "0.1", "0.2"}, labels(0.05, 0.2))
	require.Equal(t, []string{"0.0001", "0.001", "0.01"}, labels(1e-4, 0.03))
	require.Equal(t, []string{"10", "100", "1000"}, labels(10, 1000))
	require.Len(t, (logTicks{}).Ticks(10, 1000), 19)
}

func TestAlongPathErrors(t *testing.T) {
	for _, l := range []float64{0, -1} {
		_, err := alongPath("", "", []float64{1, l})
		require.ErrorContains(t, err, "a logarithmic axis needs a positive number")
	}
	_, err := alongPath("", "", nil)
	require.EqualError(t, err, "picture: the path has no lambda")
}
