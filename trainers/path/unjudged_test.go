package path

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Points without a score are passed over; where all are, the sparsest is taken and it is
// said.
func TestLeastOfScoresThatAreNotThere(t *testing.T) {
	nan := math.NaN()
	points := make([]Point, 4)
	for _, c := range []struct {
		scores   []float64
		point    int
		unjudged bool
	}{
		{[]float64{nan, nan, nan, nan}, 0, true},
		{[]float64{nan, 3, 2, nan}, 2, false},
		{[]float64{1, nan, 2, 1}, 0, false},
	} {
		got := leastScore(points, c.scores)
		require.Equal(t, c.point, got.point)
		require.Equal(t, c.unjudged, got.unjudged)
	}
}
