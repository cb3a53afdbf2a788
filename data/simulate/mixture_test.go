package simulate_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

func TestSimulatedMixtures(t *testing.T) {
	modes := simulate.Modes(10, 5, stream.New(1, 1))
	for _, m := range []simulate.Mixture{simulate.Moons(), simulate.Ring(), simulate.Curve(5), modes} {
		require.NoError(t, m.Check())
		table, err := m.Sample(500, stream.New(2, 2))
		require.NoError(t, err)
		require.True(t, table.Complete())
		require.Equal(t, len(m.Means[0]), table.D)
	}
	require.Equal(t, modes, simulate.Modes(10, 5, stream.New(1, 1)))
	require.NotEqual(t, modes, simulate.Modes(10, 5, stream.New(2, 1)))

	// a point's distance to the ring, and to the nearer half circle, is the blur's
	ring := simulate.Ring().Draw(2000, stream.New(3, 3))
	moons := simulate.Moons().Draw(2000, stream.New(3, 4))
	upper := 0
	for i := range 2000 {
		x, y := ring[2*i], ring[2*i+1]
		require.Less(t, math.Abs(math.Hypot(x, y)-1), 0.6)
		x, y = moons[2*i], moons[2*i+1]
		up, down := math.Abs(math.Hypot(x, y)-1), math.Abs(math.Hypot(x-1, y-0.5)-1)
		require.Less(t, min(up, down), 0.6)
		if up < down {
			upper++
		}
	}
	require.InDelta(t, 1000, upper, 150)

	// the m-th pair of columns of a curve is on a circle, at m times the angle of the first
	const d, rows = 10, 4000
	curve := simulate.Curve(d).Draw(rows, stream.New(3, 5))
	var turned [d / 2]float64 // mean of cos(m θ̂₁ − θ̂_m)
	for i := range rows {
		x := curve[i*d : (i+1)*d]
		first := math.Atan2(x[1], x[0])
		for m := range turned {
			require.Less(t, math.Abs(math.Hypot(x[2*m], x[2*m+1])-1), 1.2)
			turned[m] += math.Cos(float64(m+1)*first-math.Atan2(x[2*m+1], x[2*m])) / rows
		}
	}
	for m, mean := range turned {
		// an angle is off by a normal of deviation 0.2 or nearly so, and m times that
		off := 0.2 * math.Hypot(float64(m+1), 1)
		if m == 0 {
			off = 0
		}
		require.InDelta(t, math.Exp(-off*off/2), mean, 0.06, "pair %d", m+1)
	}
}
