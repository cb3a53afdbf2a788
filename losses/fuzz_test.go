package losses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/internal/fuzztest"
	"missingscore/losses"
)

// All options make an objective or are refused with a message.
func FuzzObjectiveOptions(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `null`, `{"noise":{"kind":"fixed","least":0.2}}`,
		`{"noise":{"kind":"preserving","levels":5},"weight":"one"}`,
		`{"kind":"fixed"}`, `{"directions":"normal","number":3}`, `{"directions":"basis","variance_reduced":true}`,
		`{"levels":-1}`, `{"number":1e9}`, `[1]`,
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, bounded bool) {
		s := losses.ObjectiveSetting{Dim: 2, Names: []string{"x1", "x2"}, Options: []byte(text)}
		if bounded {
			s.Domain = domain.All(2)
			s.Domain.Lower[0] = 0
		}
		for name := range losses.Objectives {
			if _, err := losses.NewObjective(name, s); err != nil {
				require.Empty(t, fuzztest.Unknown(err.Error(), text))
			}
		}
	})
}
