package star

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func smoke(t *testing.T, changes map[string]any) json.RawMessage {
	var sizes map[string]map[string]any
	require.NoError(t, json.Unmarshal(starROC, &sizes))
	for name, value := range changes {
		sizes["smoke"][name] = value
	}
	text, err := json.Marshal(sizes["smoke"])
	require.NoError(t, err)
	return text
}

// A learning rate of 1e300.
func TestDivergedPathHasNoNumbers(t *testing.T) {
	for _, path := range []map[string]any{{"schedule": "fixed", "rate": 1e300}, {"schedule": "fixed", "rate": 1e300, "lambdas": 5}} {
		g, err := grid(smoke(t, map[string]any{"fit": map[string]any{}, "path": path, "methods": []any{map[string]any{"method": "zeroed"}}, "likelihood": nil}), 1)
		require.NoError(t, err)
		values, err := g.Cells[0].Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"-", "true"}, values[:2])
		require.Equal(t, []string{"-", "-", "-", "-"}, values[3:])
	}
}
