package penalty

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
)

func TestShrinkIsTheProximalMap(t *testing.T) {
	for _, p := range All {
		for _, x := range []float64{-3, -0.4, 0, 0.1, 2} {
			for _, step := range []float64{0, 0.3, 1, 10} {
				value := func(y float64) float64 { return (y-x)*(y-x)/2 + step*p.Value(y) }
				at := p.Shrink(x, step)
				for _, away := range []float64{-1, -1e-4, 1e-4, 1} {
					require.Less(t, value(at), value(at+away), "%s at %g, t = %g", p.Name, x, step)
				}
			}
			require.Zero(t, p.Shrink(x, math.Inf(1)))
		}
	}
}

func TestLambdaInWords(t *testing.T) {
	for text, want := range map[string]Config{"0.5": {Lambda: 0.5}, "cv": {}, "cv=7": {Folds: 7}} {
		var c Config
		require.NoError(t, c.ParseLambda(text))
		require.Equal(t, want, c)
	}
	require.ErrorContains(t, new(Config).ParseLambda("cv=1"), "a positive number, cv or cv=FOLDS")
	c, err := Config{Kind: "ridge"}.Resolve(100)
	require.NoError(t, err)
	require.Equal(t, Config{Kind: "ridge", Folds: 5, Lambdas: 15}, c)
	require.True(t, c.Validates())
	none, err := Config{Kind: None}.Resolve(2)
	require.NoError(t, err)
	require.Equal(t, Config{}, none, "in files as if it had not been named")
	_, err = Config{Kind: "l2"}.Resolve(100)
	require.ErrorContains(t, err, "it is one of none, l1, ridge")
	path := c.Path(8, 4)
	require.Len(t, path, 15)
	require.Equal(t, []float64{8, 4}, []float64{path[0], path[7]})
	require.InDelta(t, 2, path[14], 1e-12)
}

func TestOutcomeInWords(t *testing.T) {
	o := Outcome{Kind: "l1", Lambda: 0.25, Coupled: 3, Pairs: 10}
	require.Equal(t, "penalty l1, λ 0.25: 3 of 10 couplings are not 0", o.String())
	o.Folds, o.Curve = 5, make([]Point, 15)
	require.Equal(t, "penalty l1, λ 0.25 by 5-fold cross-validation over 15 values: 3 of 10 couplings are not 0", o.String())
}

func FuzzParseLambda(f *testing.F) {
	fuzztest.Reader[Config]{
		Read: func(text string) (c Config, err error) {
			c.Kind = "l1"
			return c, c.ParseLambda(text)
		},
		Write:   func(c Config) (string, error) { return c.text(), nil },
		Check:   func(t testing.TB, text string, c Config) { require.Equal(t, c.Lambda == 0, c.Validates(), "%q", text) },
		Accepts: []string{"cv", "cv=2", "cv=10", "0.1", "1e-300", "+5"},
		Refuses: []string{"", "0", "-1", "NaN", "Inf", "1e999", "cv=", "cv=1", "cv=2.5", "CV", "x"},
	}.Fuzz(f)
}
