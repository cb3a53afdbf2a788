package losses_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/internal/data/noise"
	"missingscore/internal/fuzztest"
	"missingscore/losses"
)

func fuzzedSetting(options string, bounded bool) losses.ObjectiveSetting {
	s := losses.ObjectiveSetting{Dim: 2, Names: []string{"x1", "x2"}, Options: []byte(options)}
	if bounded {
		s.Domain = domain.All(2)
		s.Domain.Lower[0] = 0
	}
	return s
}

// All options of objectives make one, or are refused with a message.
func FuzzObjectiveOptions(f *testing.F) {
	names := slices.Sorted(maps.Keys(losses.Objectives))
	denoising, err := losses.Denoising{Noise: noise.Schedule{Kind: noise.Preserving, Levels: 5}}.WithDefaults()
	require.NoError(f, err)
	sliced, err := losses.Sliced{Directions: losses.Basis, VarianceReduced: true}.WithDefaults()
	require.NoError(f, err)
	for name, options := range map[string]any{"classical": struct{}{}, "denoising": denoising, "sliced": sliced, "truncated": struct{}{}} {
		text, err := json.Marshal(options)
		require.NoError(f, err)
		bounded := name == "truncated"
		_, err = losses.NewObjective(name, fuzzedSetting(string(text), bounded))
		require.NoError(f, err, name)
		f.Add(uint(slices.Index(names, name)), string(text), bounded)
	}
	for k := range names {
		for _, text := range []string{``, `{}`, `null`, `{"noise":{"kind":"fixed","least":0.2}}`, `{"kind":"fixed"}`, `{"directions":"normal","number":3}`, `{"levels":-1}`, `{"number":1e9}`, `[1]`} {
			f.Add(uint(k), text, k%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, k uint, text string, bounded bool) {
		o, err := losses.NewObjective(names[k%uint(len(names))], fuzzedSetting(text, bounded))
		if err != nil {
			require.Empty(t, fuzztest.Unknown(err.Error(), text))
			return
		}
		require.NotNil(t, o)
	})
}
