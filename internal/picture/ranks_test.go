package picture

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
)

// All ranks in the lower half: the distribution is ahead of a uniform one by 0.05 after the
// first of twenty, by a half in the middle, and not at the end.
func TestRanks(t *testing.T) {
	counts := make([]int, 20)
	for k := range 10 {
		counts[k] = 20
	}
	points, n := RankCurve{Counts: counts}.excess()
	require.Equal(t, 200., n)
	require.InDelta(t, 0.05, points[1].Y, 1e-12)
	require.InDelta(t, 0.5, points[10].Y, 1e-12)
	require.InDelta(t, 0, points[20].Y, 1e-12)
	p, err := Ranks("ranks", []RankCurve{{"one", counts}, {"other", counts}}, 2.576)
	require.NoError(t, err)
	svg, err := SVG(p, 300*vg.Points(1), 200*vg.Points(1))
	require.NoError(t, err)
	require.Contains(t, svg, "other")
	_, err = Ranks("ranks", nil, 2.576)
	require.ErrorContains(t, err, "no ranks")
	_, err = Ranks("ranks", []RankCurve{{"none", make([]int, 20)}}, 2.576)
	require.ErrorContains(t, err, "no ranks")
}
