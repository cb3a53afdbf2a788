package inference

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/data/mcar"
)

// By R 4.2.2: z <- atanh(0.3); s <- 0.05/(1-0.3^2); tanh(z + c(-1,1)*qnorm(.975)*s),
// 2*pnorm(-abs(z)/s).
func TestNormalAgainstR(t *testing.T) {
	u := Normal(0.3, 0.05, 0.95, 12)
	require.InDelta(t, 0.199132696027467, u.Low, 1e-12)
	require.InDelta(t, 0.394577350750304, u.High, 1e-12)
	require.InDelta(t, 1.76837835165585e-08, u.P, 1e-18)
	require.Equal(t, 12, u.Rows)
	mirror := Normal(-0.3, 0.05, 0.95, 12)
	require.InDelta(t, -u.High, mirror.Low, 1e-15)
	require.Equal(t, u.P, mirror.P)
}

func TestNormalWithoutANumber(t *testing.T) {
	for _, c := range [][2]float64{{1, 0.1}, {math.NaN(), 0.1}, {0.2, 0}, {0.2, math.NaN()}, {0.2, math.Inf(1)}} {
		u := Normal(c[0], c[1], 0.95, 3)
		require.True(t, math.IsNaN(u.Low) && math.IsNaN(u.High) && math.IsNaN(u.P), "%v", c)
	}
}

// By R 4.2.2's p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.5, 0.2), "BH").
func TestBenjaminiHochbergAgainstR(t *testing.T) {
	q := BenjaminiHochberg([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005, 0.5, 0.2})
	require.True(t, math.IsNaN(q[2]))
	require.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.03, 0.5, 0.24}, slices.Delete(q, 2, 3), 1e-15)
}

func TestConfigBounds(t *testing.T) {
	c, err := Config{Stability: LeastStability}.Resolve()
	require.NoError(t, err)
	require.Equal(t, Config{Kind: None, Level: 0.95, Stability: 10}, c)
	for want, c := range map[string]Config{
		"stability 9: the number of subsamples must be 10 or more": {Stability: 9},
		"level 1: the level":    {Level: 1},
		"level -0.1: the level": {Level: -0.1},
	} {
		_, err := c.Resolve()
		require.ErrorContains(t, err, want)
	}
}

func TestDepends(t *testing.T) {
	tests := []mcar.Column{{P: 0.001, Corrected: 0.06}, {P: 0.5, Corrected: 0.5}}
	p := Problem{GapTests: func() []mcar.Column { return tests }}
	require.False(t, p.Depends())
	tests[1].Corrected = 0.01
	require.True(t, p.Depends())
}
