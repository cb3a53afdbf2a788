package fitted

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A column has levels where its values are twenty at most, and there are five cells of each on
// average.
func TestLevelsOf(t *testing.T) {
	column := func(n, distinct int) (x []float64) {
		for i := range n {
			x = append(x, float64(i%distinct))
		}
		return x
	}
	require.NotNil(t, levelsOf(column(100, 20)))
	require.Nil(t, levelsOf(column(105, 21)))
	require.Nil(t, levelsOf(column(99, 20)))
}
