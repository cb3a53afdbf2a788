package penalty_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/penalty"
)

func TestShrinkIsTheProximalMap(t *testing.T) {
	for _, p := range penalty.All {
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
	for text, want := range map[string]penalty.Config{"0.5": {Lambda: 0.5}, "cv": {}, "cv=7": {Folds: 7}} {
		var c penalty.Config
		require.NoError(t, c.ParseLambda(text))
		require.Equal(t, want, c)
	}
	require.ErrorContains(t, new(penalty.Config).ParseLambda("cv=1"), "a positive number, cv or cv=FOLDS")
	c, err := penalty.Config{Kind: "ridge"}.Resolve(100)
	require.NoError(t, err)
	require.Equal(t, penalty.Config{Kind: "ridge", Folds: 5, Lambdas: 15}, c)
	require.True(t, c.Validates())
	none, err := penalty.Config{Kind: penalty.None}.Resolve(2)
	require.NoError(t, err)
	require.Equal(t, penalty.Config{}, none, "in files as if it had not been named")
	_, err = penalty.Config{Kind: "l2"}.Resolve(100)
	require.ErrorContains(t, err, "it is one of none, l1, ridge")
	path := c.Path(8, 4)
	require.Len(t, path, 15)
	require.Equal(t, []float64{8, 4}, []float64{path[0], path[7]})
	require.InDelta(t, 2, path[14], 1e-12)
}

func TestOutcomeInWords(t *testing.T) {
	o := penalty.Outcome{Kind: "l1", Lambda: 0.25, Coupled: 3, Pairs: 10}
	require.Equal(t, "penalty l1, λ 0.25: 3 of 10 couplings are not 0", o.String())
	o.Folds, o.Curve = 5, make([]penalty.Point, 15)
	require.Equal(t, "penalty l1, λ 0.25 by 5-fold cross-validation over 15 values: 3 of 10 couplings are not 0", o.String())
}
