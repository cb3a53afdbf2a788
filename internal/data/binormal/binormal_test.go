package binormal_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/data/binormal"
)

// by integrates Φ((y − ρt)/√(1 − ρ²)) φ(t) over t < x, in pieces.
func by(x, y, rho float64) (sum float64) {
	z, low := distuv.UnitNormal, -12.0
	const pieces = 400
	for i := range pieces {
		a, b := low+(x-low)*float64(i)/pieces, low+(x-low)*float64(i+1)/pieces
		sum += quad.Fixed(func(t float64) float64 {
			return z.Prob(t) * z.CDF((y-rho*t)/math.Sqrt(1-rho*rho))
		}, a, b, 16, nil, 0)
	}
	return sum
}

func TestCDFIsTheIntegral(t *testing.T) {
	for _, rho := range []float64{-0.99, -0.93, -0.8, -0.5, -0.1, 0.2, 0.29, 0.31, 0.74, 0.76, 0.924, 0.926, 0.97, 0.995} {
		for _, x := range []float64{-2.5, -1, -0.2, 0, 0.7, 1.9} {
			for _, y := range []float64{-3, -0.9, 0, 0.1, 1.4, 2.6} {
				require.InDelta(t, by(x, y, rho), binormal.CDF(x, y, rho), 2e-14, "ρ %g, (%g, %g)", rho, x, y)
			}
		}
	}
}

// Closed forms: the quadrant ¼ + asin(ρ)/2π (Sheppard 1899), margins, and |ρ| = 1.
func TestCDFKnown(t *testing.T) {
	inf, z := math.Inf(1), distuv.UnitNormal
	for _, rho := range []float64{-1, -0.95, -0.4, 0, 0.3, 0.6, 0.99, 1} {
		require.InDelta(t, 0.25+math.Asin(rho)/2/math.Pi, binormal.CDF(0, 0, rho), 1e-15)
		require.InDelta(t, z.CDF(0.3), binormal.CDF(0.3, inf, rho), 1e-15)
		require.InDelta(t, z.CDF(-1.3), binormal.CDF(inf, -1.3, rho), 1e-15)
		require.Zero(t, binormal.CDF(-inf, 1, rho))
		require.Equal(t, 1., binormal.CDF(inf, inf, rho))
	}
	require.InDelta(t, z.CDF(-0.4), binormal.CDF(-0.4, 0.2, 1), 1e-15)
	require.InDelta(t, z.CDF(0.9)-z.CDF(0.2), binormal.CDF(0.9, -0.2, -1), 1e-15)
	require.Zero(t, binormal.CDF(0.1, -0.2, -1))
}

func TestDensityIsTheDerivativeByTheCorrelation(t *testing.T) {
	const step = 1e-5
	for _, rho := range []float64{-0.9, -0.3, 0.1, 0.7, 0.95} {
		for _, at := range [][2]float64{{0.3, -1}, {-0.5, -0.6}, {1.2, 2}} {
			x, y := at[0], at[1]
			slope := (binormal.CDF(x, y, rho+step) - binormal.CDF(x, y, rho-step)) / (2 * step)
			require.InDelta(t, slope, binormal.Density(x, y, rho), 1e-7)
		}
	}
	require.Zero(t, binormal.Density(math.Inf(1), 0, 0.3))
}
