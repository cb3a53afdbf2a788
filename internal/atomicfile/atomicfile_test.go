package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/atomicfile"
)

func TestWriteIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write := func(text string, err error) error {
		return atomicfile.Write(path, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return err
		})
	}
	require.NoError(t, write("first", nil))
	full := errors.New("disk full")
	require.ErrorIs(t, write("half of the sec", full), full)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "first", string(text))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing is left behind")
	require.ErrorIs(t, atomicfile.Write(filepath.Join(dir, "no", "f"), func(io.Writer) error { return nil }), os.ErrNotExist)
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Mkdir(at("sub"), 0o755))
	require.NoError(t, os.Symlink("sub", at("folder")))
	require.NoError(t, os.Symlink("../file", at("sub/second")))
	require.NoError(t, os.Symlink("folder/second", at("first")))
	for _, s := range []string{"made", "replaced"} { // the links lead to nothing at first
		require.NoError(t, atomicfile.Write(at("first"), text(s)))
		read, err := os.ReadFile(at("file"))
		require.NoError(t, err)
		require.Equal(t, s, string(read))
	}
	for _, name := range []string{"first", "sub/second"} {
		info, err := os.Lstat(at(name))
		require.NoError(t, err)
		require.Equal(t, os.ModeSymlink, info.Mode().Type(), name)
	}
	info, err := os.Lstat(at("file"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
	require.NoError(t, os.Symlink("circle", at("circle")))
	require.Equal(t, at("circle"), atomicfile.Target(at("circle")), "a circle leads nowhere")
}

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

func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, length := range []int{200, 225, 226, 240, 255} {
		path := filepath.Join(dir, strings.Repeat("n", length))
		require.NoError(t, atomicfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }), "%d", length)
		require.FileExists(t, path)
	}
	require.Error(t, atomicfile.Write(filepath.Join(dir, strings.Repeat("n", 256)), text("x")))
}
