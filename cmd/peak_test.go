//go:build unix

package cmd

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
)

// waitPeak waits for the end of a process that has begun, and gives the most memory of it that was
// resident at a time, in bytes, as looked at every few milliseconds; 0 where the system does not tell.
func waitPeak(c *exec.Cmd) (peak float64, err error) {
	process := strconv.Itoa(c.Process.Pid)
	for {
		bytes, ok := memory.Resident(process, "VmHWM")
		if !ok { // it has ended, or was never to be seen
			return peak, c.Wait()
		}
		peak = max(peak, bytes)
		time.Sleep(2 * time.Millisecond)
	}
}

// wideFile is a file of so many rows of 20 normal columns, of which a share of the cells is missing.
func wideFile(t *testing.T, name, rows, missing string) string {
	table := filepath.Join(t.TempDir(), name)
	said, err := exec.Command("go", "run", "../benchmarks/streaming", "-rows", rows, "-missing", missing, "-out", table).CombinedOutput()
	require.NoError(t, err, "%s", said)
	return table
}

// peakOf is the most memory that a command by two processors took, in bytes, and what it said; it
// must end with this exit code.
func peakOf(t *testing.T, code int, args ...string) (most float64, said string) {
	c := exec.Command("missingscore", args...)
	c.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "GOMAXPROCS=2")
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	require.NoError(t, c.Start())
	most, err := waitPeak(c)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Equal(t, code, c.ProcessState.ExitCode(), "%s", &text)
	require.NotZero(t, most)
	return most, text.String()
}
