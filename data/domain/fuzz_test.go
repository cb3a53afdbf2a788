package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/internal/fuzztest"
)

// Whatever a domain's file holds is read, with a point inside, and comes again as it is
// written, or is refused in plain words.
func FuzzParseText(f *testing.F) {
	names := []string{"x1", "x2"}
	box := domain.All(2)
	box.Lower[0], box.Upper[1] = 0, 3
	cut := domain.All(2)
	cut.Half = []domain.HalfSpace{{A: []float64{1, -1}, B: 0.5}, {A: []float64{0, 1}, B: 1}}
	for _, s := range []*domain.Domain{domain.All(2), box, cut} {
		var seed strings.Builder
		require.NoError(f, s.Write(&seed, names))
		_, err := domain.Parse([]byte(seed.String()), names)
		require.NoError(f, err)
		f.Add(seed.String())
	}
	for _, seed := range []string{
		`{"lower":{"x1":0},"upper":{"x2":3},"halfspace":{"a":{"x1":1,"x2":-1},"b":0.5}}`, `{"lower":{"x1":-1e150},"upper":{"x1":1e150}}`,
		`{"halfspaces":[{"a":{"x1":1},"b":1},{"a":{"x2":1},"b":1}]}`, `{"lower":{"x1":1},"upper":{"x1":1}}`, `{"lower":null}`, `{"lower":{"x9":0}}`, `{"lower":{"x1":"a"}}`, `{"lower":5}`, `{"lower":{"x1":1}`, `[]`, `{}`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := domain.Parse([]byte(text), names)
		if err != nil {
			require.Empty(t, fuzztest.Unknown(err.Error(), text))
			return
		}
		if point, ok := s.Interior([]float64{0, 0}, []float64{0, 0}); ok {
			require.True(t, s.Contains(point), "%s %v", text, point)
		}
		var first, second strings.Builder
		require.NoError(t, s.Write(&first, names))
		again, err := domain.Parse([]byte(first.String()), names)
		require.NoError(t, err, "%s", first.String())
		require.NoError(t, again.Write(&second, names))
		require.Equal(t, first.String(), second.String())
	})
}
