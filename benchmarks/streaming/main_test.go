package main

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
)

// Both formats hold the same rows, those of a chain: neighbours are correlated by 0.6, columns two
// apart by 0.36, up to four standard errors.
func TestWrite(t *testing.T) {
	var tables []*data.Table
	for _, name := range []string{"t.parquet", "t.csv"} {
		s := setting{rows: 4000, d: 12, missing: 0.25, group: 1500, out: filepath.Join(t.TempDir(), name)}
		require.NoError(t, s.write())
		table, err := data.ReadFile(s.out, data.ReadOptions{})
		require.NoError(t, err)
		table.Lines = nil
		tables = append(tables, table)
	}
	require.Equal(t, tables[0], tables[1])
	table := tables[0]
	cells := float64(table.N * table.D)
	require.InDelta(t, 0.25, float64(table.Missing())/cells, 4*math.Sqrt(0.25*0.75/cells))
	for step, want := range map[int]float64{1: 0.6, 2: 0.36} {
		var x, y []float64
		for i := range table.N {
			if a, b := i*table.D+3, i*table.D+3+step; table.Observed[a] && table.Observed[b] {
				x, y = append(x, table.Values[a]), append(y, table.Values[b])
			}
		}
		require.InDelta(t, want, stat.Correlation(x, y, nil), 4*(1-want*want)/math.Sqrt(float64(len(x))))
	}
}
