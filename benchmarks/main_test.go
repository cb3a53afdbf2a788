package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/harness"
)

func command(t *testing.T, args ...string) (printed string, err error) {
	t.Helper()
	var out bytes.Buffer
	c := root()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	err = c.ExecuteContext(t.Context())
	return out.String(), err
}

// Only the first cell of each method, unless MISSINGSCORE_SLOW is set.
func TestSmoke(t *testing.T) {
	slow := os.Getenv("MISSINGSCORE_SLOW") != ""
	for _, e := range experiments {
		t.Run(e.Name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir()) // hides R and Python
			settings, err := e.SettingsOf("smoke")
			require.NoError(t, err)
			g, err := e.Grid(settings, 1)
			require.NoError(t, err)
			require.NoError(t, g.Check())
			if g.Present() != nil {
				t.Skip("the real tables are in the folder that MISSINGSCORE_DATA names")
			}
			seen := map[string]bool{}
			for _, c := range g.Cells {
				method := c.Key[len(c.Key)-1]
				if seen[method] && !slow {
					continue
				}
				seen[method] = true
				values, err := c.Run(t.Context())
				if errors.Is(err, harness.ErrAbsent) {
					continue
				}
				require.NoError(t, err, c.Name())
				require.Len(t, values, len(g.Value), c.Name())
			}
		})
	}
}

func TestShardsGiveTheSameReport(t *testing.T) {
	whole, shards := t.TempDir(), t.TempDir()
	printed, err := command(t, "run", "ica-n", "--smoke", "--out", whole)
	require.NoError(t, err)
	require.Contains(t, printed, "| claim | estimate, 95 % interval | verdict |")
	for _, shard := range []string{"1/2", "2/2"} {
		_, err = command(t, "run", "ica-n", "--smoke", "--workers", "1", "--shard", shard, "--out", shards)
		require.NoError(t, err)
	}
	_, err = command(t, "report", shards)
	require.NoError(t, err)
	for _, name := range []string{"ica-n.csv", "claims.csv"} {
		want, err := os.ReadFile(filepath.Join(whole, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(shards, name))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), name)
	}
}

func TestBench(t *testing.T) {
	printed, err := command(t, "bench", "--experiment", "quartic", "--d", "4", "--seconds", "0", "--method", "iw,zeroed", "--json")
	require.NoError(t, err)
	var said struct {
		Experiment string
		D          int
		Results    []struct {
			Method  string
			Seconds float64 `json:"seconds_per_iteration"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(printed), &said))
	require.Equal(t, "quartic", said.Experiment)
	require.Equal(t, 4, said.D)
	require.Len(t, said.Results, 2)
	require.Positive(t, said.Results[1].Seconds)
}

func TestTrackedResults(t *testing.T) {
	files, err := filepath.Glob("results/*.csv")
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".csv"); name != "claims" && name != "speed" {
			names = append(names, name)
		}
	}
	var want []string
	for _, e := range experiments {
		want = append(want, e.Name)
	}
	require.ElementsMatch(t, want, names)
	f, err := os.Open("results/claims.csv")
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	var told, asked [][]string
	for _, line := range lines[1:] {
		told = append(told, line[:3])
	}
	for _, c := range slices.Concat(claims.Paper, claims.Ours) {
		asked = append(asked, []string{c.ID, c.Experiment, c.Sentence})
	}
	require.Equal(t, asked, told)
}
