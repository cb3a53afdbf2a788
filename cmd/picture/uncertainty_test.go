package picture

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
)

// uncertain is a pair with an estimate, an interval and an inclusion share.
func uncertain(from, to string, estimate, low, high, inclusion float64) network.Edge {
	u := network.Unknown(10)
	u.Estimate, u.Low, u.High, u.Inclusion = estimate, low, high, inclusion
	return network.Edge{From: from, To: to, Uncertainty: &u}
}

func TestForest(t *testing.T) {
	p, err := Forest("Intervals", "partial correlation", []network.Edge{
		uncertain("a", "b<", 0.5, 0.3, 0.6, 1),
		uncertain("a", "c", 0.1, -0.1, 0.3, 0.2),
		uncertain("b<", "c", -0.4, -0.5, -0.2, 0.9),
		uncertain("c", "d", 0.2, math.NaN(), math.NaN(), 0.9),
	})
	require.NoError(t, err)
	all := leaves(t, p)
	require.Subset(t, texts(all), []string{"a – b<", "a – c", "b< – c", "c – d"})
	require.Len(t, strokes(all, svgBlue), 1)
	require.Len(t, strokes(all, svgRed), 1)
	require.Contains(t, strokes(all, svgRed)[0], "stroke-dasharray:")
	require.Len(t, strokes(all, svgGrey), 1)
	require.Equal(t, 1, dotsOf(all, svgBlue))
	require.Equal(t, 2, dotsOf(all, svgGrey), "an interval with 0 and one that is not known")
}

func TestForestErrors(t *testing.T) {
	_, err := Forest("", "", nil)
	require.ErrorContains(t, err, "no pairs")
	_, err = Forest("Intervals", "partial correlation", []network.Edge{uncertain("a", "b", math.NaN(), 0, 0, 0)})
	require.ErrorContains(t, err, "a – b has no estimate")
}

func TestPValues(t *testing.T) {
	p, err := PValues(slices.Concat(slices.Repeat([]float64{0.01}, 30), []float64{0.05, 0.5, 1}))
	require.NoError(t, err)
	require.Equal(t, 30.0, p.Y.Max)
	require.Equal(t, []float64{0, 1}, []float64{p.X.Min, p.X.Max})
	for _, bad := range [][]float64{nil, {-0.1}, {1.1}, {math.NaN()}} {
		_, err := PValues(bad)
		require.Error(t, err)
	}
}

func TestInclusion(t *testing.T) {
	p, left, err := Inclusion([]network.Edge{uncertain("a", "b", 0.5, 0, 0, 1), uncertain("a", "c", -0.5, 0, 0, 0.25), uncertain("b", "c", 0.5, 0, 0, math.NaN())})
	require.NoError(t, err)
	require.Zero(t, left)
	all := leaves(t, p)
	require.Equal(t, []int{1, 1}, []int{dotsOf(all, svgBlue), dotsOf(all, svgRed)})
	_, _, err = Inclusion([]network.Edge{uncertain("b", "c", 0.5, 0, 0, math.NaN())})
	require.ErrorContains(t, err, "inclusion")
}

// Of very many pairs those that resamples have most often are drawn, of equal ones the largest.
func TestInclusionOfManyPairs(t *testing.T) {
	pairs := slices.Repeat([]network.Edge{uncertain("a", "b", 0.1, 0, 0, 0)}, mostDots)
	pairs = append(pairs, uncertain("a", "c", -0.2, 0, 0, 0), uncertain("b", "c", -0.01, 0, 0, 0.5))
	p, left, err := Inclusion(pairs)
	require.NoError(t, err)
	require.Equal(t, 2, left)
	all := leaves(t, p)
	require.Equal(t, []int{mostDots - 2, 2}, []int{dotsOf(all, svgBlue), dotsOf(all, svgRed)})
}
