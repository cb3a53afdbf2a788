//go:build unix

package cmd

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/slowtest"
)

func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran(t, done, "simulate", "star", "--d", "8", "--n", "200", "--out", dir)
	data := filepath.Join(dir, "data.csv")
	for i, c := range []struct {
		state, end string // the state's name; what follows the folder's name where --out would else be a file's
		args       []string
	}{
		{stateFile, "", []string{"network", data, "--method", "var", "--draws", "4", "--imputer-steps", "3", "--imputer-options", `{"hidden":20}`, "--lambdas", "20", "--select", "none"}},
		{stateFile, "", []string{"compare", filepath.Join(dir, "complete.csv"), data, "--columns", "x1,x2,x3,x4", "--lambdas", "10", "--permutations", "80"}},
		{"c.csv.state", "/c.csv", []string{"impute", data, "--sampler", "mcmc", "--draws", "2", "--iterations", "600"}},
		{stateFile, "", []string{"network", data, "--inference", "bootstrap=80", "--stability", "10", "--workers", "2"}},
		{stateFile, "", []string{"network", data, "--select", "stars", "--lambdas", "60", "--workers", "2"}},
		{"model.json.state", "/", []string{"fit", data, "--method", "variw", "--epochs", "150", "--lower", "-9", "--truth", filepath.Join(dir, "truth.json")}},
		{stateFile, "", []string{"power", "--d", "6", "--graph", "chain", "--missing", "0.2", "--rows", "100,200", "--tables", "60"}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			if i > 2 {
				slowtest.Skip(t, "10 s")
			}
			killedAndResumed(t, c.args, c.state, c.end)
		})
	}
}

func killedAndResumed(t *testing.T, args []string, stateName, end string) {
	dir := t.TempDir()
	whole, cut := filepath.Join(dir, "whole"), filepath.Join(dir, "cut")
	state := filepath.Join(cut, stateName)
	require.NoError(t, errors.Join(os.Mkdir(whole, 0o755), os.Mkdir(cut, 0o755)))
	command := func(out string, more ...string) *exec.Cmd {
		c := exec.Command("missingscore", slices.Concat(args, []string{"--out", out + end}, more)...)
		c.Env = append(os.Environ(), saveEachVariable+"=10ms") // before it can have ended
		return c
	}
	ends := func(c *exec.Cmd) {
		if out, err := c.CombinedOutput(); err != nil { // 3 is fine: how it converges is not the matter here
			require.Equal(t, exitUnconverged, err.(*exec.ExitError).ExitCode(), "%s", out)
		}
	}
	start := func(signal os.Signal, more ...string) (code int, output string) {
		var b bytes.Buffer
		c := command(cut, more...)
		c.Stdout, c.Stderr = &b, &b
		require.NoError(t, c.Start())
		before, _ := os.Stat(state)
		for range 3000 { // until it has saved something new
			time.Sleep(5 * time.Millisecond)
			if now, err := os.Stat(state); err == nil && (before == nil || now.ModTime().After(before.ModTime())) {
				break
			}
		}
		require.NoError(t, c.Process.Signal(signal))
		require.Error(t, c.Wait(), "it ended before it could be stopped: %s", b.String())
		return c.ProcessState.ExitCode(), b.String()
	}
	ends(command(whole))
	code, _ := start(syscall.SIGKILL)
	require.Equal(t, -1, code)
	code, output := start(os.Interrupt, "--resume")
	require.Equal(t, exitInterrupted, code, output)
	require.Contains(t, output, "repeat the command with --resume")
	out, err := command(cut, "--resume", "--seed", "2").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "--resume: ", "another seed is refused, and leaves the state as it is")
	ends(command(cut, "--resume", "--workers", "2"))
	sameFolders(t, whole, cut)
}

func sameFolders(t *testing.T, want, got string) {
	// Details of draws name the file they belong to.
	out, err := exec.Command("diff", "-r", "-x", folderLock, "-x", "c.csv.json", want, got).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// interruptedRun runs a command and interrupts it until it ends.
func interruptedRun(t *testing.T, args ...string) (stderr string) {
	t.Helper()
	caught := make(chan os.Signal, 1) // until the command listens, so that nothing ends the test
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	var stdout, said bytes.Buffer
	code := make(chan int)
	go func() { code <- run(args, &stdout, &said) }()
	for range 50 {
		select {
		case c := <-code:
			require.Equal(t, exitInterrupted, c, "%v: %s", args, &said)
			return said.String()
		case <-time.After(100 * time.Millisecond):
			require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
		}
	}
	t.Fatalf("%v goes on", args)
	return ""
}

func TestDrawingInterrupted(t *testing.T) {
	dir := t.TempDir()
	ran(t, done, "simulate", "quartic", "--d", "3", "--n", "100", "--out", dir)
	model, table := filepath.Join(dir, "truth.json"), filepath.Join(dir, "data.csv")
	for _, args := range [][]string{{"sample", model}, {"impute", model, table}, {"score", model, table}} {
		out := t.TempDir()
		said := interruptedRun(t, append(args, "--warm-up", "1000000000", "--out", filepath.Join(out, "out.csv"))...)
		require.Contains(t, said, "nothing is written")
		left, err := os.ReadDir(out)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestPanic(t *testing.T) {
	model.Models["faulty"] = func(int, []byte, *rand.Rand) (model.Model, error) { panic("no such luck") }
	defer delete(model.Models, "faulty")
	_, said := ran(t, []int{exitError}, "fit", "../examples/airquality.csv", "--model", "faulty")
	require.Regexp(t, `^missingscore: internal error: no such luck \(missingscore/cmd.*interrupt_test.go:\d+\); please report it\n$`, said)
	require.ErrorContains(t, abandonable(t.Context(), func() error { panic("left alone") }), "internal error: left alone (")
}

func TestReadingInterrupted(t *testing.T) {
	dir := t.TempDir()
	ran(t, done, "simulate", "star", "--d", "3", "--n", "50", "--out", dir)
	model, table, pipe := filepath.Join(dir, "truth.json"), filepath.Join(dir, "data.csv"), filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	t.Cleanup(func() { // so that the abandoned readers end
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
			time.Sleep(50 * time.Millisecond)
			f.Close()
		}
	})
	for _, args := range [][]string{
		{"network", pipe}, {"network", table, "--truth", pipe}, {"network", table, "--domain", pipe}, {"network", table, "--missingness", pipe},
		{"fit", pipe}, {"fit", table, "--truth", pipe}, {pipe}, {"sample", pipe}, {"impute", pipe, table}, {"impute", model, pipe}, {"score", model, pipe},
		{"simulate", "star", "--missing-by", pipe}, {"simulate", "star", "--domain", pipe},
	} {
		if args[0] != pipe {
			args = append(args, "--out", filepath.Join(t.TempDir(), "out"))
		}
		interruptedRun(t, args...)
	}
}

func TestCutBeforeAnythingIsSaved(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "state")
	err := explain(context.Canceled, "table.csv", saved, "")
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, err.Error(), "--resume")
	require.NoError(t, os.WriteFile(saved, nil, 0o600))
	require.Contains(t, explain(context.Canceled, "table.csv", saved, "").Error(), "the state is saved in "+saved+"; repeat the command with --resume")
}
