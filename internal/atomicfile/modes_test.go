//go:build unix

package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModes(t *testing.T) {
	dir := t.TempDir()
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	private, public := filepath.Join(dir, "new"), filepath.Join(dir, "public")
	require.NoError(t, Write(private, text("x")))
	require.Equal(t, os.FileMode(0o600), mode(private))
	syscall.Umask(0o022)
	require.NoError(t, Write(public, text("x")))
	require.Equal(t, os.FileMode(0o644), mode(public))
	require.NoError(t, os.Chmod(public, 0o664))
	for path, want := range map[string]os.FileMode{private: 0o600, public: 0o664} {
		require.NoError(t, Write(path, text("y")))
		require.Equal(t, want, mode(path), "it keeps its mode")
	}
}

func TestWriteIntoPipes(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink("pipe", link))
	require.True(t, Special(link))
	full := errors.New("disk full")
	require.ErrorIs(t, Write(link, func(io.Writer) error { return full }), full)
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // avoids blocking
	require.NoError(t, err)
	defer reader.Close()
	require.NoError(t, Write(link, text("through")))
	read := make([]byte, len("through"))
	_, err = io.ReadFull(reader, read)
	require.NoError(t, err)
	require.Equal(t, "through", string(read))
	info, err := os.Lstat(pipe)
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe, info.Mode().Type(), "it is still a pipe")
}
