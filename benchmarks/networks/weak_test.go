package networks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/data/network"
	"missingscore/internal/stream"
)

// Two true edges, of which one is found, and one false.
func TestWeakMeasures(t *testing.T) {
	got := weakMeasures([]float64{0.3, -0.2, 0, 0, 0, 0}, []float64{0.2, 0, 0, 0.1, 0, 0})
	// 2·1/(2·1+1+1); (1·3 − 1·1)/√(2·2·4·4); 1/2; 1/2; (0.1 + 0.2)/2; (0.1 + 0.2 + 0.1)/6
	require.Equal(t, []string{"0.50000", "0.25000", "0.50000", "0.50000", "0.15000", "0.06667", "2"}, got)
	require.Equal(t, []string{"0.00000", "0.00000", "0.00000", "0.00000", "0.30000", "0.15000", "0"}, weakMeasures([]float64{0.3, 0}, []float64{0, 0}))
}

func TestWeakTruths(t *testing.T) {
	for kind, edges := range map[string]int{"random": 0, "dense": 0, "small-world": 0, "hub": 18, "chain": 19} {
		truth, err := weakTruth(kind, 20, stream.New(1))
		require.NoError(t, err)
		var factor mat.Cholesky
		require.True(t, factor.Factorize(truth.Precision), kind)
		found, negative, most := 0, 0, 0.0
		for _, r := range network.PartialCorrelations(truth.Precision) {
			if r == 0 {
				continue
			}
			found++
			if r < 0 {
				negative++
			}
			most = max(most, math.Abs(r))
			if kind != "dense" { // whose edges are all shrunken
				require.GreaterOrEqual(t, math.Abs(r), 0.08)
			}
		}
		require.LessOrEqual(t, most, 0.35)
		require.Greater(t, negative, found/5, kind)
		require.Less(t, negative, found*4/5, kind)
		if edges > 0 {
			require.Equal(t, edges, found, kind)
		}
	}
}
