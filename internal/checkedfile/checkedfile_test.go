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
	require.NoError(t, checkedfile.WriteGob(path, mark, "the body"))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	body := file[len(mark)+sha256.Size:]
	sum := sha256.Sum256(body)
	require.Equal(t, mark+string(sum[:])+string(body), string(file))
	var read string
	require.NoError(t, checkedfile.ReadGob(path, mark, 1, &read))
	require.Equal(t, "the body", read)
}

func TestReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var read int
	require.ErrorIs(t, checkedfile.ReadGob(path, mark, 1, &read), os.ErrNotExist)
	require.NoError(t, checkedfile.WriteGob(path, mark, 7))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	refused := func(file []byte, at int) {
		require.NoError(t, os.WriteFile(path, file, 0o600))
		require.ErrorIs(t, checkedfile.ReadGob(path, mark, 1, &read), checkedfile.ErrBroken, at)
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
	var full *memory.Error
	require.ErrorAs(t, checkedfile.ReadGob(path, mark, 4, &read), &full)
	require.Zero(t, read)
}
