package posterior

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

// A gamma variate of shape 2 and rate 1 that is above l has the mean (l² + 2l + 2)/(l + 1) and
// the second moment (l³ + 3l² + 6l + 6)/(l + 1): where rejection does, where the quantile does, and
// far out, where an exponential tail is within a five-hundredth of what is above l.
func TestGammaAbove(t *testing.T) {
	const n = 20_000
	s := &chain{rng: new(stream.Stream).At(1, stream.Sample)}
	for _, l := range []float64{0.001, 1, 6, 30} {
		mean := (l*l + 2*l + 2) / (l + 1)
		deviation := math.Sqrt((l*l*l+3*l*l+6*l+6)/(l+1) - mean*mean)
		sum := 0.0
		for range n {
			v := s.gammaAbove(l, 2, 1)
			require.GreaterOrEqual(t, v, l)
			sum += v / n
		}
		require.InDelta(t, mean, sum, 4*deviation/math.Sqrt(n)+(mean-l)/500, l)
	}
}
