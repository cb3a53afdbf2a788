package reproduce

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/harness"
)

// Every experiment has both sizes, its keys end with replicate and method, and no
// name, cell or claim occurs twice.
func TestExperimentsAreWhole(t *testing.T) {
	var names, ids []string
	for _, e := range Experiments {
		require.NotContains(t, names, e.Name)
		names = append(names, e.Name)
		for _, c := range e.Claims {
			require.NotContains(t, ids, c.ID)
			ids = append(ids, c.ID)
		}
		t.Run(e.Name, func(t *testing.T) { isWhole(t, e) })
	}
}

func isWhole(t *testing.T, e harness.Experiment) {
	for _, size := range []string{"full", "smoke"} {
		text, err := e.SettingsOf(size)
		require.NoError(t, err)
		var settings struct {
			Replicates int
			Ours       []string
		}
		require.NoError(t, json.Unmarshal(text, &settings))
		require.NotEmpty(t, settings.Ours, "it does not say what is ours")
		g, err := e.Grid(text, settings.Replicates)
		require.NoError(t, err)
		require.NoError(t, g.Check())
		require.Equal(t, []string{"replicate", "method"}, g.Key[len(g.Key)-2:])
		for _, c := range g.Cells {
			require.Len(t, c.Key, len(g.Key))
		}
		for _, c := range e.Claims { // before anything has been run
			v, err := c.Test(cells.Results{Columns: g.Columns()})
			require.NoError(t, err, c.ID)
			require.Equal(t, claims.Undecided, v.Outcome, c.ID)
		}
		goesOn(t, e, size)
	}
}

// goesOn stops a run before its first cell and starts it again: run.json says that the
// settings are the same.
func goesOn(t *testing.T, e harness.Experiment, size string) {
	grid := e.Grid
	e.Grid = func(text json.RawMessage, replicates int) (cells.Grid, error) {
		g, err := grid(text, replicates)
		g.Present = nil
		return g, err
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	out := t.TempDir()
	for range 2 {
		_, err := harness.Run(stopped, []harness.Experiment{e}, harness.Options{Out: out, Smoke: size == "smoke"})
		require.ErrorIs(t, err, context.Canceled)
	}
}

// Settings that no cell could run with are refused when they are read.
func TestSettingsOutOfRange(t *testing.T) {
	for _, c := range []struct{ experiment, key, value, want string }{
		{"normal", "epochs", "0", "settings: epochs: 0: at least 1 is needed"},
		{"normal", "columns", "-1", "settings: columns: -1: at least 3 is needed"},
		{"normal", "rows", "0", "settings: rows: 0: at least 2 is needed"},
		{"normal", "missing", "2", "settings: missing: 2: a share from 0 to less than 1 is needed"},
		{"normal-truncated", "rate", "0", "settings: rate: 0: it must be positive"},
		{"ica-n", "epochs", "0", "settings: epochs: 0: at least 1 is needed"},
		{"ica-n", "rows", "[250, 0]", "settings: rows: 0: at least 2 is needed"},
		{"ica-n", "mcmc_draws", "1", "settings: mcmc_draws: 1: at least 8 is needed"},
		{"star-dim", "columns", "[10, -1]", "settings: columns: -1: at least 3 is needed"},
		{"star-dim", "missing", "[0.5, 2]", "settings: missing: 2: a share from 0 to less than 1 is needed"},
	} {
		found, err := ByName([]string{c.experiment})
		require.NoError(t, err)
		full, err := found[0].SettingsOf("full")
		require.NoError(t, err)
		var settings map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(full, &settings))
		require.Contains(t, settings, c.key)
		settings[c.key] = json.RawMessage(c.value)
		text, err := json.Marshal(settings)
		require.NoError(t, err)
		_, err = found[0].Grid(text, 1)
		require.EqualError(t, err, c.want)
	}
}
