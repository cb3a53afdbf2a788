package bootstrap

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/data/network"
	"missingscore/internal/trainers/inference"
)

// By R 4.2.2: x <- c(-0.2,0,0,0.1,0.3,0.35); sd(x); quantile(x, c(.025,.975)).
func TestPairAgainstR(t *testing.T) {
	u := network.Unknown(7)
	u.Estimate = 0.2
	pair(&u, []float64{0.3, 0, 0.1, 0, -0.2, 0.35}, 0.95)
	require.InDelta(t, 0.2059530690877576, u.SE, 1e-14)
	require.InDelta(t, -0.175, u.Low, 1e-14)
	require.InDelta(t, 0.34375, u.High, 1e-14)
	require.Equal(t, 4./6, u.Inclusion)
	require.Equal(t, 3./4, u.SameSign)
	require.True(t, math.IsNaN(u.P) && math.IsNaN(u.Q))

	u = network.Unknown(7)
	u.Estimate = 0 // no edge: it has no sign
	pair(&u, []float64{0, 0.1, 0}, 0.5)
	require.True(t, math.IsNaN(u.SameSign))
	require.InDelta(t, 1./3, u.Inclusion, 1e-15)
	require.InDelta(t, 0.05, u.High, 1e-15) // quantile 0.75 of 0, 0, 0.1
	require.Zero(t, u.Low)

	one := network.Unknown(7)
	pair(&one, []float64{0.1}, 0.95)
	require.True(t, math.IsNaN(one.SE) && math.IsNaN(one.Inclusion))
}

func fit(weights ...float64) inference.Fit {
	f := inference.Fit{Done: true}
	for i, w := range weights {
		if w != 0 {
			f.Edges, f.Partial = append(f.Edges, i), append(f.Partial, w)
		}
	}
	return f
}

// By R 4.2.2, of 4 columns: cor() of the weights and of colSums(abs(matrix)).
func TestStatisticsAgainstR(t *testing.T) {
	a, b := fit(0.5, -0.3, 0, 0.2, 0, 0.1), fit(0.4, -0.2, 0.1, 0.1, 0, 0)
	require.InDeltaSlice(t, []float64{0.8, 0.7, 0.6, 0.1}, a.Strengths(4), 1e-15)
	require.InDelta(t, 0.9505163195428096, correlation(a.Weights(6), b.Weights(6)), 1e-14)
	require.InDelta(t, 0.9135002783911397, correlation(a.Strengths(4), b.Strengths(4)), 1e-14)
	require.Zero(t, correlation(a.Weights(6), fit(0, 0, 0, 0, 0, 0).Weights(6)))
}

// The largest share at which 95 % of the networks correlate by more than 0.7.
func TestCoefficient(t *testing.T) {
	whole := fit(0.5, -0.3, 0, 0.2, 0, 0.1)
	other := fit(-0.5, 0.3, 0.4, 0, 0.6, 0) // of other strengths, too
	build := func(bad func(level, i int) bool, as inference.Fit) []inference.Fit {
		made := make([]inference.Fit, 20*droppedTimes)
		for n := range made {
			if made[n] = whole; bad(n%droppedTimes, n/droppedTimes) {
				made[n] = as
			}
		}
		return made
	}
	s := compare(whole, build(func(int, int) bool { return false }, other), 200, 4)
	require.Equal(t, map[string]float64{strength: 0.75, edgeWeight: 0.75}, s.Coefficient)
	require.Empty(t, s.Warnings)
	require.Equal(t, 190, s.Levels[0].Rows)
	require.Equal(t, 50, s.Levels[9].Rows)
	require.InDelta(t, 0.05+0.7/9, s.Levels[1].Dropped, 1e-15)

	// One of 20 is 95 %, two are not: from the fifth share on.
	two := func(level, i int) bool { return i == 0 || level >= 4 && i < 2 }
	s = compare(whole, build(two, other), 200, 4)
	require.InDelta(t, 0.05+3*0.7/9, s.Coefficient[edgeWeight], 1e-15)
	require.InDelta(t, 0.05+3*0.7/9, s.Coefficient[strength], 1e-15)
	require.Equal(t, 0.9, s.Levels[4].Share)

	failed := inference.Fit{Done: true, Failed: "it diverged"}
	s = compare(whole, build(two, failed), 200, 4)
	require.InDelta(t, 0.05+3*0.7/9, s.Coefficient[edgeWeight], 1e-15)
	require.Equal(t, 2, s.Levels[4].Failed)
	require.Contains(t, s.Warnings[0], "16 of 200 subsamples failed; the first, number 1: it diverged")

	s = compare(whole, build(func(int, int) bool { return true }, failed), 200, 4)
	require.Zero(t, s.Coefficient[strength])
	var text strings.Builder
	require.NoError(t, s.Write(&text))
	require.Equal(t, 21, strings.Count(text.String(), "\n"))
	require.Contains(t, text.String(), "statistic,dropped,rows,networks,failed,correlation,low,high,share_above\nstrength,0.05,190,20,20,0,0,0,0\n")
}

// R's bootnet 1.9.1: plot(x, "edge", plot = "difference", onlyNonZero = TRUE, alpha = 0.2) and
// plot(x, "strength", plot = "difference", alpha = 0.2), as the data of the ggplot.
func TestDifferencesAgainstBootnet(t *testing.T) {
	resamples := [][]float64{
		{.5, -.3, 0, .2, 0, .1}, {.4, -.2, .1, .1, 0, 0}, {.45, -.35, 0, .3, .05, .12}, {.6, -.1, 0, .25, 0, .2},
		{.3, -.3, 0, 0, 0, .35}, {.52, -.41, 0, .22, 0, .08}, {.47, -.28, -.05, .4, 0, .15}, {.38, -.05, 0, .31, 0, .02},
	}
	values := []float64{.5, -.3, 0, .25, 0, .1}
	d := differences([]int{0, 1, 3, 5}, values, resamples, 0.8)
	require.Equal(t, []float64{.5, -.3, .25, .1}, d.Value)
	require.InDeltaSlice(t, []float64{0.549, 0.07, 0.209, -0.659, -0.538, -0.07}, d.Low, 1e-14)
	require.InDeltaSlice(t, []float64{0.839, 0.315, 0.412, -0.3, -0.161, 0.262}, d.High, 1e-14)
	require.True(t, d.Differ(0, 1) && d.Differ(3, 1) && d.Differ(1, 2))
	require.False(t, d.Differ(2, 3) || d.Differ(3, 2))

	var strengths [][]float64
	for _, w := range resamples {
		strengths = append(strengths, fit(w...).Strengths(4))
	}
	d = differences([]int{3, 2, 1, 0}, fit(values...).Strengths(4), strengths, 0.8)
	require.Equal(t, []int{0, 1, 2, 3}, d.Of)
	require.InDeltaSlice(t, []float64{-0.183, -0.036, 0.362, -0.084, 0.265, 0.27}, d.Low, 1e-14)
	require.InDeltaSlice(t, []float64{0.23, 0.274, 0.745, 0.303, 0.67, 0.63}, d.High, 1e-14)
	require.True(t, d.Differ(0, 3))
	require.False(t, d.Differ(0, 2))
}
