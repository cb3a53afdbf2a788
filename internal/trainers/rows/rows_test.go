package rows_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	_ "missingscore/data/parquet"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/survey"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/rows"
)

func numbered(t *testing.T, name string, n int) string {
	table := &data.Table{Names: []string{"i", "b"}, N: n, D: 2}
	rng := stream.New(1, 1)
	for i := range n {
		table.Values = append(table.Values, float64(i), rng.NormFloat64())
		table.Observed = append(table.Observed, true, i%3 > 0)
	}
	path := filepath.Join(t.TempDir(), name)
	if filepath.Ext(name) == ".csv" {
		require.NoError(t, data.WriteCSV(path, table))
		return path
	}
	values := slices.Clone(table.Values)
	for k, seen := range table.Observed {
		if !seen {
			values[k] = math.NaN()
		}
	}
	require.NoError(t, data.WriteNumbers(atomicfile.Write, path, table.Names, values))
	return path
}

func opened(t *testing.T, path string, block int, seed uint64, batch int, share float64, window int) *rows.File {
	f, err := data.OpenRows(path, data.ReadOptions{}, block)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	s, err := survey.Take(t.Context(), f, survey.Options{Seed: seed, Workers: 2})
	require.NoError(t, err)
	r, err := rows.NewFile(t.Context(), rows.Source{File: f, Before: s.Before, Rows: s.Sample.Sampled.Rows}, seed, batch, share, window)
	require.NoError(t, err)
	return r
}

func pass(t *testing.T, r rows.Rows, number int) (order []int, windows []int) {
	for w, err := range r.Pass(t.Context(), number) {
		require.NoError(t, err)
		for _, i := range w.Order {
			order = append(order, int(w.Table.Values[2*i]))
			require.Equal(t, w.Table.Values[2*i] != 0 && int(w.Table.Values[2*i])%3 == 0 || w.Table.Values[2*i] == 0, !w.Table.Observed[2*i+1])
		}
		windows = append(windows, len(w.Order))
	}
	return order, windows
}

func TestPassesOfAFile(t *testing.T) {
	const n, batch = 1000, 30
	csv, parquet := opened(t, numbered(t, "t.csv", n), 64, 5, batch, 0, 4), opened(t, numbered(t, "t.parquet", n), 64, 5, batch, 0, 4)
	require.Equal(t, n, csv.Count())
	require.Nil(t, csv.HeldOut())
	first, windows := pass(t, csv, 0)
	require.Len(t, windows, 4)
	for _, w := range windows[:3] {
		require.Zero(t, w%batch)
		require.InDelta(t, 256, w, batch)
	}
	sorted := slices.Sorted(slices.Values(first))
	for i, row := range sorted {
		require.Equal(t, i, row)
	}
	neighbours := 0
	for i := range n - 1 {
		if first[i+1] == first[i]+1 {
			neighbours++
		}
	}
	require.Less(t, neighbours, 20) // 4 are expected for windows of 256 rows from 4 blocks
	second, _ := pass(t, csv, 1)
	require.NotEqual(t, first, second)
	again, _ := pass(t, csv, 0)
	require.Equal(t, first, again)
	other, _ := pass(t, parquet, 0)
	require.Equal(t, first, other)
	seed, _ := pass(t, opened(t, numbered(t, "t.csv", n), 64, 6, batch, 0, 4), 0)
	require.NotEqual(t, first, seed)
}

func TestOneWindow(t *testing.T) {
	f := opened(t, numbered(t, "t.csv", 500), 100, 3, 32, 0, 0)
	table, err := data.ReadFile(numbered(t, "t.csv", 500), data.ReadOptions{})
	require.NoError(t, err)
	held := rows.NewHeld(table, table.AllRows(), 3)
	for p := range 3 {
		got, _ := pass(t, f, p)
		want, _ := pass(t, held, p)
		require.Equal(t, want, got)
	}
}

func TestHeldOutRows(t *testing.T) {
	const n, share = 4000, 0.2
	path := numbered(t, "t.csv", n)
	var want *data.Table
	for _, block := range []int{50, 170, 5000} {
		f := opened(t, path, block, 7, 64, share, 3)
		out := f.HeldOut()
		if want == nil {
			want = out
		}
		require.Equal(t, want, out)
		require.Equal(t, n, f.Count()+out.N)
		require.InDelta(t, share*n, out.N, 4*math.Sqrt(share*(1-share)*n))
		order, _ := pass(t, f, 0)
		for i := range out.N {
			order = append(order, int(out.Values[2*i]))
		}
		slices.Sort(order)
		require.Len(t, slices.Compact(order), n, "each row once")
	}
	require.NotEqual(t, want, opened(t, path, 50, 8, 64, share, 3).HeldOut())
}

func TestPassesEnd(t *testing.T) {
	f := opened(t, numbered(t, "t.csv", 2000), 50, 1, 10, 0, 2)
	for range f.Pass(t.Context(), 0) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for _, err := range f.Pass(ctx, 0) {
		if seen++; seen == 2 {
			cancel()
		}
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			break
		}
		require.Less(t, seen, 6, fmt.Sprint(seen))
	}
}
