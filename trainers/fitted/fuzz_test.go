package fitted_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
	_ "missingscore/nets" // the networks among the models
	"missingscore/trainers/fitted"
)

// Whatever a model's file holds is refused in plain words, or is a model that comes again as
// it is written and whose draws are numbers.
func FuzzLoad(f *testing.F) {
	f.Setenv(memory.Variable, "200MB")
	for _, seed := range []string{
		`{"version":2,"model":"gaussian","names":["a","b"],"mean":[0,1],"precision":[[1,0.2],[0.2,2]]}`,
		`{"version":2,"model":"gaussian","names":["a"],"mean":[1e308],"precision":[[1e-300]]}`,
		`{"version":2,"model":"quartic","names":["a","b"],"theta":[[-1,0],[0,-1]]}`,
		`{"version":2,"model":"mixture","options":{"components":2},"names":["a"],"weights":[0.5,0.5],"means":[[0],[1]],"deviations":[[1],[1]]}`,
		`{"version":2,"model":"energy","options":{"hidden":[2]},"names":["a"],"parameters":{}}`,
		`{"version":3,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1]],"transform":{"a":"log"},"domain":{"lower":{"a":0}}}`,
		`{"version":99}`, `{"model":null}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "model.json")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		s, err := fitted.Load(path)
		if err != nil {
			require.NotRegexp(t, `json:|strconv|cannot unmarshal|internal error|runtime error|%!`, err.Error())
			return
		}
		first, err := s.Encode(nil)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, first, 0o600))
		again, err := fitted.Load(path)
		require.NoError(t, err, "%s", first)
		second, err := again.Encode(nil)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))

		m, err := s.Fitted()
		require.NoError(t, err)
		c, err := fitted.SampleConfig{N: 3}.For(m)
		if err != nil || c.Sampler != "exact" || s.Domain.Bounded() { // chains and rejection take their time
			return
		}
		drawn, err := fitted.Sample(t.Context(), m, c)
		if err != nil {
			require.NotRegexp(t, `internal error|runtime error|%!`, err.Error())
			return
		}
		for _, x := range drawn.Values {
			require.False(t, math.IsNaN(x) || math.IsInf(x, 0), "%s: %v", text, drawn.Values)
		}
	})
}
