package imputation

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/stream"
)

// By hand: draws (3, 4), (0, 0), (0, 8) of x = (0, 0): mean distance (5 + 0 + 8)/3; pairs 5,
// 5 and 8, half their mean 3.
func TestEnergyScoreByHand(t *testing.T) {
	require.InDelta(t, 13./3-3, energyScore([]float64{0, 0}, [][]float64{{3, 0, 0}, {4, 0, 8}}), 1e-12)
	require.InDelta(t, 5, energyScore([]float64{0, 0}, [][]float64{{3}, {4}}), 1e-12)
	require.Zero(t, energyScore(nil, nil))
}

// In one dimension it is the continuous ranked probability score, of N(0, 1)
//
//	x (2Φ(x) − 1) + 2φ(x) − 1/√π
//
// (Gneiting and Raftery 2007, section 4.2), whatever the number of draws: four standard errors.
func TestEnergyScoreOfANormal(t *testing.T) {
	rng := stream.New(1, stream.Sample)
	for _, x := range []float64{0, 1.3} {
		want := x*(2*distuv.UnitNormal.CDF(x)-1) + 2*distuv.UnitNormal.Prob(x) - 1/math.Sqrt(math.Pi)
		for _, m := range []int{2, 20} {
			sum, squares := 0.0, 0.0
			const repeats = 20000
			for range repeats {
				draws := make([]float64, m)
				for k := range draws {
					draws[k] = rng.NormFloat64()
				}
				s := energyScore([]float64{x}, [][]float64{draws})
				sum, squares = sum+s, squares+s*s
			}
			mean := sum / repeats
			require.InDelta(t, want, mean, 4*math.Sqrt((squares/repeats-mean*mean)/repeats), "x = %v, %d draws", x, m)
		}
	}
}

// Column a has mean 3 and deviation 2, b mean 0 and deviation 1. Hidden are a = 5 in row 2
// and both of row 3; b of row 1 was missing before.
func TestMeasure(t *testing.T) {
	whole, err := data.NewTable([]string{"a", "b"}, []float64{1, 0, 5, -1, 1, 1, 5, 1, 3, -1}, []bool{true, false, true, true, true, true, true, true, true, true})
	require.NoError(t, err)
	_, scale := data.Standardise(whole)
	a, b := scale.Deviation[0], scale.Deviation[1]
	hidden := &data.Table{Names: whole.Names, N: 5, D: 2, Values: whole.Values, Observed: []bool{true, false, false, true, false, false, true, true, true, true}}
	got := measure(whole, hidden, filled{values: [][]float64{{9, 9}, {4, 6}, {2, 4}, {0, 1}}})
	require.InDelta(t, math.Sqrt((0+math.Pow(2/a, 2)+math.Pow(0.5/b, 2))/3), got.rmse, 1e-12)
	require.InDelta(t, 2./3, got.coverage, 1e-12) // 5 and 1 lie from the least to the largest draw
	first := 1/a - 1/a                            // |4 − 5|, |6 − 5|, half of |4 − 6|
	row := (math.Hypot(1/a, 1/b)+math.Hypot(3/a, 0))/2 - math.Hypot(2/a, 1/b)/2
	require.InDelta(t, (first+row)/3, got.energy, 1e-12)
	require.InDelta(t, 1/a/3+math.Hypot(1/a, 1/b)/3, measure(whole, hidden, filled{values: [][]float64{{9}, {4}, {2}, {0}}}).energy, 1e-12)
	point := measure(whole, hidden, filled{values: [][]float64{{9, 9}, {4, 6}, {2, 4}, {0, 1}}, point: []float64{0, 5, 1, 2}})
	require.InDelta(t, math.Sqrt(1/b/b/3), point.rmse, 1e-12)
}
