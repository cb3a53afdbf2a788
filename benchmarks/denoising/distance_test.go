package denoising

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
)

func TestEnergyDistance(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 2})
	y := mat.NewDense(3, 1, []float64{1, 3, 5})
	// by hand: mean|x−y| = (1+3+5+1+1+3)/6, mean|x−x'| = 4/4, mean|y−y'| = 16/9
	require.InDelta(t, 2*14./6-1-16./9, energyDistance(x, y), 1e-12)
	require.InDelta(t, energyDistance(x, y), energyDistance(y, x), 1e-12)
	require.Zero(t, energyDistance(y, y))
	// in one column it is 2∫(F − G)²
	require.InDelta(t, 2*(1*0.25+1*math.Pow(0.5-1./3, 2)+1*math.Pow(1-1./3, 2)+2*math.Pow(1./3, 2)), energyDistance(x, y), 1e-12)
	turned := func(z *mat.Dense) *mat.Dense { // a rotation of the plane keeps distances
		var out mat.Dense
		out.Mul(z, mat.NewDense(2, 2, []float64{0.6, 0.8, -0.8, 0.6}))
		return &out
	}
	u, v := mat.NewDense(3, 2, []float64{0, 1, 2, 3, -1, 4}), mat.NewDense(2, 2, []float64{1, 1, 0, -2})
	require.InDelta(t, energyDistance(u, v), energyDistance(turned(u), turned(v)), 1e-12)
}

// Of a sample and itself with two columns exchanged, only the dependence differs where
// the columns have the same values.
func TestCompare(t *testing.T) {
	const n = 400
	rng := stream.New(1)
	x, y := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		v := rng.NormFloat64()
		x.SetRow(i, []float64{v, v})
		y.Set(i, 0, v)
		y.Set((i*7+3)%n, 1, v) // a permutation, as 7 and 400 have no divisor in common
	}
	same := compare(x, x)
	require.Equal(t, distances{}, same)
	got := compare(x, y)
	require.Zero(t, got.worst)
	require.InDelta(t, 1, got.correlation, 0.15)
	require.InDelta(t, got.whole, got.pairs, 1e-12)
	require.Greater(t, got.whole, 0.05)
}
