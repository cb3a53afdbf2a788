package diagnose_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/stream"
)

// Codes are in turn in every every-th row of column a.
func coded(t *testing.T, n, every int, codes []float64, value func(row int) float64) (found []diagnose.Finding) {
	t.Helper()
	table := columns(t, n, []string{"a", "b"}, func(i int, _, _, c, _ float64) []float64 {
		if len(codes) > 0 && i%every == 3 {
			return []float64{codes[i/every%len(codes)], c}
		}
		return []float64{value(i), c}
	})
	for _, f := range find(t, table, diagnose.Setting{}) {
		if f.Kind == "code" {
			found = append(found, f)
		}
	}
	return found
}

func TestCodesInShortScales(t *testing.T) {
	for _, scale := range [][2]int{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 4}, {1, 5}, {0, 5}, {1, 6}, {1, 7}, {0, 10}, {18, 90}} {
		rng := stream.New(uint64(scale[0]), uint64(scale[1]))
		value := func(int) float64 { return float64(scale[0] + rng.IntN(scale[1]-scale[0]+1)) }
		require.Empty(t, coded(t, 400, 25, nil, value), "%v", scale)
		for _, codes := range [][]float64{{-99}, {-9}, {-8, -9}, {999}, {-99, 999}, {777, 888, 999}, {-999, -99, 9999}} {
			found := coded(t, 400, 25, codes, value)
			require.Len(t, found, len(codes), "%v in %v: %v", codes, scale, found)
			for _, f := range found {
				require.Equal(t, diagnose.Warning, f.Severity)
				require.Equal(t, []string{"a"}, f.Columns)
			}
		}
	}
	rng := stream.New(1)
	found := coded(t, 400, 25, []float64{-99, 999}, func(int) float64 { return float64(1 + rng.IntN(5)) })
	require.Equal(t, "-99 is far outside the other values of a (8 times): if it marks a missing cell, read it as missing (ReadOptions.NA NA,-99,999, as written in the file)", found[0].Message)
	found = coded(t, 400, 25, []float64{-1}, func(int) float64 { return float64(16 + rng.IntN(50)) })
	require.Equal(t, diagnose.Warning, found[0].Severity, "-1 far from the rest")
	found = coded(t, 400, 25, []float64{-1}, func(int) float64 { return math.Floor(2 * rng.ExpFloat64()) })
	require.Equal(t, diagnose.Note, found[0].Severity, "-1 beside many zeros")
	require.Contains(t, found[0].Message, "-1 is the only negative value of a (16 times)")
}

func TestTopCodes(t *testing.T) {
	rng := stream.New(1)
	value := func(int) float64 { return float64(1 + rng.IntN(5)) }
	found := coded(t, 400, 25, []float64{8, 9, -99}, value)
	require.Len(t, found, 3)
	require.Equal(t, diagnose.Warning, found[0].Severity)
	require.Equal(t, diagnose.Note, found[1].Severity)
	require.Equal(t, "8 is apart from the other values of a (6 times): if it marks a missing cell, read it as missing (ReadOptions.NA NA,-99,8, as written in the file)", found[1].Message)
	require.Contains(t, found[2].Message, "9 is apart")
	require.Empty(t, coded(t, 400, 25, []float64{7, 9}, func(int) float64 { return float64(1 + rng.IntN(6)) }), "7 belongs to 1 to 6")
}

func TestCodeThatAnotherColumnHolds(t *testing.T) {
	table := columns(t, 300, []string{"item", "weight"}, func(i int, a, b, _, _ float64) []float64 {
		item := float64(1 + i*7%5)
		if i%20 == 0 {
			item = 99
		}
		return []float64{item, math.Round(90 + 10*b)}
	})
	f := find(t, table, diagnose.Setting{})[0]
	require.Equal(t, []string{"item"}, f.Columns)
	require.Equal(t, "99 is far outside the other values of item (15 times): if it marks a missing cell, replace it by NA in the file, because ReadOptions.NA NA,99 would also remove the 99 of weight", f.Message)
}

func TestNoCodesInWholeNumbers(t *testing.T) {
	alarms := 0
	for seed := range uint64(25) {
		rng := stream.New(seed, 9)
		n := []int{60, 200, 1000}[seed%3]
		draw := map[string]func(int) float64{
			"years":  func(int) float64 { return float64(95 + rng.IntN(5)) },
			"doses":  func(int) float64 { return []float64{0, 10, 50, 100}[rng.IntN(4)] },
			"effect": func(int) float64 { return float64(2*rng.IntN(2) - 1) },
			"grades": func(int) float64 { return math.Round(min(100, 80+10*rng.NormFloat64())) },
		}
		for _, m := range []float64{0.3, 1, 2, 3, 5, 20} {
			p := distuv.Poisson{Lambda: m, Src: rng}
			draw[fmt.Sprint("counts of mean ", m)] = func(int) float64 { return p.Rand() }
			draw[fmt.Sprint("differences of counts of mean ", m)] = func(int) float64 { return p.Rand() - p.Rand() }
			for _, sd := range []float64{0.5, 1, 1.5, 2, 3} {
				draw[fmt.Sprint("rounded ", m, sd)] = func(int) float64 { return math.Round(m + sd*rng.NormFloat64()) }
			}
		}
		for _, k := range []int{2, 3, 4, 5, 6, 7, 10, 11} {
			draw[fmt.Sprint("scale from 1 to ", k)] = func(int) float64 { return float64(1 + rng.IntN(k)) }
			draw[fmt.Sprint("scale around 0 of ", k)] = func(int) float64 { return float64(rng.IntN(k) - k/2) }
		}
		for _, name := range slices.Sorted(maps.Keys(draw)) {
			value := draw[name]
			values := make([]float64, 0, 2*n)
			for i := range n {
				values = append(values, value(i), rng.NormFloat64())
			}
			table, err := data.NewTable([]string{"a", "b"}, values, nil)
			if err != nil {
				continue // all drawn are equal
			}
			found, err := diagnose.Table(table, diagnose.Setting{})
			require.NoError(t, err)
			for _, f := range found {
				if f.Kind == "code" {
					alarms++
					t.Log(name, n, f.Message)
				}
			}
		}
	}
	require.LessOrEqual(t, alarms, 5, "of 1600 tables")
}
