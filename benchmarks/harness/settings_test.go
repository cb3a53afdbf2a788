package harness

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/engine"
)

// A setting of one variant leaves the others and the common settings unchanged.
func TestVariantsAreApart(t *testing.T) {
	common := engine.Config{WarmUp: new(3), Imputer: engine.ImputerSpec{Options: []byte(`{"hidden":8}`)}}
	variants, err := Variants(common, []json.RawMessage{
		[]byte(`{"method": "var"}`), []byte(`{"name": "small", "method": "var", "warm_up": 5, "imputer": {"options": {"hidden":4}}}`), []byte(`{"name": "third", "method": "var"}`),
	})
	require.NoError(t, err)
	require.Equal(t, []string{"var", "small", "third"}, Names(variants))
	for i, want := range []struct {
		warmUp  int
		options string
	}{{3, `{"hidden":8}`}, {5, `{"hidden":4}`}, {3, `{"hidden":8}`}} {
		require.Equal(t, want.warmUp, *variants[i].WarmUp)
		require.JSONEq(t, want.options, string(variants[i].Imputer.Options))
	}
	require.Equal(t, 3, *common.WarmUp)
	require.JSONEq(t, `{"hidden":8}`, string(common.Imputer.Options))
}
