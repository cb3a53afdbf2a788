package missingness_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/missingness"
	"missingscore/internal/plainwords"
)

// Whatever a file of a law holds is read, and then comes again as it is written, or refused in
// plain words.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"logistic":{"x1":{"intercept":1.2,"slopes":{"x1":-0.5}}}}`, `{"censored":{"x1":{"below":1},"x2":{"above":5}}}`,
		`{"censored":{"x1":{"below":1,"above":0}}}`, `{"logistic":{"x3":{}}}`, `{"logistic":null}`, `{}`, `[`, `{"logistic":{"x1":{"intercept":1e999}}}`,
	} {
		f.Add(seed)
	}
	names := []string{"x1", "x2"}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := missingness.Parse([]byte(text), names)
		if err != nil {
			require.Empty(t, plainwords.Unknown(err.Error(), text))
			return
		}
		var first, second strings.Builder
		require.NoError(t, m.Write(&first, names))
		again, err := missingness.Parse([]byte(first.String()), names)
		require.NoError(t, err, "%s", first.String())
		require.NoError(t, again.Write(&second, names))
		require.Equal(t, first.String(), second.String())
	})
}
