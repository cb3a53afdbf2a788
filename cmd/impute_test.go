package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/trainers/mcmc"
)

// The message names the column and the flags that help.
func TestTellUnmet(t *testing.T) {
	var f imputeCommand
	f.out, f.components = "out.csv", 5
	m := &mcmc.Mixing{RHat: 1.3, Worst: 2.5, Row: 1}
	said := f.tellUnmet(m, []string{"a", "b, c"})
	require.Contains(t, said, "(R-hat of a column above 1.4, or of its missing cells above 1.2; of b, c it is 2.5), so the result in out.csv is not")
	require.Contains(t, said, "missing cells of b, c, as")
	require.Contains(t, said, `leave it out (--exclude '"b, c"'), take one normal distribution (--components 1), or try more --iterations`)
	for _, f.components = range []int{0, 1} {
		require.NotContains(t, f.tellUnmet(m, []string{"a", "b"}), "--components")
	}
}

type cutter struct {
	bytes.Buffer
	cut context.CancelFunc
}

func (c *cutter) Write(text []byte) (int, error) {
	if strings.Contains(string(text), "impute:") {
		c.cut()
	}
	return c.Buffer.Write(text)
}

func TestImputationResumed(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	run := func(args ...string) int { return run(args, &stdout, &stderr) }
	require.Zero(t, run("simulate", "normal", "--d", "3", "--n", "250", "--missing", "0.3", "--out", dir), stderr.String())
	table, model := filepath.Join(dir, "data.csv"), filepath.Join(dir, "truth.json")
	for name, args := range map[string][]string{"two": {"impute", model, table, "--sampler", "mcmc", "--iterations", "40"}, "one": {"impute", table, "--sampler", "mcmc"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "c.csv")
			args := append(args, "--draws", "2", "--seed", "3", "--workers", "1", "--out")
			code := run(append(args, filepath.Join(dir, "whole.csv"))...)
			require.Contains(t, []int{exitDone, exitUnconverged}, code, stderr.String())

			ctx, cancel := context.WithCancel(t.Context())
			said := &cutter{cut: cancel}
			root := newRoot()
			root.SetArgs(append(args, out))
			root.SetErr(said)
			err := root.ExecuteContext(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorContains(t, err, "the draws so far are saved in "+out+".state; repeat the command with --resume")
			require.NoFileExists(t, out)

			require.Equal(t, exitUsage, run(append(args, out, "--resume", "--draws", "3")...))
			require.Contains(t, stderr.String(), "the saved draws belong to another model, table or settings")
			stderr.Reset()
			require.Equal(t, code, run(append(args, out, "--resume", "--workers", "2")...), stderr.String())
			require.NotContains(t, stderr.String(), "fit:")
			require.NoFileExists(t, out+".state")
			want, err := os.ReadFile(filepath.Join(dir, "whole.csv"))
			require.NoError(t, err)
			got, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}
