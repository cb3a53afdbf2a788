package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/evaluate"
)

func TestVariantsAreApart(t *testing.T) {
	common := []byte(`{"warm_up": 3, "imputer": {"options": {"hidden":8}}}`)
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
}

// Squares numbers; outcome is called before each cell.
func squares(outcome func(cell string) error) Experiment {
	type settings struct {
		Replicates int    `json:"replicates"`
		Xs         []int  `json:"xs"`
		Note       string `json:"note"`
		File       string `json:"file"`
	}
	return Experiment{
		Name: "squares", Settings: []byte(`{"full": {"replicates": 2, "xs": [1, 2, 3], "note": "a < b & c"}, "smoke": {"replicates": 1, "xs": [1]}}`),
		Grid: Of(func(s settings, replicates int) (Grid, error) {
			g := Grid{Key: []string{"x", "replicate", "method"}, Value: []string{"square"}}
			if s.File != "" {
				g.Files = []string{s.File}
			}
			for r := 1; r <= replicates; r++ {
				for _, x := range s.Xs {
					g.Add(func(context.Context) ([]string, error) {
						return []string{strconv.Itoa(x * x)}, outcome(fmt.Sprintf("%d,%d,iw", x, r))
					}, x, r, "iw")
				}
			}
			return g, nil
		}),
	}
}

func counted(runs *atomic.Int32) Experiment {
	return squares(func(string) error { runs.Add(1); return nil })
}

const whole = "x,replicate,method,square\n1,1,iw,1\n2,1,iw,4\n3,1,iw,9\n1,2,iw,1\n2,2,iw,4\n3,2,iw,9\n"

func run(t *testing.T, e Experiment, o Options) (failed int, log string, err error) {
	t.Helper()
	var text strings.Builder
	o.Log, o.Workers = &text, max(1, o.Workers)
	failed, err = Run(t.Context(), []Experiment{e}, o)
	return failed, text.String(), err
}

func TestRunContinuesAfterEachByte(t *testing.T) {
	var runs atomic.Int32
	e := counted(&runs)
	out := t.TempDir()
	path := filepath.Join(out, "squares", "cells.csv")
	for cut := range len(whole) + 1 {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(whole[:cut]), 0o600))
		before := runs.Load()
		failed, _, err := run(t, e, Options{Out: out})
		require.NoError(t, err)
		require.Zero(t, failed)
		require.EqualValues(t, 6-max(0, strings.Count(whole[:cut], "\n")-1), runs.Load()-before)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, whole, string(text), "cut after %d bytes", cut)
	}
	_, err := Fill(t.Context(), path, []string{"other"}, []Cell{{Key: []string{"a"}}}, 1, nil)
	require.ErrorContains(t, err, "choose another file")
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out := t.TempDir()
	_, err := Run(ctx, []Experiment{squares(func(cell string) error {
		if cell == "3,1,iw" {
			stop()
		}
		return nil
	})}, Options{Out: out, Workers: 1, Log: io.Discard})
	require.ErrorIs(t, err, context.Canceled)
	var runs atomic.Int32
	_, _, err = run(t, counted(&runs), Options{Out: out, Workers: 3})
	require.NoError(t, err)
	require.EqualValues(t, 4, runs.Load())
	r, err := Load(counted(&runs), out)
	require.NoError(t, err)
	require.Len(t, r.Lines, 6)
	require.Equal(t, []string{"3", "1", "iw", "9"}, r.Lines[2])
}

func TestLoadJoinsShards(t *testing.T) {
	var runs atomic.Int32
	e := counted(&runs)
	out := t.TempDir()
	for i, want := range []int{4, 2, 0} {
		_, _, err := run(t, e, Options{Out: out, Shard: i + 1, Shards: 3})
		require.NoError(t, err)
		r, err := Load(e, out)
		require.NoError(t, err)
		require.Equal(t, want, r.Missing)
		require.Len(t, r.Lines, 6-want)
	}
	require.EqualValues(t, 6, runs.Load())
}

// A cell that fails, one that panics, and two whose program is absent.
func TestCellsThatFail(t *testing.T) {
	out := t.TempDir()
	e := squares(func(cell string) error {
		switch cell {
		case "2,1,iw":
			return errors.New("no luck")
		case "3,1,iw":
			panic("shape")
		case "1,2,iw", "2,2,iw":
			return fmt.Errorf("%w: R", ErrAbsent)
		}
		return nil
	})
	failed, log, err := run(t, e, Options{Out: out})
	require.NoError(t, err)
	require.Equal(t, 2, failed)
	require.Contains(t, log, "squares failed: no luck\n  again: --cell '2,1,iw'\n")
	require.Contains(t, log, "squares failed: internal error: shape")
	require.Equal(t, 1, strings.Count(log, "squares, 1,2,iw and similar cells are skipped: not found: R"))
	var runs atomic.Int32
	_, _, err = run(t, counted(&runs), Options{Out: out, Cell: "2,1,iw"})
	require.NoError(t, err)
	require.EqualValues(t, 1, runs.Load())
	_, _, err = run(t, counted(&runs), Options{Out: out})
	require.NoError(t, err)
	require.EqualValues(t, 4, runs.Load())
	_, _, err = run(t, counted(&runs), Options{Out: out, Cell: "9"})
	require.ErrorContains(t, err, "there is no cell 9; the first is 1,1,iw")
}

func TestAFolderBelongsToItsSettings(t *testing.T) {
	var runs atomic.Int32
	out := t.TempDir()
	of := func(o Options) error {
		o.Out = out
		_, _, err := run(t, counted(&runs), o)
		return err
	}
	require.NoError(t, of(Options{}))
	require.NoError(t, of(Options{Replicates: 3}))
	require.EqualValues(t, 9, runs.Load(), "only the third replicate is new")
	require.ErrorContains(t, of(Options{Smoke: true}), "is of a full run of squares with other settings: choose another folder")
	require.ErrorContains(t, of(Options{Config: []byte(`{"full": {"replicates": 1, "ys": [1]}}`)}), `settings: unknown field "ys"`)
	require.ErrorContains(t, of(Options{Config: []byte(`{"full": {"replicates": 1, "xs": [1, 2, 1]}}`)}), "settings: two cells are called 1,1,iw (x,replicate,method)")
	err := of(Options{Config: []byte(`{"full": {"replicates": 1, "xs": [1], "file": "nowhere.csv"}}`)})
	require.ErrorIs(t, err, ErrAbsent)
}

func TestTrace(t *testing.T) {
	trained := func(values ...float64) Trained {
		f := Trained{Epochs: 4}
		for _, v := range values {
			f.History = append(f.History, descent.Record{Errors: []evaluate.Error{{Name: "x", Value: v}}})
		}
		return f
	}
	require.Equal(t, "3 1 5 2", trained(3, 1, 5, 2).Trace("x"))
	require.Equal(t, "5 3 - -", trained(5, 3).Trace("x"))
}
