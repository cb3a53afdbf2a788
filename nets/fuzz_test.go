package nets_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
	"missingscore/nets"
)

// Options make a network of the right size or are refused.
func FuzzOptions(f *testing.F) {
	f.Setenv(memory.Variable, "50MB")
	kinds := slices.Sorted(maps.Keys(model.Models))
	for k, kind := range kinds { // what each model writes of its own
		m, err := model.New(kind, 3, nil, stream.New(1))
		require.NoError(f, err)
		text, err := model.Options(m)
		require.NoError(f, err)
		_, err = model.New(kind, 3, text, stream.New(1))
		require.NoError(f, err, "%s %s", kind, text)
		f.Add(uint(k), string(text))
	}
	imputer, err := nets.NewImputer("normal", 3, nil, stream.New(1))
	require.NoError(f, err)
	text, err := json.Marshal(imputer.Options())
	require.NoError(f, err)
	_, err = nets.NewImputer("normal", 3, text, stream.New(1))
	require.NoError(f, err)
	f.Add(uint(len(kinds)), string(text))
	for k := range len(kinds) + 1 {
		for _, text := range []string{``, `{}`, `null`, `{"hidden":[4,4]}`, `{"hidden":[0]}`, `{"hidden":[1000000,1000000]}`, `{"components":3}`, `{"components":-1}`, `{"activation":"tanh"}`, `{"hidden":7}`} {
			f.Add(uint(k), text)
		}
	}
	f.Fuzz(func(t *testing.T, k uint, text string) {
		if k %= uint(len(kinds) + 1); k == uint(len(kinds)) {
			if _, err := nets.NewImputer("normal", 3, []byte(text), stream.New(1)); err != nil {
				require.Empty(t, fuzztest.Unknown(err.Error(), text))
			}
			return
		}
		m, err := model.New(kinds[k], 3, []byte(text), stream.New(1))
		if err != nil {
			require.Empty(t, fuzztest.Unknown(err.Error(), text))
			return
		}
		require.Equal(t, 3, m.Dim())
	})
}
