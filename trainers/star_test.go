package trainers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
)

// StarTable is a simulated star network with gaps, for the tests of this package and
// of its users' view.
func StarTable(t *testing.T, d, n int, missing float64) (data.Gaussian, *data.Table) {
	t.Helper()
	rng := stream.New(1, stream.Simulate)
	g, err := data.SimulateStar(d, rng)
	require.NoError(t, err)
	table, err := g.Sample(n, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, missing, stream.New(1, stream.Hide))
	require.NoError(t, err)
	return g, table
}
