package reproduce

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
)

// A small run that is stopped in the middle, with a torn line, and goes on, and one in
// shards, end with the bytes of one that is not, but for seconds.
func TestStoppedRunsGoOn(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // cells of other languages' programs are left out
	for _, name := range []string{"neural", "neural-mar", "neural-curve", "denoising", "missingness", "likelihood", "imputation", "mar", "networks", "deciding", "coverage", "ranking", "scale", "ordinal"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := ByName([]string{name})
			require.NoError(t, err)
			e, whole, cut, shards := found[0], t.TempDir(), t.TempDir(), t.TempDir()
			run := func(ctx context.Context, o harness.Options) error {
				o.Smoke = true
				failed, err := harness.Run(ctx, found, o)
				require.Zero(t, failed)
				return err
			}
			if err := run(t.Context(), harness.Options{Out: whole}); errors.Is(err, cells.ErrAbsent) {
				t.Skip(err)
			} else {
				require.NoError(t, err)
			}

			ctx, stop := context.WithCancel(t.Context())
			err = run(ctx, harness.Options{Out: cut, Workers: 2, Progress: func(_ string, done, total int) {
				if done > total/2 {
					stop()
				}
			}})
			require.ErrorIs(t, err, context.Canceled)
			path := filepath.Join(cut, name, "cells.csv")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(path, int64(len(text)-3)))
			require.NoError(t, run(t.Context(), harness.Options{Out: cut, Workers: 1}))

			for shard := range 2 {
				require.NoError(t, run(t.Context(), harness.Options{Out: shards, Shard: shard + 1, Shards: 2}))
			}
			_, err = harness.Merge(found, []string{shards}, shards)
			require.NoError(t, err)

			want := withoutClock(t, e, whole)
			require.NotEmpty(t, want.Lines)
			require.Equal(t, want, withoutClock(t, e, cut))
			require.Equal(t, want, withoutClock(t, e, shards))
		})
	}
}

// The committed folders are of today's settings: a run of them goes on, and keeps their cells.
func TestCommittedResultsGoOn(t *testing.T) {
	for _, e := range Experiments {
		t.Run(e.Name, func(t *testing.T) {
			l, err := harness.Load(e, filepath.Join("..", "results"))
			require.NoError(t, err)
			require.NotEmpty(t, l.Results.Lines)
			out := t.TempDir()
			require.NoError(t, os.CopyFS(filepath.Join(out, e.Name), os.DirFS(filepath.Join("..", "results", e.Name))))
			grid := e.Grid
			e.Grid = func(text json.RawMessage, replicates int) (cells.Grid, error) {
				g, err := grid(text, replicates)
				g.Present = nil
				return g, err
			}
			stopped, stop := context.WithCancel(t.Context())
			stop()
			_, err = harness.Run(stopped, []harness.Experiment{e}, harness.Options{Out: out, Replicates: l.Replicates})
			require.ErrorIs(t, err, context.Canceled)
			missing, err := harness.Merge([]harness.Experiment{e}, []string{out}, t.TempDir())
			require.NoError(t, err)
			require.Equal(t, l.Wanted-len(l.Results.Lines), missing)
			again, err := harness.Load(e, out)
			require.NoError(t, err)
			require.Equal(t, l.Results, again.Results)
		})
	}
}

// withoutClock are an experiment's lines; where no column holds seconds, its file.
func withoutClock(t *testing.T, e harness.Experiment, out string) cells.Results {
	l, err := harness.Load(e, out)
	require.NoError(t, err)
	g, err := e.Grid(l.Settings, l.Replicates)
	require.NoError(t, err)
	if g.Clock == nil {
		text, err := os.ReadFile(filepath.Join(out, e.Name, "cells.csv"))
		require.NoError(t, err)
		return cells.Results{Lines: [][]string{{string(text)}}}
	}
	same := slices.DeleteFunc(g.Columns(), func(c string) bool { return slices.Contains(g.Clock, c) })
	lines, err := l.Results.Values(same...)
	require.NoError(t, err)
	return cells.Results{Columns: same, Lines: lines}
}
