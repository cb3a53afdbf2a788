package calibration

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/stream"
)

const most = 1000 // ranks

// Ranks are uniform: at 1e-3 in all cases together (Bonferroni), with fixed seeds.
func TestRanksAreUniform(t *testing.T) {
	least, fewest := 1.0, most
	for _, c := range Cases {
		p, n := p(t, c)
		require.Greater(t, p, 1e-3/float64(len(Cases)), c.Name())
		least, fewest = min(least, p), min(fewest, n)
	}
	t.Logf(`figures {"samplers": %d, "ranks": %d, "fewest ranks": %d, "least p": %.3g}`, len(Cases), most, fewest, least)
}

// p is that of a case's ranks, and how many they are.
func p(t *testing.T, c Case) (p float64, n int) {
	ranks, err := c.Ranks(t.Context(), most, 11)
	require.NoError(t, err, c.Name())
	p = Uniform(Counts(ranks))
	t.Logf("%s: p %.3g, %v", c.Name(), p, Counts(ranks))
	return p, len(ranks)
}

// The test sees the error of each approximate sampler at a coarse setting and not at a fine one.
func TestErrorsGoBySize(t *testing.T) {
	tried, least := 0, 1.0
	for _, a := range Approximations {
		if a.Cases[0].Cost > 4 || a.Cases[1].Cost > 4 {
			continue
		}
		first, _ := p(t, a.Cases[0])
		require.Less(t, first, 1e-4, a.Cases[0].Name())
		second, _ := p(t, a.Cases[1])
		require.Greater(t, second, 1e-3/float64(len(Approximations)), a.Cases[1].Name())
		tried, least = tried+1, min(least, second)
	}
	t.Logf(`figures {"tried": %d, "of": %d, "least p": %.3g}`, tried, len(Approximations), least)
}

// What is known to be wrong is seen to be, with few rows; with many, more ranks are needed.
func TestHeldParametersAreNoticed(t *testing.T) {
	least, _ := p(t, Wrong[0])
	require.Less(t, least, 1e-4)
}

// The test itself: uniform ranks pass, those of draws 1.3 times too narrow or wide, or with a
// mean that is off by a fifth of a deviation, do not.
func TestUniformNotices(t *testing.T) {
	rng := stream.New(1)
	p := func(sd, mean float64) float64 {
		var ranks []int
		for range 1000 {
			truth, rank := rng.NormFloat64(), 0
			for range Draws {
				if mean+sd*rng.NormFloat64() < truth {
					rank++
				}
			}
			ranks = append(ranks, rank)
		}
		return Uniform(Counts(ranks))
	}
	require.Greater(t, p(1, 0), 0.01)
	require.Less(t, p(1/1.3, 0), 1e-4)
	require.Less(t, p(1.3, 0), 1e-4)
	require.Less(t, p(1, 0.2), 1e-4)
	counts := []int{30, 50, 40} // χ² = 5 with 2 degrees of freedom
	require.InDelta(t, distuv.ChiSquared{K: 2}.Survival(5), Uniform(counts), 1e-12)
	require.InDelta(t, 0.0820850, Uniform(counts), 1e-7) // exp(−5/2)
}
