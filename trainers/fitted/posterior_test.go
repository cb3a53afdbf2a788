package fitted_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/posterior"
	"missingscore/trainers/fitted"
)

// From one normal x: x itself, complete; exp(0.9x + 0.3e); a three-valued number; a yes/no, an ordered and a
// nominal column, one of whose four levels no row has. A quarter of the cells is missing.
func various(t testing.TB, n int) (gaps *data.Table, whole [][]float64) {
	rng := stream.New(21)
	rows := make([][]float64, n)
	for i := range rows {
		x := rng.NormFloat64()
		near := func(deviation, low, high float64) float64 {
			return min(max(x+deviation*rng.NormFloat64(), low), high)
		}
		y := math.Exp(0.9*x + 0.3*rng.NormFloat64())
		kind := []float64{0, 2, 3}[int(near(0.4, -1.5, 1.4)+1.5)]
		yes, ordered := math.Trunc(near(0.4, -1, 0)+1), math.Round(near(0.4, -1, 1)+1)
		whole = append(whole, []float64{x, y, math.Round(near(0.3, -1, 1)), yes, ordered, kind})
		rows[i] = slices.Clone(whole[i])
		for j := 1; j < 6; j++ {
			if rng.Float64() < 0.25 {
				rows[i][j] = nan
			}
		}
	}
	gaps = table([]string{"normal", "log", "three", "yes", "ordered", "kind"}, rows...)
	gaps.Kinds = []data.Kind{data.Number, data.Number, data.Number, data.Binary, data.Ordered, data.Nominal}
	gaps.Levels = [][]string{nil, nil, nil, {"no", "yes"}, {"low", "mid", "high"}, {"a", "b", "c", "d"}}
	return gaps, whole
}

func fromPosterior(t testing.TB, gaps *data.Table, c posterior.Config) *fitted.PosteriorImputed {
	r, err := fitted.Posterior(t.Context(), gaps, nil, c)
	require.NoError(t, err)
	return r
}

// Logs within the noise's deviation 0.3, levels mostly right; points are means and modes of the draws.
func TestPosterior(t *testing.T) {
	const draws, d = 10, 6
	gaps, whole := various(t, 300)
	c := posterior.Config{Draws: draws, Seed: 1}
	r := fromPosterior(t, gaps, c)
	require.True(t, r.Converged())
	require.Equal(t, "npn of log; levels of three, yes, ordered, kind", r.Transform.Describe(gaps.Names))
	require.Empty(t, r.Beyond(gaps))
	held, step := slices.Clone(r.Values), slices.Repeat([]float64{10}, d)
	require.Positive(t, fitted.Hold{Step: step}.Apply(&fitted.Model{Names: gaps.Names}, gaps, held, draws))
	squares, right, cells, point := make([]float64, d), make([]float64, d), make([]float64, d), r.Point(gaps)
	for at := range gaps.Values {
		i, j := at/d, at%d
		if gaps.Observed[at] {
			require.Equal(t, gaps.Values[at], point.Values[at])
			continue
		}
		cells[j]++
		var x []float64
		for k := range draws {
			drawn := (i*draws+k)*d + j
			x = append(x, r.Values[drawn])
			require.True(t, j < 3 || r.Values[drawn] == held[drawn], "levels are not rounded")
		}
		share := func(v float64) (share float64) {
			for _, u := range x {
				if u == v {
					share += 1. / draws
				}
			}
			return share
		}
		if j > 1 {
			require.Subset(t, gaps.Column(j), x)
		}
		if j < 3 {
			require.InDelta(t, stat.Mean(x, nil), point.Values[at], 1e-12)
			require.InDelta(t, stat.StdDev(x, nil)/math.Sqrt(draws), point.Error[at], 1e-12)
			right[j] += share(whole[i][j])
			for _, v := range x {
				squares[j] += math.Pow(math.Log(max(v, 1e-3)/whole[i][1]), 2) / draws
			}
			continue
		}
		_, most := stat.Mode(x, nil)
		require.InDelta(t, most/draws, share(point.Values[at]), 1e-12)
		if point.Values[at] == whole[i][j] {
			right[j]++
		}
	}
	require.InEpsilon(t, 2*0.3*0.3, squares[1]/cells[1], 0.35) // draw and truth are two draws around one line
	for j, least := range []float64{0.7, 0.6, 0.5, 0.55} {
		require.Greater(t, right[j+2]/cells[j+2], least, gaps.Names[j+2])
	}
	summaries := fitted.Summarise(gaps, r.Values, draws)
	require.Nil(t, summaries[0].Levels)
	levels := summaries[len(summaries)-1].Levels
	require.Equal(t, fitted.LevelShare{Name: "b"}, levels[3])
	observed, imputed := 0., 0.
	for _, l := range levels {
		observed, imputed = observed+l.Observed, imputed+l.Imputed
	}
	require.InDelta(t, 1, observed, 1e-9)
	require.InDelta(t, 1, imputed, 1e-9)
	require.GreaterOrEqual(t, levels[0].Observed, levels[1].Observed)

	c = posterior.Config{Draws: 2, Seed: 1, Donors: 5, WarmUp: 10, Iterations: 20}
	matched := fromPosterior(t, gaps, c)
	for at, v := range matched.Values {
		require.Contains(t, gaps.Column(at%d), v)
	}
	c.Workers = 3
	require.Equal(t, matched, fromPosterior(t, gaps, c))
}
