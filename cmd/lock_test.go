package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/filelock"
)

// Two runs never write into one folder, or one file: the second is told who the first is.
// What a killed run left is no obstacle.
func TestOneWriter(t *testing.T) {
	t.Chdir("..")
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{"simulate", "star", "--d", "3", "--n", "50", "--out", dir}, &stdout, &stderr), stderr.String())
	table, model, out := filepath.Join(dir, "data.csv"), filepath.Join(dir, "truth.json"), filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(out, 0o755))
	at := func(name string) string { return filepath.Join(out, name) }
	for _, c := range []struct {
		lock string
		args []string
	}{
		{folderLock, []string{"network", table, "--out", out}},
		{folderLock, []string{"simulate", "star", "--d", "3", "--n", "50", "--out", out}},
		{".m.json.lock", []string{"fit", table, "--method", "iw", "--epochs", "2", "--out", at("m.json")}},
		{".m.history.csv.lock", []string{"fit", table, "--method", "iw", "--epochs", "2", "--out", at("m.json")}},
		{".c.csv.lock", []string{"impute", model, table, "--out", at("c.csv")}},
		{".c.csv.lock", []string{"score", model, table, "--out", at("c.csv")}},
		{".c.csv.lock", []string{"sample", model, "--out", at("c.csv")}},
	} {
		release, err := filelock.Hold(at(c.lock))
		require.NoError(t, err)
		stderr.Reset()
		require.Equal(t, exitError, run(c.args, &stdout, &stderr), "%v", c.args)
		require.Contains(t, stderr.String(), fmt.Sprintf("another run, process %d, is writing there: wait until it ends, or choose another --out", os.Getpid()))
		left, err := os.ReadDir(out)
		require.NoError(t, err)
		require.Len(t, left, 1, "nothing but the lock: %v", c.args)
		release()

		require.NoError(t, os.WriteFile(at(c.lock), []byte("1\n"), 0o644)) // of a process that was killed
		stderr.Reset()
		require.Contains(t, []int{exitDone, exitUnconverged}, run(c.args, &stdout, &stderr), "%v: %s", c.args, stderr.String())
		require.NoFileExists(t, at(c.lock))
		require.NoError(t, os.RemoveAll(out))
		require.NoError(t, os.Mkdir(out, 0o755))
	}
}

// A name is too long before the fit, or not at all.
func TestLongNames(t *testing.T) {
	t.Chdir("..")
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	fit := func(length int) int {
		stderr.Reset()
		return run([]string{"fit", "examples/airquality.csv", "--columns", "Ozone,Wind", "--method", "iw", "--epochs", "2", "--out", filepath.Join(dir, strings.Repeat("n", length))}, &stdout, &stderr)
	}
	for _, length := range []int{230, 240, 243} {
		require.Equal(t, exitUnconverged, fit(length), stderr.String())
	}
	for _, length := range []int{244, 255, 256} {
		require.Equal(t, exitUsage, fit(length))
		require.Contains(t, stderr.String(), "is too long for the file system: choose a shorter one")
		require.NotContains(t, stderr.String(), "airquality", "before the table is read")
	}
}
