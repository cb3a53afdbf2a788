package filelock_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/filelock"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("FILELOCK_TEST"); path != "" { // the child process
		if _, err := filelock.Hold(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0) // without release, as if killed
	}
	os.Exit(m.Run())
}

func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	other := func() ([]byte, error) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "FILELOCK_TEST="+path)
		return c.Output()
	}
	release, err := filelock.Hold(path)
	require.NoError(t, err)
	said, err := other()
	require.Error(t, err)
	require.Equal(t, fmt.Sprintf("another run, process %d, is writing there\n", os.Getpid()), string(said))
	_, err = filelock.Hold(path)
	require.ErrorIs(t, err, filelock.ErrHeld)
	release()
	require.NoFileExists(t, path)

	_, err = other()
	require.NoError(t, err)
	require.FileExists(t, path, "a process that ends without releasing it leaves the file")
	release, err = filelock.Hold(path)
	require.NoError(t, err, "which is no lock any more")
	release()
	require.NoFileExists(t, path)
}
