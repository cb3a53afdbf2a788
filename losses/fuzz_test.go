package losses_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/internal/plainwords"
	"missingscore/losses"
)

// Whatever stands for an objective's options makes one, or is refused in plain words.
func FuzzObjectiveOptions(f *testing.F) {
	names := slices.Sorted(maps.Keys(losses.Objectives))
	for k := range names {
		for _, text := range []string{``, `{}`, `null`, `{"kind":"fixed","least":0.2}`, `{"directions":"normal","number":3}`, `{"levels":-1}`, `{"number":1e9}`, `[1]`} {
			f.Add(uint(k), text, k%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, k uint, text string, bounded bool) {
		s := losses.ObjectiveSetting{Dim: 2, Names: []string{"x1", "x2"}, Options: []byte(text)}
		if bounded {
			s.Domain = domain.All(2)
			s.Domain.Lower[0] = 0
		}
		o, err := losses.NewObjective(names[k%uint(len(names))], s)
		if err != nil {
			require.Empty(t, plainwords.Unknown(err.Error(), text))
			return
		}
		require.NotNil(t, o)
	})
}
