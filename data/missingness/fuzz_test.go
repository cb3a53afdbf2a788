package missingness_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/missingness"
	"missingscore/internal/fuzztest"
)

// Whatever a file of a law holds is read, and then comes again as it is written, or refused in
// plain words.
func FuzzParse(f *testing.F) {
	names := []string{"x1", "x2"}
	regressed, cut := missingness.NewLogistic(2), missingness.NewCensored(2)
	regressed.Intercept[0] = 1.2
	regressed.Slope.SetRow(0, []float64{-0.5, 2})
	cut.Below[1] = 1
	for _, m := range []*missingness.Model{{Logistic: regressed}, {Censored: cut}, {Logistic: regressed, Censored: cut, Estimated: true}} {
		var seed strings.Builder
		require.NoError(f, m.Write(&seed, names))
		_, err := missingness.Parse([]byte(seed.String()), names)
		require.NoError(f, err)
		f.Add(seed.String())
	}
	for _, seed := range []string{
		`{"logistic":{"x1":{"intercept":1.2,"slopes":{"x1":-0.5}}}}`, `{"censored":{"x1":{"below":1,"above":0}}}`, `{"logistic":{"x3":{}}}`, `{"logistic":null}`, `{}`, `[`, `{"logistic":{"x1":{"intercept":1e999}}}`,
	} {
		_, err := missingness.Parse([]byte(seed), names)
		require.Error(f, err, seed)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := missingness.Parse([]byte(text), names)
		if err != nil {
			require.Empty(t, fuzztest.Unknown(err.Error(), text))
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
