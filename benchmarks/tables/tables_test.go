package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

var experiments = []harness.Experiment{SP100, Yeast}

func configured(t *testing.T, e harness.Experiment, size string, changes map[string]any) json.RawMessage {
	t.Helper()
	var sizes map[string]map[string]any
	require.NoError(t, json.Unmarshal(e.Settings, &sizes))
	for name, value := range changes {
		sizes[size][name] = value
	}
	raw, err := json.Marshal(sizes[size])
	require.NoError(t, err)
	return raw
}

func folder(t *testing.T, e harness.Experiment) string {
	t.Helper()
	s, err := read(configured(t, e, "smoke", nil))
	require.NoError(t, err)
	dir := t.TempDir()
	rng := stream.New(1, stream.Simulate)
	truth, err := simulate.Star(len(s.Tables[0].Names), rng)
	require.NoError(t, err)
	sample, err := truth.Sample(70, rng)
	require.NoError(t, err)
	var text strings.Builder
	if s.Tables[0].Kind == "expression" {
		sample.Names = s.Tables[0].Names
		sample.Observed[3] = false
		require.NoError(t, data.WriteCSV(filepath.Join(dir, s.Tables[0].File), sample))
		return dir
	}
	text.WriteString("date,close,Name\n")
	for i := range sample.N {
		for j, name := range s.Tables[0].Names {
			date := time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			if i != 5 || j != 0 {
				fmt.Fprintf(&text, "%s,%g,%s\n", date, math.Exp(sample.Values[i*sample.D+j]), name)
			}
		}
	}
	plain := filepath.Join(dir, "prices.csv")
	require.NoError(t, os.WriteFile(plain, []byte(text.String()), 0o600))
	return dir
}

func here(t *testing.T, e harness.Experiment, changes map[string]any) json.RawMessage {
	t.Helper()
	all := map[string]any{"folder": folder(t, e), "lambdas": 8, "first": 10, "each": 5, "missing": []float64{0.3}}
	for name, value := range changes {
		all[name] = value
	}
	raw := configured(t, e, "smoke", all)
	return []byte(strings.ReplaceAll(string(raw), "sp100_close.csv.gz", "prices.csv"))
}

func TestCellsAreReproducible(t *testing.T) {
	for _, e := range experiments {
		raw := here(t, e, nil)
		var lines [2]map[string][]string
		var header []string
		for k := range lines {
			g, err := e.Grid(raw, 1)
			require.NoError(t, err)
			header = g.Value
			lines[k] = map[string][]string{}
			if k == 1 {
				slices.Reverse(g.Cells)
			}
			for _, c := range g.Cells {
				values, err := c.Run(context.Background())
				require.NoError(t, err, c.Key)
				require.Len(t, values, len(header))
				lines[k][strings.Join(c.Key, ",")] = values
			}
		}
		require.Equal(t, lines[0], lines[1])
		for key, values := range lines[0] {
			mean := 0.0
			for _, text := range values[6 : len(values)-3] {
				auc := parse(t, text)
				require.True(t, 0 <= auc && auc <= 1, key)
				mean += auc / 5
			}
			require.InDelta(t, mean, parse(t, values[len(values)-3]), 1e-6)
			require.Equal(t, "10", values[1])
		}
	}
}

func parse(t *testing.T, text string) (x float64) {
	t.Helper()
	_, err := fmt.Sscan(text, &x)
	require.NoError(t, err)
	return x
}

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
	for _, e := range experiments {
		s, err := read(configured(t, e, "full", nil))
		require.NoError(t, err)
		for _, from := range s.Tables {
			at := s.open(from)
			complete, err := from.read(at.path)
			require.NoError(t, err)
			require.True(t, complete.Complete())
			want := map[string][2]int{"closing": {1255, 94}, "returns": {1251, 94}, "segregants": {96, 106}}[from.Name]
			require.Equal(t, want, [2]int{complete.N, complete.D}, from.Name)
		}
	}
}

func TestFull(t *testing.T) {
	s, err := read(here(t, Yeast, nil))
	require.NoError(t, err)
	at := s.open(s.Tables[0])
	want, err := s.run(t.Context(), at, 0.3, 1, full)
	require.NoError(t, err)
	last := len(want) - 1
	require.Equal(t, want[last-2], want[last], "own threshold")
	require.NotEqual(t, want[last], want[last-1], "common threshold")
	for _, auc := range want[6 : last-1] {
		require.Greater(t, parse(t, auc), 0.97)
	}
	for k, truth := range at.networks {
		var rates []network.Rate
		for _, a := range at.found.networks {
			rate, err := network.Compare(truth, a)
			require.NoError(t, err)
			rates = append(rates, rate)
		}
		require.True(t, slices.ContainsFunc(rates, func(r network.Rate) bool { return r.FPR == 0 && r.TPR == 1 }))
		require.Equal(t, fmt.Sprintf("%.6f", network.AUC(rates)), want[6+k])
	}
	again, err := s.run(t.Context(), at, 0.6, 2, full)
	require.NoError(t, err)
	require.Equal(t, want, again)
}
