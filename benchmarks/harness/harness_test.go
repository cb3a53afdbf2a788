package harness

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
)

func TestVariantsAreApart(t *testing.T) {
	common := engine.Config{WarmUp: new(3), Imputer: engine.ImputerSpec{Options: []byte(`{"hidden":8}`)}}
	variants, err := Variants(common, []json.RawMessage{
		[]byte(`{"method": "var"}`), []byte(`{"name": "small", "method": "var", "warm_up": 5, "imputer": {"options": {"hidden":4}}}`), []byte(`{"name": "third", "method": "var"}`),
	})
	require.NoError(t, err)
	for i, want := range []struct {
		name    string
		warmUp  int
		options string
	}{{"var", 3, `{"hidden":8}`}, {"small", 5, `{"hidden":4}`}, {"third", 3, `{"hidden":8}`}} {
		require.Equal(t, want.name, variants[i].Name)
		require.Equal(t, want.warmUp, *variants[i].WarmUp)
		require.JSONEq(t, want.options, string(variants[i].Imputer.Options))
	}
	require.Equal(t, 3, *common.WarmUp)
	require.JSONEq(t, `{"hidden":8}`, string(common.Imputer.Options))
}

// Last errors 3 and 5, and a fit that diverged; the standard error of (3, 5) is 1.
func TestSummary(t *testing.T) {
	r := cells.Results{Columns: []string{"law", "d", "replicate", "method", "error", "version", "converged"}, Lines: [][]string{
		{"MCAR", "5", "1", "iw", "9 2 3", "R 4", "true"},
		{"MCAR", "5", "2", "iw", "9 4 5", "R 4", "false"},
		{"MCAR", "5", "3", "iw", "9 1 -", "R 4", "false"},
		{"MCAR", "5", "1", "em", "-", "R 4", "true"},
	}}
	require.Equal(t, [][]string{
		{"law=MCAR; d=5", "iw", "error", "4", "1", "2"},
		{"law=MCAR; d=5", "iw", "error, least", "2.3333", "0.88192", "3"},
		{"law=MCAR; d=5", "iw", "converged", "0.33333", "0.33333", "3"},
		{"law=MCAR; d=5", "em", "converged", "1", "", "1"},
	}, Summary(r, r.Columns[:4]))
}

// Squares numbers and fails at one cell.
func counted(runs *atomic.Int32, fail string) Experiment {
	return Experiment{
		Name: "counted", Settings: []byte(`{"full": {"replicates": 2, "xs": [1, 2, 3], "note": "a < b & c"}, "smoke": {"replicates": 1, "xs": [1]}}`),
		Grid: func(text json.RawMessage, replicates int) (cells.Grid, error) {
			var s struct {
				Replicates int    `json:"replicates"`
				Xs         []int  `json:"xs"`
				Note       string `json:"note"`
			}
			if err := Decode(text, &s); err != nil {
				return cells.Grid{}, err
			}
			g := cells.Grid{Key: []string{"x", "replicate", "method"}, Value: []string{"square"}}
			for r := 1; r <= replicates; r++ {
				for _, x := range s.Xs {
					c := cells.Cell{Key: []string{strconv.Itoa(x), strconv.Itoa(r), "iw"}}
					c.Run = func(context.Context) ([]string, error) {
						runs.Add(1)
						if c.Name() == fail {
							return nil, errors.New("no luck")
						}
						return []string{strconv.Itoa(x * x)}, nil
					}
					g.Cells = append(g.Cells, c)
				}
			}
			return g, nil
		},
	}
}

const whole = "x,replicate,method,square\n1,1,iw,1\n2,1,iw,4\n3,1,iw,9\n1,2,iw,1\n2,2,iw,4\n3,2,iw,9\n"

var lines = [][]string{{"1", "1", "iw", "1"}, {"2", "1", "iw", "4"}, {"3", "1", "iw", "9"}, {"1", "2", "iw", "1"}, {"2", "2", "iw", "4"}, {"3", "2", "iw", "9"}}

func TestContinueAfterAnyCut(t *testing.T) {
	var runs atomic.Int32
	e := []Experiment{counted(&runs, "")}
	for cut := range len(whole) + 1 {
		out := t.TempDir()
		path := filepath.Join(out, "counted", "cells.csv")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(whole[:cut]), 0o600))
		failed, err := Run(t.Context(), e, Options{Out: out, Workers: 3})
		require.NoError(t, err)
		require.Zero(t, failed)
		l, err := Load(e[0], out)
		require.NoError(t, err)
		require.Equal(t, lines, l.Results.Lines, "cut after %d bytes", cut)
	}
}

func TestLoadJoinsShards(t *testing.T) {
	var runs atomic.Int32
	e := counted(&runs, "")
	out := t.TempDir()
	for i, want := range []int{4, 2, 0} {
		_, err := Run(t.Context(), []Experiment{e}, Options{Out: out, Shard: i + 1, Shards: 3})
		require.NoError(t, err)
		l, err := Load(e, out)
		require.NoError(t, err)
		require.Equal(t, want, l.Missing)
		require.Len(t, l.Results.Lines, 6-want)
	}
	require.EqualValues(t, 6, runs.Load())
	l, err := Load(e, out)
	require.NoError(t, err)
	require.Equal(t, []string{"1", "1", "iw", "1"}, l.Results.Lines[0])
	require.Equal(t, []string{"3", "2", "iw", "9"}, l.Results.Lines[5])
}

