package network_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/data/network"
	"missingscore/internal/testtables"
)

// Two single columns have ± the partial correlation; a level of three that of its centred utility.
func TestTogether(t *testing.T) {
	p := mat.NewSymDense(5, testtables.Covariances(5, 9, 5))
	r := network.PartialCorrelation(p, 3, 4)
	pairs, err := network.Together(p, network.Side{First: 3, Width: 1, Levels: []string{"no", "yes"}}, network.Side{First: 4, Width: 1})
	require.NoError(t, err)
	require.Len(t, pairs, 2)
	require.Equal(t, network.LevelPair{From: "no", Association: pairs[0].Association}, pairs[0])
	require.InDeltaSlice(t, []float64{-r, r}, []float64{pairs[0].Association, pairs[1].Association}, 1e-12)

	// Columns 0 and 1 are utilities of b and c minus that of a; the rest is columns 2, 4.
	var sigma mat.Dense
	require.NoError(t, sigma.Inverse(p))
	given := func(x, y []float64) float64 { // partial covariance of two combinations of columns 0, 1, 3
		at, rest := []int{0, 1, 3}, []int{2, 4}
		part := func(rows, columns []int) *mat.Dense {
			m := mat.NewDense(len(rows), len(columns), nil)
			m.Apply(func(i, k int, _ float64) float64 { return sigma.At(rows[i], columns[k]) }, m)
			return m
		}
		var own, other mat.Dense
		require.NoError(t, other.Solve(part(rest, rest), part(rest, at)))
		own.Mul(part(at, rest), &other)
		own.Sub(part(at, at), &own)
		return mat.Inner(mat.NewVecDense(3, x), &own, mat.NewVecDense(3, y))
	}
	number := []float64{0, 0, 1}
	want := func(level []float64) float64 {
		return given(level, number) / math.Sqrt(given(level, level)*given(number, number))
	}
	nominal, single := network.Side{First: 0, Width: 2, Levels: []string{"a", "b", "c"}}, network.Side{First: 3, Width: 1}
	pairs, err = network.Together(p, nominal, single)
	require.NoError(t, err)
	for k, level := range [][]float64{{-1. / 3, -1. / 3, 0}, {2. / 3, -1. / 3, 0}, {-1. / 3, 2. / 3, 0}} {
		require.Equal(t, nominal.Levels[k], pairs[k].From)
		require.InDelta(t, want(level), pairs[k].Association, 1e-12)
	}
	turned, err := network.Together(p, single, nominal)
	require.NoError(t, err)
	require.Equal(t, "c", turned[2].To)
	require.InDelta(t, pairs[2].Association, turned[2].Association, 1e-12)

	_, err = network.Together(mat.NewSymDense(2, []float64{1, 2, 2, 1}), network.Side{First: 0, Width: 1}, network.Side{First: 1, Width: 1})
	require.ErrorContains(t, err, "not positive definite")
}

func TestFilesOfLevels(t *testing.T) {
	n := &network.Network{Nodes: []string{"home", "sex", "x"}, Levels: [][]string{{"a", "b", "c"}, {"f", "m"}, nil}, Edges: []network.Edge{
		{From: "home", To: "x", PartialCorrelation: 0.5, Precision: -0.5, Unsigned: true, Together: []network.LevelPair{{From: "a", Association: 0.25}}},
		{From: "sex", To: "x", PartialCorrelation: -0.25, Precision: 0.25},
	}}
	require.True(t, n.HasLevels())
	var text strings.Builder
	require.NoError(t, n.WriteLevels(&text))
	require.Equal(t, "from,level_from,to,level_to,association\nhome,a,x,,0.25\n", text.String())
	text.Reset()
	require.NoError(t, n.WriteJSON(&text))
	require.Contains(t, text.String(), `"sign": "",
      "levels": [
        {
          "level_from": "a",
          "association": 0.25
        }
      ]`)
	text.Reset()
	require.NoError(t, n.WriteDOT(&text))
	require.Contains(t, text.String(), `color="#555555"`)
	u := network.Unknown(10)
	u.SameSign = 1
	pairs := []network.Uncertainty{u, u, u}
	n.SetUncertainty(mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}), pairs)
	require.True(t, n.Pairs[0].Unsigned && n.Pairs[1].Unsigned && !n.Pairs[2].Unsigned)
	require.True(t, math.IsNaN(pairs[0].SameSign))
	require.Equal(t, 1., pairs[2].SameSign)
}
