package data_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
)

func TestBatch(t *testing.T) {
	nan := math.NaN()
	table := &data.Table{Names: []string{"a", "b"}, N: 3, D: 2,
		Values: []float64{1, nan, 3, 4, nan, 6}, Observed: []bool{true, false, true, true, false, true}}
	b := data.NewBatch(3, 2)
	b.Fill(table, []int{2, 0, 1}, 0.25)
	require.Equal(t, []float64{0, 6, 1, 0, 3, 4}, b.X)
	require.Equal(t, []float64{0, 1, 1, 0, 1, 1}, b.Mask)
	require.Equal(t, []float64{0.25, 0.25, 0.25}, b.Weight)
	b.Fill(table, []int{1}, 0.5) // the rest becomes padding
	require.Equal(t, []float64{3, 4, 0, 0, 0, 0}, b.X)
	require.Equal(t, []float64{1, 1, 0, 0, 0, 0}, b.Mask)
	require.Equal(t, []float64{0.5, 0, 0}, b.Weight)
	require.Equal(t, []int{1}, b.Rows)
	rows := []int{0, 1}
	require.Zero(t, testing.AllocsPerRun(100, func() { b.Fill(table, rows, 1) }))
	require.Panics(t, func() { b.Fill(table, []int{0, 1, 2, 0}, 1) })
}

func TestAddNoise(t *testing.T) {
	b := data.NewBatch(2, 2)
	copy(b.X, []float64{1, 0, 3, 4})
	copy(b.Mask, []float64{1, 0, 1, 1})
	level := 0.
	b.AddNoise(func(*rand.Rand) (float64, float64) { level++; return 0.5 * level, 2 * level }, stream.New(1))
	require.Equal(t, []float64{0.5, 1}, b.Signal)
	require.Equal(t, []float64{2, 4}, b.Noise)
	require.Zero(t, b.X[1])
	require.Zero(t, b.Epsilon[1])
	for i, x := range []float64{0.5 * 1, 0, 1 * 3, 1 * 4} {
		require.InDelta(t, x+b.Noise[i/2]*b.Epsilon[i], b.X[i], 1e-15)
	}
	require.NotZero(t, b.Epsilon[0])
	require.NotEqual(t, b.Epsilon[2], b.Epsilon[3])
}
