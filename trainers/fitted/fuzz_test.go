package fitted_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

var numbers = regexp.MustCompile(`-?[0-9][-+.0-9eE]*`)

// Equal up to rounding relative to the largest number: P is stored as LLᵀ, and weights as logarithms.
func requireSame(t *testing.T, first, second string) {
	require.Equal(t, numbers.ReplaceAllString(first, ""), numbers.ReplaceAllString(second, ""))
	x, y, largest := numbers.FindAllString(first, -1), numbers.FindAllString(second, -1), 1.
	require.Len(t, y, len(x))
	for pass := range 2 {
		for i := range x {
			if v, err := strconv.ParseFloat(x[i], 64); err == nil && pass == 0 {
				largest = max(largest, math.Abs(v))
			} else if w, _ := strconv.ParseFloat(y[i], 64); x[i] != y[i] {
				require.InDelta(t, v, w, 1e-13*largest)
			}
		}
	}
}

// Refused with a message, or written unchanged and with finite draws.
func FuzzLoad(f *testing.F) {
	f.Setenv(memory.Variable, "200MB")
	for kind := range model.Models { // as it is written, and with all that a model may have along
		m, err := model.New(kind, 2, nil, stream.New(1))
		require.NoError(f, err)
		s := domain.All(2)
		s.Lower[0] = -5
		law := &missingness.Model{Censored: domain.All(2)}
		law.Censored.Upper[1] = 3
		plain := fitted.Saved{Kind: kind, Model: m, Names: []string{"a", "b"}}
		whole := plain
		whole.Domain, whole.Scale, whole.Missingness = s, data.Scale{Mean: []float64{0, 0}, Deviation: []float64{0.5, 2}}, law
		whole.Noise, whole.Imputer = &noise.Schedule{Kind: noise.Fixed, Least: 0.1}, nets.NewNormalImputer(2, nets.NormalOptions{Hidden: 2}, stream.New(1))
		whole.ImputerKind = "normal"
		for _, saved := range []fitted.Saved{plain, whole} {
			_, text := reloaded(f, &saved)
			f.Add([]byte(text))
		}
	}
	for _, seed := range []string{
		`{"version":2,"model":"gaussian","names":["a","b"],"mean":[0,1],"precision":[[1,0.2],[0.2,2]]}`,
		`{"version":2,"model":"gaussian","names":["a"],"mean":[1e308],"precision":[[1e-300]]}`,
		`{"version":2,"model":"quartic","names":["a","b"],"theta":[[-1,0],[0,-1]]}`,
		`{"version":2,"model":"mixture","options":{"components":2},"names":["a"],"weights":[0.5,0.5],"means":[[0],[1]],"deviations":[[1],[1]]}`,
		`{"version":2,"model":"energy","options":{"hidden":[2]},"names":["a"],"parameters":{}}`,
		`{"version":2,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1]],"transform":{"a":"log"},"domain":{"lower":{"a":0}}}`,
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
			require.Empty(t, fuzztest.Unknown(err.Error(), string(text)))
			return
		}
		first, err := s.Encode(nil)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, first, 0o600))
		again, err := fitted.Load(path)
		require.NoError(t, err, "%s", first)
		second, err := again.Encode(nil)
		require.NoError(t, err)
		requireSame(t, string(first), string(second))

		m, err := s.Fitted()
		require.NoError(t, err)
		c, err := fitted.SampleConfig{N: 3}.For(m)
		if err != nil || c.Sampler != "exact" || s.Domain.Bounded() { // chains and rejection are slow
			return
		}
		drawn, err := fitted.Sample(t.Context(), m, c)
		if err != nil {
			require.Empty(t, fuzztest.Unknown(err.Error(), string(text)))
			return
		}
		for _, x := range drawn.Values {
			require.False(t, math.IsNaN(x) || math.IsInf(x, 0), "%s: %v", text, drawn.Values)
		}
	})
}
