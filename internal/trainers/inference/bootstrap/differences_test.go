package bootstrap

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
