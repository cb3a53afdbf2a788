//go:build linux

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pass of Marg-Var straight from a Parquet file keeps within memory that does not grow with the
// rows: twice as many take less than half of the numbers that they add.
func TestStreamedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes")
	}
	t.Parallel()
	dir := t.TempDir()
	writer := filepath.Join(dir, "writer")
	build, err := exec.Command("go", "build", "-o", writer, "../benchmarks/streaming").CombinedOutput()
	require.NoError(t, err, "%s", build)
	peak := func(rows string) int64 {
		table := filepath.Join(dir, rows+".parquet")
		require.NoError(t, exec.Command(writer, "-rows", rows, "-out", table).Run())
		fit := exec.Command("missingscore", "fit", table, "--method", "var", "--epochs", "1", "--batch", "2000", "--draws", "2", "--imputer-steps", "1", "--warm-up", "20", "--stream", "--out", filepath.Join(dir, rows+".json"))
		fit.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
		text, err := fit.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", text)
		require.Equal(t, exitUnconverged, exit.ExitCode(), "%s", text) // of one pass nobody can tell whether it converged
		return exit.SysUsage().(*syscall.Rusage).Maxrss * 1024
	}
	const numbers = 400_000 * 20 * 8 // bytes: 64 MB
	small, large := peak("400000"), peak("800000")
	t.Logf("%d MB, of twice the rows %d MB", small>>20, large>>20)
	require.Less(t, small, int64(400<<20))
	require.Less(t, large, small+numbers/2)
}
