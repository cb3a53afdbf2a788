package cells_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	f, err := cells.Lock(path)
	require.NoError(t, err)
	_, err = cells.Lock(path)
	require.EqualError(t, err, path+" is being written by another run: wait until it ends, or choose another folder")
	require.NoError(t, f.Close())
	f, err = cells.Lock(path)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing is left behind")
}
