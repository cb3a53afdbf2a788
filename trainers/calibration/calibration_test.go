package calibration_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/stream"
	"missingscore/trainers/calibration"
)

// Ranks are uniform: at 1e-3 in all cases together (Bonferroni), with fixed seeds.
func TestRanksAreUniform(t *testing.T) {
	least := 1.0
	for _, c := range calibration.Cases {
		ranks, err := c.Ranks(t.Context(), 1000, 11)
		require.NoError(t, err, c.Name())
		p := calibration.Uniform(calibration.Counts(ranks))
		t.Logf("%s: p %.3g, %v", c.Name(), p, calibration.Counts(ranks))
		require.Greater(t, p, 1e-3/float64(len(calibration.Cases)), c.Name())
		least = min(least, p)
	}
	t.Logf(`figures {"samplers": %d, "ranks": 1000, "least p": %.3g}`, len(calibration.Cases), least)
}

// The test itself: uniform ranks pass, those of draws 1.3 times too narrow or wide, or with a
// mean that is off by a fifth of a deviation, do not.
func TestUniformNotices(t *testing.T) {
	rng := stream.New(1)
	p := func(sd, mean float64) float64 {
		var ranks []int
		for range 1000 {
			truth, rank := rng.NormFloat64(), 0
			for range calibration.Draws {
				if mean+sd*rng.NormFloat64() < truth {
					rank++
				}
			}
			ranks = append(ranks, rank)
		}
		return calibration.Uniform(calibration.Counts(ranks))
	}
	require.Greater(t, p(1, 0), 0.01)
	require.Less(t, p(1/1.3, 0), 1e-4)
	require.Less(t, p(1.3, 0), 1e-4)
	require.Less(t, p(1, 0.2), 1e-4)
	counts := []int{30, 50, 40} // χ² = 5 with 2 degrees of freedom
	require.InDelta(t, distuv.ChiSquared{K: 2}.Survival(5), calibration.Uniform(counts), 1e-12)
	require.InDelta(t, 0.0820850, calibration.Uniform(counts), 1e-7) // exp(−5/2)
}
