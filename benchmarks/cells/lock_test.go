package cells_test

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
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

// Each adds 1 to a number in a file that is replaced, as a run's last act does.
func TestALockOutlivesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	header := []string{"number"}
	var wg sync.WaitGroup
	const workers, times = 8, 25
	for range workers {
		wg.Go(func() {
			for done := 0; done < times; {
				f, err := cells.Lock(path)
				if err != nil {
					continue
				}
				lines, err := cells.ReadLines(path, header)
				n := 0
				if err == nil && len(lines) > 0 {
					n, err = strconv.Atoi(lines[0][0])
				}
				if err == nil {
					err = cells.WriteLines(path, header, [][]string{{strconv.Itoa(n + 1)}})
				}
				f.Close()
				if err != nil {
					t.Error(err)
					return
				}
				done++
			}
		})
	}
	wg.Wait()
	lines, err := cells.ReadLines(path, header)
	require.NoError(t, err)
	require.Equal(t, [][]string{{strconv.Itoa(workers * times)}}, lines)
}
