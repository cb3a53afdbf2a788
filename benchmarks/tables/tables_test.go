package tables

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
	"missingscore/internal/data/network"
)

func TestNearest(t *testing.T) {
	of := func(edges int) network.Adjacency {
		a := network.Adjacency{D: 5, Edge: make([]bool, 10)}
		for k := range edges {
			a.Edge[k] = true
		}
		return a
	}
	path := []network.Adjacency{of(0), of(2), of(4), of(9), of(10)}
	for density, edges := range map[float64]int{0.05: 2, 0.25: 2, 0.3: 2, 0.31: 4, 1: 9} {
		got, err := nearest(path, density)
		require.NoError(t, err)
		require.Equal(t, edges, got.Count(), density)
	}
	_, err := nearest([]network.Adjacency{of(0), of(10)}, 0.5)
	require.ErrorContains(t, err, "each network of the path is empty")
}

func TestJumpiness(t *testing.T) {
	for _, c := range []struct {
		densities []float64
		want      float64
	}{
		{[]float64{0, 0.1, 0.4, 0.9}, 0},
		{[]float64{0, 0.3, 0.1, 0.5}, 0.2},      // one fall after a rise
		{[]float64{0, 0.3, 0.2, 0.1, 0.5}, 0.1}, // the second fall follows a fall
		{[]float64{0.3, 0.1}, 0},                // nothing before it
		{[]float64{0.3, 0.3, 0.1}, 0},           // no rise before it
		{[]float64{0, 0.3, 0.2, 0.4, 0.1}, 0.4}, // two falls
		{[]float64{0, 0.3, 0.3, 0.1, 0.2}, 0},   // the rise is not the jump before
		{[]float64{0.5, 0.6, 0.55, 0.65}, 0.05}, //
		{nil, 0},
	} {
		require.InDelta(t, c.want, Jumpiness(c.densities), 1e-15, c.densities)
	}
}

func TestThreshold(t *testing.T) {
	asked := 0
	// Smooth from 0.137, and in a small interval below.
	path := func(threshold float64) []float64 {
		asked++
		if threshold >= 0.137 || 0.0301 < threshold && threshold < 0.0302 {
			return []float64{0, 0.1, 0.2}
		}
		return []float64{0, 0.2, 0.15}
	}
	got := Threshold(path, 1, 0.01, 20, 4)
	require.InDelta(t, 0.137, got, 1/math.Pow(20, 4))
	require.GreaterOrEqual(t, got, 0.137)
	require.LessOrEqual(t, asked, 80)
	require.Less(t, Threshold(path, 1, 0.06, 20, 4), 1e-5, "a fall of 0.05 is smooth at level 0.06")
	require.Equal(t, 1.0, Threshold(func(float64) []float64 { return []float64{0, 1, 0} }, 1, 0.01, 20, 4))
}

func TestRealTables(t *testing.T) {
	if os.Getenv(harness.FolderVariable) == "" {
		t.Skip(harness.FolderVariable + " is not set")
	}
	for _, e := range []harness.Experiment{SP100, Yeast} {
		text, err := e.SettingsOf("full")
		require.NoError(t, err)
		var s settings
		require.NoError(t, harness.Decode(text, &s))
		for _, from := range s.Tables {
			complete, err := from.read(harness.DataPath("", from.File))
			require.NoError(t, err)
			require.True(t, complete.Complete())
			want := map[string][2]int{"closing": {1255, 94}, "returns": {1251, 94}, "segregants": {96, 106}}[from.Name]
			require.Equal(t, want, [2]int{complete.N, complete.D}, from.Name)
		}
	}
}

// B has no price on the second day.
func TestPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.csv")
	require.NoError(t, os.WriteFile(path, []byte("date,close,Name\n2020-01-03,4,A\n2020-01-01,1,A\n2020-01-02,2,A\n2020-01-06,2,A\n2020-01-01,5,B\n2020-01-03,5,B\n2020-01-06,10,B\n2020-01-02,9,C\n2020-01-07,2,A\n2020-01-07,5,B\n"), 0o600))
	table, err := prices(path, []string{"A", "B"}, true)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, true, false, true, true, true, true}, table.Observed)
	for k, want := range map[int]float64{0: math.Ln2, 2: math.Ln2, 4: -math.Ln2, 5: math.Ln2, 7: -math.Ln2} {
		require.InDelta(t, want, table.Values[k], 1e-15)
	}
	table, err = prices(path, []string{"B", "A"}, false)
	require.NoError(t, err)
	require.Equal(t, []float64{5, 1, 0, 2, 5, 4, 10, 2, 5, 2}, table.Values)
}
