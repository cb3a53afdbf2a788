//go:build linux

package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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
		var said bytes.Buffer
		fit.Stdout, fit.Stderr = &said, &said
		require.NoError(t, fit.Start())
		most, err := waitPeak(fit)
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", &said)
		require.Equal(t, exitUnconverged, exit.ExitCode(), "%s", &said) // of one pass nobody can tell whether it converged
		require.NotZero(t, most)
		return int64(most)
	}
	const numbers = 400_000 * 20 * 8 // bytes: 64 MB
	small, large := peak("400000"), peak("800000")
	t.Logf("%d MB, of twice the rows %d MB", small>>20, large>>20)
	require.Less(t, small, int64(400<<20))
	require.Less(t, large, small+numbers/2)
}
