package fitted_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/trainers/fitted"
)

// A model whose draws are beyond float64 is refused when it is used, exact or not.
func TestDrawsAreFinite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"version":2,"model":"mixture","options":{"components":1},"names":["a","b"],
		"weights":[[1]],"means":[[0,0]],"deviations":[[1,1e308]]}`), 0o600))
	m, err := fitted.Load(path)
	require.NoError(t, err)
	ready, err := m.Fitted()
	require.NoError(t, err)
	_, err = fitted.Sample(context.Background(), ready, fitted.SampleConfig{N: 1000, Seed: 1})
	require.ErrorContains(t, err, `Inf for column "b": its parameters are damaged, or too large for float64`)

	require.NoError(t, os.WriteFile(path, []byte(`{"version":2,"model":"gaussian","names":["a","b"],"mean":[0,1.5e308],"precision":[[1,0],[0,1e-307]]}`), 0o600))
	m, err = fitted.Load(path)
	require.NoError(t, err)
	ready, err = m.Fitted()
	require.NoError(t, err)
	table := &data.Table{Names: []string{"a", "b"}, N: 2, D: 2, Values: []float64{1, 0, 1e308, 0}, Observed: []bool{true, false, true, false}}
	_, err = fitted.Impute(context.Background(), ready, table, fitted.ImputeConfig{Draws: 100, Seed: 1})
	if err != nil {
		require.ErrorContains(t, err, "its parameters are damaged, or too large for float64")
	}
}