func TestGridsAreCheckedFirst(t *testing.T) {
	var runs atomic.Int32
	e := []Experiment{counted(&runs, "")}
	out := filepath.Join(t.TempDir(), "out")
	for settings, want := range map[string]string{
		`{"full": {"replicates": 1, "xs": [1, 2, 1]}}`: `counted: settings: two cells are called 1,1,iw (x,replicate,method): give each method its own "name"`,
		`{"full": {"replicates": 1, "xs": []}}`:        "counted: settings: there are no cells: ",
	} {
		for _, cell := range []string{"", "1,1,iw"} {
			_, err := Run(t.Context(), e, Options{Out: out, Config: []byte(settings), Cell: cell})
			require.ErrorContains(t, err, want)
		}
	}
	require.NoDirExists(t, out)
	require.Zero(t, runs.Load())
}

func TestFailedCellRunsAgain(t *testing.T) {
	var runs atomic.Int32
	out := t.TempDir()
	var log strings.Builder
	o := Options{Out: out, Workers: 1, Log: &log}
	failed, err := Run(t.Context(), []Experiment{counted(&runs, "2,1,iw")}, o)
	require.NoError(t, err)
	require.Equal(t, 1, failed)
	require.Equal(t, "counted, replicate 1 failed: no luck\n  again: --cell '2,1,iw'\n", log.String())
	o.Cell = "2,1,iw"
	_, err = Run(t.Context(), []Experiment{counted(&runs, "")}, o)
	require.NoError(t, err)
	require.EqualValues(t, 7, runs.Load())
	o.Cell = ""
	_, err = Run(t.Context(), []Experiment{counted(&runs, "")}, o)
	require.NoError(t, err)
	l, err := Load(counted(&runs, ""), out)
	require.NoError(t, err)
	require.Equal(t, lines, l.Results.Lines)
}

func TestAFolderBelongsToItsSettings(t *testing.T) {
	var runs atomic.Int32
	e := []Experiment{counted(&runs, "")}
	out := t.TempDir()
	run := func(o Options) error {
		o.Out = out
		_, err := Run(t.Context(), e, o)
		return err
	}
	require.NoError(t, run(Options{}))
	require.NoError(t, run(Options{Replicates: 3}))
	require.EqualValues(t, 9, runs.Load(), "only the third replicate is new")
	require.ErrorContains(t, run(Options{Smoke: true}), "is of a full run of counted with other settings: choose another folder")
	require.ErrorContains(t, run(Options{Config: []byte(`{"full": {"xs": [1]}}`)}), "0 replicates: at least 1 is needed")
	require.ErrorContains(t, run(Options{Config: []byte(`{"full": {"replicates": 1, "ys": [1]}}`)}), `settings: unknown field "ys"`)
	require.ErrorContains(t, run(Options{Config: []byte(`{"smoke": {}}`)}), `settings: there is no "full"`)
	require.ErrorContains(t, run(Options{Config: []byte(`{"full"`)}), "settings: ")
	require.ErrorContains(t, run(Options{Cell: "9"}), "there is no cell 9; the first is 1,1,iw")
}

func TestResultsWithoutData(t *testing.T) {
	var runs atomic.Int32
	e, out, here := counted(&runs, ""), t.TempDir(), true
	grid := e.Grid
	e.Grid = func(text json.RawMessage, replicates int) (cells.Grid, error) {
		g, err := grid(text, replicates)
		g.Present = func() error {
			if here {
				return nil
			}
			return cells.ErrAbsent
		}
		return g, err
	}
	one := []Experiment{e}
	_, err := Run(t.Context(), one, Options{Out: out})
	require.NoError(t, err)
	here = false
	_, err = Run(t.Context(), one, Options{Out: out})
	require.ErrorIs(t, err, cells.ErrAbsent)
	var log strings.Builder
	other := counted(&runs, "")
	other.Name = "other"
	_, err = Run(t.Context(), []Experiment{e, other}, Options{Out: out, Log: &log})
	require.NoError(t, err)
	require.Equal(t, "counted is skipped: not found\n", log.String())
	held, err := Load(e, out)
	require.NoError(t, err)
	require.Len(t, held.Results.Lines, 6)
}

func TestTrace(t *testing.T) {
	require.Equal(t, []int{1, 2, 3, 4}, Epochs(4))
	history := func(values ...float64) (h []descent.Record) {
		for _, v := range values {
			h = append(h, descent.Record{Errors: []evaluate.Error{{Name: "x", Value: v}}})
		}
		return h
	}
	at := []int{1, 2, 4}
	require.Equal(t, "3 1 2", Trace(history(3, 1, 5, 2), at, "x"))
	require.Equal(t, "5 3 -", Trace(history(5, 3), at, "x"))
}

// B has no price on the second day.
func TestPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.csv")
	require.NoError(t, os.WriteFile(path, []byte("date,close,Name\n2020-01-03,4,A\n2020-01-01,1,A\n2020-01-02,2,A\n2020-01-06,2,A\n2020-01-01,5,B\n2020-01-03,5,B\n2020-01-06,10,B\n2020-01-02,9,C\n2020-01-07,2,A\n2020-01-07,5,B\n"), 0o600))
	table, err := Prices(path, []string{"A", "B"}, true)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, true, false, true, true, true, true}, table.Observed)
	for k, want := range map[int]float64{0: math.Ln2, 2: math.Ln2, 4: -math.Ln2, 5: math.Ln2, 7: -math.Ln2} {
		require.InDelta(t, want, table.Values[k], 1e-15)
	}
	table, err = Prices(path, []string{"B", "A"}, false)
	require.NoError(t, err)
	require.Equal(t, []float64{5, 1, 0, 2, 5, 4, 10, 2, 5, 2}, table.Values)
}
