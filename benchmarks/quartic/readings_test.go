package quartic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/training"
)

// A measure reads the number of its epoch: here every number is its epoch.
func TestMeasuresReadTheirEpoch(t *testing.T) {
	trace := strings.Trim(fmt.Sprint(training.Epochs(50)), "[]")
	r := cells.Results{Columns: []string{"columns", "replicate", "method", "fisher_divergence", "quartic_error"}, Lines: [][]string{{"5", "1", "var", trace, trace}}}
	var names []string
	for i, m := range Dimensions() {
		n, err := m.Read(r)
		require.NoError(t, err)
		x, ok := n.At("5", "1", "var")
		require.True(t, ok)
		require.Equal(t, float64(epochs[i%3]), x)
		names = append(names, m.Name)
	}
	require.Equal(t, []string{"error of the parameters after epoch 50", "error of the parameters after epoch 15", "error of the parameters after epoch 7",
		"Fisher divergence after epoch 50", "Fisher divergence after epoch 15", "Fisher divergence after epoch 7"}, names)
}
