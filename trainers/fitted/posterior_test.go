package fitted_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/data/transform"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/posterior"
	"missingscore/trainers/fitted"
)

// A normal, a log-normal and a three-valued column; a third of the last two is missing.
func mixed(t testing.TB, n int) (gaps *data.Table, whole [][]float64) {
	rng := stream.New(11)
	rows := make([][]float64, n)
	for i := range rows {
		x := rng.NormFloat64()
		y := math.Exp(0.9*x + 0.3*rng.NormFloat64())
		z := math.Round(min(max(x+0.3*rng.NormFloat64(), -1), 1))
		whole = append(whole, []float64{x, y, z})
		rows[i] = slices.Clone(whole[i])
		for j := 1; j < 3; j++ {
			if rng.Float64() < 1./3 {
				rows[i][j] = nan
			}
		}
	}
	return table([]string{"normal", "log", "three"}, rows...), whole
}

func fromPosterior(t testing.TB, gaps *data.Table, functions transform.Columns, c posterior.Config) *fitted.PosteriorImputed {
	r, err := fitted.Posterior(t.Context(), gaps, functions, c)
	require.NoError(t, err)
	return r
}

// Logs within the noise's deviation 0.3, values mostly right.
func TestPosterior(t *testing.T) {
	gaps, whole := mixed(t, 400)
	const draws = 10
	c := posterior.Config{Draws: draws, Seed: 1}
	r := fromPosterior(t, gaps, nil, c)
	c.Workers = 3
	require.Equal(t, r, fromPosterior(t, gaps, nil, c))
	require.True(t, r.Converged())
	require.Equal(t, "npn of log; levels of three", r.Transform.Describe(gaps.Names))
	require.Empty(t, r.Beyond(gaps))
	squares, cells, right, threes := 0.0, 0.0, 0.0, 0.0
	for at, v := range r.Values {
		i, j := at/3/draws, at%3
		switch {
		case gaps.Observed[i*3+j]:
			require.Equal(t, gaps.Values[i*3+j], v)
		case j == 1:
			squares += math.Pow(math.Log(max(v, 1e-3))-math.Log(whole[i][1]), 2)
			cells++
		default:
			require.Contains(t, []float64{-1, 0, 1}, v)
			if threes++; v == whole[i][2] {
				right++
			}
		}
	}
	// draw and truth are two draws around one line, of deviation 0.3 each
	require.InEpsilon(t, 2*0.3*0.3, squares/cells, 0.35)
	require.Greater(t, right/threes, 0.7)
}

// A number, a yes/no column, an ordered and a nominal column of four levels, one unobserved, all
// from one normal.
func coded(t testing.TB, n int) (gaps *data.Table, whole [][]float64) {
	rng := stream.New(21)
	rows := make([][]float64, n)
	for i := range rows {
		x := rng.NormFloat64()
		near := func() float64 { return x + 0.4*rng.NormFloat64() }
		whole = append(whole, []float64{math.Round(100*near()) / 100, math.Trunc(min(max(near()+1, 0), 1)), math.Round(min(max(near()+1, 0), 2)), []float64{0, 2, 3}[int(min(max(near()+1.5, 0), 2.9))]})
		rows[i] = slices.Clone(whole[i])
		for j := range rows[i] {
			if rng.Float64() < 0.25 {
				rows[i][j] = nan
			}
		}
	}
	gaps = table([]string{"x", "yes", "ordered", "kind"}, rows...)
	gaps.Kinds = []data.Kind{data.Number, data.Binary, data.Ordered, data.Nominal}
	gaps.Levels = [][]string{nil, {"no", "yes"}, {"low", "mid", "high"}, {"a", "b", "c", "d"}}
	return gaps, whole
}

func TestPosteriorOfLevels(t *testing.T) {
	const n, draws = 300, 20
	gaps, whole := coded(t, n)
	r := fromPosterior(t, gaps, nil, posterior.Config{Draws: draws, Seed: 1})
	require.True(t, r.Converged())
	require.Equal(t, "levels of yes, ordered, kind", r.Transform.Describe(gaps.Names))
	require.Empty(t, r.Beyond(gaps))
	before := slices.Clone(r.Values)
	require.Positive(t, fitted.Hold{Step: []float64{10, 10, 10, 10}}.Apply(&fitted.Model{Names: gaps.Names}, gaps, before, draws))
	right, most, cells := make([]float64, 4), []float64{0, 0.6, 0.5, 0.55}, make([]float64, 4)
	point := r.Point(gaps)
	for at := range gaps.Values {
		i, j := at/4, at%4
		var x []float64
		for k := range draws {
			drawn := (i*draws+k)*4 + j
			x = append(x, r.Values[drawn])
			if j > 0 {
				require.Equal(t, r.Values[drawn], before[drawn])
			}
		}
		if gaps.Observed[at] {
			require.Equal(t, gaps.Values[at], point.Values[at])
			continue
		}
		if j == 0 {
			require.InDelta(t, stat.Mean(x, nil), point.Values[at], 1e-12)
			require.InDelta(t, stat.StdDev(x, nil)/math.Sqrt(draws), point.Error[at], 1e-12)
			continue
		}
		mode, _ := stat.Mode(x, nil)
		count := func(v float64) (n int) {
			for _, u := range x {
				if u == v {
					n++
				}
			}
			return n
		}
		require.Equal(t, count(mode), count(point.Values[at]))
		for _, v := range x {
			require.Contains(t, gaps.Column(j), v)
		}
		if cells[j]++; point.Values[at] == whole[i][j] {
			right[j]++
		}
	}
	for j := 1; j < 4; j++ {
		require.Greater(t, right[j]/cells[j], most[j], gaps.Names[j])
	}
	summaries := fitted.Summarise(gaps, r.Values, draws)
	require.Nil(t, summaries[0].Levels)
	levels := summaries[3].Levels
	require.Len(t, levels, 4)
	require.Equal(t, fitted.LevelShare{Name: "b"}, levels[3])
	observed, imputed := 0., 0.
	for _, l := range levels {
		observed, imputed = observed+l.Observed, imputed+l.Imputed
	}
	require.InDelta(t, 1, observed, 1e-9)
	require.InDelta(t, 1, imputed, 1e-9)
	require.GreaterOrEqual(t, levels[0].Observed, levels[1].Observed)

	matched := fromPosterior(t, gaps, nil, posterior.Config{Draws: 3, Seed: 1, Donors: 5})
	for at, v := range matched.Values {
		require.Contains(t, gaps.Column(at%4), v)
	}
}
