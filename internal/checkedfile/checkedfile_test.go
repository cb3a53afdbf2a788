package checkedfile_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/checkedfile"
	"missingscore/internal/memory"
)

const mark = "a mark\n"

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, checkedfile.Write(path, mark, []byte("the body")))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256([]byte("the body"))
	require.Equal(t, mark+string(sum[:])+"the body", string(file))
	require.Equal(t, file, checkedfile.Seal(mark, []byte("the body")))
	body, err := checkedfile.Read(path, mark, 1)
	require.NoError(t, err)
	require.Equal(t, "the body", string(body))
}

func TestReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	_, err := checkedfile.Read(path, mark, 1)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.False(t, checkedfile.Broken(err))
	file := checkedfile.Seal(mark, []byte("body"))
	refused := func(file []byte, at int) {
		_, err := checkedfile.Open(mark, file)
		want := checkedfile.ErrDamaged
		if at < len(mark) {
			want = checkedfile.ErrUnmarked
		}
		require.ErrorIs(t, err, want, at)
		require.True(t, checkedfile.Broken(err))
	}
	for at := range file {
		for bit := range 8 {
			broken := append([]byte(nil), file...)
			broken[at] ^= 1 << bit
			refused(broken, at)
		}
		refused(file[:at], at)
	}
	t.Setenv(memory.Variable, "100B")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	require.NoError(t, os.Truncate(path, 1<<16))
	_, err = checkedfile.Read(path, mark, 4)
	var full *memory.Error
	require.ErrorAs(t, err, &full)
	require.False(t, checkedfile.Broken(err))
}
