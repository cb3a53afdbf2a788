package data_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Scales of a table of several parts are those of a plain loop, and the same for any number of
// processors.
func TestSumsInParts(t *testing.T) {
	const n, d = 30_000, 3
	rng := stream.New(1, stream.Simulate)
	values, observed := make([]float64, n*d), make([]bool, n*d)
	for k := range values {
		values[k], observed[k] = 3+float64(k/d)/n+rng.NormFloat64(), rng.Float64() < 0.8
	}
	table, err := data.NewTable([]string{"a", "b", "c"}, values, observed)
	require.NoError(t, err)
	_, scale := data.Standardise(table)
	_, zero := data.ScaleAboutZero(table, 2)
	for j := range d {
		sum, square, number := 0.0, 0.0, 0.0
		for k := j; k < len(values); k += d {
			if observed[k] {
				sum, square, number = sum+values[k], square+values[k]*values[k], number+1
			}
		}
		mean := sum / number
		require.InEpsilon(t, mean, scale.Mean[j], 1e-12)
		require.InEpsilon(t, math.Sqrt(square/number-mean*mean), scale.Deviation[j], 1e-10)
		require.InEpsilon(t, math.Sqrt(square/number)/2, zero.Deviation[j], 1e-12)
	}
	for _, processors := range []int{1, 4} {
		before := runtime.GOMAXPROCS(processors)
		_, again := data.Standardise(table)
		runtime.GOMAXPROCS(before)
		require.Equal(t, scale, again)
	}
}
