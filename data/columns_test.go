package data_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/stream"
)

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
	zero := data.RootMeanSquareScale(table, 2)
	for j := range d {
		x := table.Column(j)
		require.InEpsilon(t, stat.Mean(x, nil), scale.Mean[j], 1e-12)
		require.InEpsilon(t, stat.PopStdDev(x, nil), scale.Deviation[j], 1e-10)
		require.InEpsilon(t, floats.Norm(x, 2)/math.Sqrt(float64(len(x)))/2, zero.Deviation[j], 1e-12)
	}
	for _, processors := range []int{1, 4} {
		before := runtime.GOMAXPROCS(processors)
		_, again := data.Standardise(table)
		runtime.GOMAXPROCS(before)
		require.Equal(t, scale, again)
	}
}

func TestStandardise(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b"}, N: 3, D: 2,
		Values: []float64{1, 100, 3, math.NaN(), 5, 300}, Observed: []bool{true, true, true, false, true, true}}
	z, scale := data.Standardise(table)
	require.Equal(t, []float64{3, 200}, scale.Mean)
	require.InDeltaSlice(t, []float64{math.Sqrt(8. / 3), 100}, scale.Deviation, 1e-12) // divisor n
	require.InDelta(t, -1, z.Values[1], 1e-12)
	require.InDelta(t, -2/math.Sqrt(8./3), z.Values[0], 1e-12)
	back := scale.Restore(z)
	require.Equal(t, table.Observed, back.Observed)
	for j := range 2 {
		require.InDeltaSlice(t, table.Column(j), back.Column(j), 1e-12)
	}
	p := scale.Precision(mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1}))
	require.InDelta(t, 2/(8./3), p.At(0, 0), 1e-12)
	require.InDelta(t, 0.5/math.Sqrt(8./3)/100, p.At(0, 1), 1e-12)
	require.InDeltaSlice(t, []float64{3 + 2*math.Sqrt(8./3), 100}, scale.Location([]float64{2, -1}), 1e-12)
}

func TestStandardiseAtTheLimits(t *testing.T) {
	for _, unit := range []float64{1e-149, 1e-120, 1, 1e120, 1e150} {
		n := 1001
		table := &data.Table{Names: []string{"a"}, N: n, D: 1, Observed: make([]bool, n)}
		for i := range n {
			table.Values, table.Observed[i] = append(table.Values, unit*float64(i%2)), true
		}
		_, s := data.Standardise(table)
		p := 500. / 1001
		require.InEpsilon(t, p, s.Mean[0]/unit, 1e-14)
		require.InEpsilon(t, math.Sqrt(p*(1-p)), s.Deviation[0]/unit, 1e-14)
	}
	outlier := &data.Table{Names: []string{"a"}, N: 3, D: 1, Values: []float64{1e150, 1e150, 1e150 * (1 + 1e-15)}, Observed: []bool{true, true, true}}
	_, s := data.Standardise(outlier)
	require.InEpsilon(t, 1e135*math.Sqrt(2./9), s.Deviation[0], 0.2) // five units in the last place
}

func TestHideMCAR(t *testing.T) {
	full, err := data.NewTable([]string{"a", "b"}, slices.Repeat([]float64{1, 2, 3, 4, 5}, 2000), nil)
	require.NoError(t, err)
	hidden, err := data.HideMCAR(full, 0.3, stream.New(1, 3))
	require.NoError(t, err)
	require.InDelta(t, 0.3*10000, float64(hidden.Missing()), 4*math.Sqrt(10000*0.3*0.7))
	require.Zero(t, full.Missing(), "the table itself stays")
	for k, seen := range hidden.Observed {
		require.True(t, !seen || full.Values[k] == hidden.Values[k])
	}
	more, err := data.HideMCAR(hidden, 0.5, stream.New(1, 4))
	require.NoError(t, err)
	require.InDelta(t, 0.65*10000, float64(more.Missing()), 4*math.Sqrt(10000*0.65*0.35))
	for _, p := range []float64{-0.1, 1, math.NaN()} {
		_, err := data.HideMCAR(full, p, stream.New(1, 5))
		require.ErrorContains(t, err, "must be at least 0 and less than 1")
	}
}

func TestInsideNamesLineAndCell(t *testing.T) {
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 1, 2, -3, 4, 4}, []bool{true, false, true, true, true, true})
	require.NoError(t, err)
	s := domain.All(2)
	s.Lower[1] = -2.5
	var row *data.RowError
	require.ErrorAs(t, table.Inside(s), &row)
	require.Equal(t, data.RowError{Row: 1, Column: "b", Cell: "-3", Why: row.Why}, *row)
	require.EqualError(t, row, `row 2: column "b": -3 is below the lower bound -2.5`)
	table.Lines = []int{2, 5, 6}
	require.ErrorContains(t, table.Inside(s), "line 5")
	s.Lower[1] = -4
	require.NoError(t, table.Inside(s))
	require.NoError(t, table.Inside(nil))
}

func TestPatterns(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b"}, N: 5, D: 2, Values: make([]float64, 10),
		Observed: []bool{true, false, true, true, true, false, false, false, true, true}}
	require.Equal(t, [][]int{{0, 2}, {1, 4}, {3}}, table.Patterns(table.AllRows()))
	require.Equal(t, [][]int{{4, 1}, {2}}, table.Patterns([]int{4, 2, 1}))
	require.Empty(t, table.Patterns(nil))
}

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

// The columns asked for, in the order asked; an empty cell is missing.
func ExampleReadCSV() {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Names, table.N, "rows,", table.Missing(), "cells missing")
	// Output:
	// [Ozone Solar.R Wind Temp] 153 rows, 44 cells missing
}
