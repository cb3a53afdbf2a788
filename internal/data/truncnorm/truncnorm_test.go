package truncnorm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/data/truncnorm"
)

var inf = math.Inf(1)

// From mpmath 1.3.0 with 60 digits; scipy 1.10.1's truncnorm agrees to 1e-11 up to 40 deviations.
var known = []struct{ alpha, beta, z, t, logMass, logDensity float64 }{
	{-1, 2, 0.3, 0.424705234131479734, -0.20016629432446258, -0.808959506829547671},
	{0.5, inf, -1.2, 0.603661896806328477, -1.17591176159361861, 0.0747693855610386813},
	{3, 3.5, 0.7, 3.28886149975330839, -6.79686800668343277, 0.46962449119896956},
	{10, inf, 0.5, 10.1157912478544164, -53.2312851505124706, 1.14773033222379287},
	{10, 11, -0.5, 10.0364699016310248, -53.2313102255831249, 1.94700764920571614},
	{40, inf, 0.5, 40.029368686696617, -804.608442013753788, 2.51432475280529208},
	{100, 100.01, 0.25, 100.004755405773146, -5005.98279656798051, 4.58830615051919274},
	{-2, -1, 2, -1.01286051871997474, -1.99579826918075538, 0.563916520785234488},
	{6, inf, 5, 8.09650343766644843, -20.7367689499747057, -12.9588535413022756},
	{-3, inf, 6, 6.00021933755017329, -0.0013508099647481938, -18.9189037725954448},
	{-inf, -10, 1.5, -10.006844881403246, -53.2312851505124706, 2.2438743770746257}, // t and density: scipy
	{-inf, inf, 0.4, 0.4, 0, -0.998938533204672751},
}

func TestKnownNumbers(t *testing.T) {
	for _, c := range known {
		got := truncnorm.Transport(c.z, c.alpha, c.beta)
		require.InEpsilon(t, c.t, got, 1e-13, "%+v", c)
		require.InDelta(t, c.logMass, truncnorm.LogMass(c.alpha, c.beta), 1e-13*(1+math.Abs(c.logMass)), "%+v", c)
		require.InDelta(t, c.logDensity, truncnorm.LogDensity(got, c.alpha, c.beta), 1e-9, "%+v", c)
		require.Equal(t, -got, truncnorm.Transport(-c.z, -c.beta, -c.alpha))
		require.InDelta(t, c.logMass, truncnorm.LogMass(-c.beta, -c.alpha), 1e-13*(1+math.Abs(c.logMass)))
	}
	require.Equal(t, -inf, truncnorm.LogDensity(0.9, 1, 2))
	require.Equal(t, -inf, truncnorm.LogMass(2, 2))
	require.InDelta(t, distuv.UnitNormal.LogProb(1)+math.Log(1e-12), truncnorm.LogMass(1, 1+1e-12), 1e-3) // 1e-12 itself is rounded
	require.InDelta(t, truncnorm.LogMass(1, 1+1.01e-5)-math.Log(1.01), truncnorm.LogMass(1, 1+1e-5), 1e-6)
}

func TestSlopes(t *testing.T) {
	const h = 1e-5
	for _, c := range [][3]float64{{0.3, -1, 2}, {-1.2, 0.5, 1.5}, {0.7, 3, 3.5}, {0.5, 10, 11}, {0.4, 40, 41}, {1, -3, -2.5}} {
		z, a, b := c[0], c[1], c[2]
		tr := truncnorm.Transport(z, a, b)
		byZ, byA, byB := truncnorm.Slopes(tr, z, a, b)
		diff := func(f func(h float64) float64) float64 { return (f(h) - f(-h)) / (2 * h) }
		require.InDelta(t, diff(func(h float64) float64 { return truncnorm.Transport(z+h, a, b) }), byZ, 1e-8, "%v", c)
		require.InDelta(t, diff(func(h float64) float64 { return truncnorm.Transport(z, a+h, b) }), byA, 1e-7, "%v", c)
		require.InDelta(t, diff(func(h float64) float64 { return truncnorm.Transport(z, a, b+h) }), byB, 1e-7, "%v", c)
		massA, massB := truncnorm.MassSlopes(a, b)
		require.InEpsilon(t, diff(func(h float64) float64 { return truncnorm.LogMass(a+h, b) }), massA, 1e-5, "%v", c)
		if massB > 1e-4 {
			require.InEpsilon(t, diff(func(h float64) float64 { return truncnorm.LogMass(a, b+h) }), massB, 1e-5, "%v", c)
		}
	}
	// Without bounds Transport is the identity with slope 1 in z, also for Unbounded.
	for _, far := range []float64{inf, truncnorm.Unbounded} {
		require.Equal(t, 0.3, truncnorm.Transport(0.3, -far, far))
		byZ, byA, byB := truncnorm.Slopes(0.3, 0.3, -far, far)
		require.Equal(t, []float64{1, 0, 0}, []float64{byZ, byA, byB})
	}
}

// Draws are below Transport(z) with probability Φ(z), for each rejection method.
func TestDraw(t *testing.T) {
	const draws = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range [][2]float64{{-inf, inf}, {-1, 2}, {-0.5, 1}, {0, 0.7}, {0.2, inf}, {0.2, 4}, {1, 1.5}, {2, inf}, {3, 3.2}, {10, inf}, {40, 41}, {100, inf}} {
		for _, mirrored := range []bool{false, true} {
			a, b := c[0], c[1]
			if mirrored {
				a, b = -b, -a
			}
			var at, below [3]float64
			inside := true
			for k := range at {
				at[k] = truncnorm.Transport(float64(k-1), a, b)
			}
			for range draws {
				x := truncnorm.Draw(rng, a, b)
				inside = inside && x >= a && x <= b
				for k := range below {
					if x < at[k] {
						below[k]++
					}
				}
			}
			require.True(t, inside)
			for k, n := range below {
				p := distuv.UnitNormal.CDF(float64(k - 1))
				require.InDelta(t, p, n/draws, 4*math.Sqrt(p*(1-p)/draws), "%v %d", c, k)
			}
		}
	}
	require.Equal(t, 2., truncnorm.Draw(rng, 2, 2))
	require.Zero(t, truncnorm.Draw(rng, 0, 0))
	require.True(t, math.IsNaN(truncnorm.Draw(rng, 2, 1)))
}
