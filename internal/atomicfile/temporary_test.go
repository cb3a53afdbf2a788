package atomicfile_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/atomicfile"
	"missingscore/internal/filelock"
)

// What a killed process left is swept by the next that writes the file, what another is
// writing stays, and so does what only looks like it.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{".f.123.tmp", ".f.17.tmp", ".f.txt.123.tmp", ".f.x.tmp", ".g.1.tmp"} {
		require.NoError(t, os.WriteFile(at(name), []byte("half"), 0o600))
	}
	live, err := filelock.Open(at(".f.17.tmp"))
	require.NoError(t, err)
	require.NoError(t, atomicfile.Write(at("f"), text("whole")))
	left, err := filepath.Glob(at(".*"))
	require.NoError(t, err)
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	require.Equal(t, []string{".f.17.tmp", ".f.txt.123.tmp", ".f.x.tmp", ".g.1.tmp"}, left)
	require.NoError(t, live.Close())
	require.NoError(t, atomicfile.Write(at("f"), text("whole")))
	require.NoFileExists(t, at(".f.17.tmp"))
}

// Many writers of one file do not sweep each other's.
func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	whole := strings.Repeat("x", 10000)
	for range 8 {
		wg.Go(func() {
			for range 25 {
				if err := atomicfile.Write(path, text(whole)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	read, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, whole, string(read))
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// Every name that the file system takes can be written.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, length := range []int{200, 225, 226, 240, 255} {
		path := filepath.Join(dir, strings.Repeat("n", length))
		require.NoError(t, atomicfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }), "%d", length)
		require.FileExists(t, path)
	}
	require.Error(t, atomicfile.Write(filepath.Join(dir, strings.Repeat("n", 256)), text("x")))
}
