package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, Write(path, text("first")))
	require.ErrorIs(t, Write(path, func(w io.Writer) error { return cmp.Or(text("half of the sec")(w), errFull) }), errFull)
	require.Equal(t, map[string]string{"f": "first"}, files(t, dir), "nothing is left behind")
	require.ErrorIs(t, Write(filepath.Join(dir, "no", "f"), func(io.Writer) error { return nil }), os.ErrNotExist)
}

func TestErrorsNameTheFileNotTheTemporaryOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "f")
	require.ErrorContains(t, Write(path, text("")), "open "+path+": ")
	require.EqualError(t, naming("f", fmt.Errorf("table: %w", &fs.PathError{Op: "write", Path: ".1.tmp", Err: errFull})), "write f: disk full")
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
	require.NoError(t, os.WriteFile(at("file"), nil, 0o600))
	for _, s := range []string{"made", "replaced"} {
		require.NoError(t, Write(at("first"), text(s)))
		read, err := os.ReadFile(at("file"))
		require.NoError(t, err)
		require.Equal(t, s, string(read))
	}
	for name, kind := range map[string]os.FileMode{"first": os.ModeSymlink, "sub/second": os.ModeSymlink, "file": 0} {
		info, err := os.Lstat(at(name))
		require.NoError(t, err)
		require.Equal(t, kind, info.Mode().Type(), name)
	}
	require.Equal(t, at("sub/new"), Target(at("folder/new")))
}

func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	whole := strings.Repeat("x", 10000)
	for range 8 {
		wg.Go(func() {
			for range 25 {
				if err := Write(path, text(whole)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[string]string{"f": whole}, files(t, filepath.Dir(path)))
}

func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, length := range []int{200, 225, 226, 240, 255} {
		path := filepath.Join(dir, strings.Repeat("n", length))
		require.NoError(t, Write(path, text("x")), "%d", length)
		require.FileExists(t, path)
	}
	require.Error(t, Write(filepath.Join(dir, strings.Repeat("n", 256)), text("x")))
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		texts[e.Name()] = string(text)
	}
	return texts
}

func prepared(t *testing.T, dir, run string) *Set {
	t.Helper()
	set := new(Set)
	for _, name := range []string{"picture", "table", "mark"} {
		require.NoError(t, set.Write(filepath.Join(dir, name), text(run)))
	}
	set.Clear(dir, []string{"picture", "table", "roc", "mark"})
	return set
}

func older(t *testing.T) (dir string, old map[string]string) {
	t.Helper()
	dir = t.TempDir()
	old = map[string]string{"picture": "old", "table": "old", "mark": "old", "roc": "old", "notes": "mine"}
	for name, text := range old {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir, old
}

var errFull = errors.New("disk full")

// At any moment, files beside a mark belong to its run.
func TestSetCommits(t *testing.T) {
	dir, _ := older(t)
	want := map[string]string{"picture": "new", "table": "new", "mark": "new", "notes": "mine"}
	moves := 0
	require.NoError(t, prepared(t, dir, "new").commit(func(from, to string) error {
		require.NoError(t, os.Rename(from, to))
		moves++
		if now := files(t, dir); now["mark"] != "" {
			maps.DeleteFunc(now, func(name, _ string) bool { return name[0] == '.' })
			require.Equal(t, want, now)
		}
		return nil
	}))
	require.Equal(t, 3, moves)
	require.Equal(t, want, files(t, dir))
}

func TestSetRefusesFolders(t *testing.T) {
	dir, old := older(t)
	blocked := filepath.Join(dir, "roc")
	require.NoError(t, os.Remove(blocked))
	require.NoError(t, os.Mkdir(blocked, 0o700))
	require.ErrorContains(t, prepared(t, dir, "new").Commit(), "is a folder, but the result needs a file with this name: rename the folder")
	require.NoError(t, os.Remove(blocked))
	delete(old, "roc")
	require.Equal(t, old, files(t, dir))
}

// After a failed Commit there is no mark; the next Commit succeeds.
func TestSetAfterAFailure(t *testing.T) {
	dir, _ := older(t)
	require.ErrorIs(t, prepared(t, dir, "failed").commit(func(from, to string) error {
		if filepath.Base(to) == "table" {
			return errFull
		}
		return os.Rename(from, to)
	}), errFull)
	require.Equal(t, map[string]string{"picture": "failed", "table": "old", "notes": "mine"}, files(t, dir))
	require.NoError(t, prepared(t, dir, "new").Commit())
	require.Equal(t, map[string]string{"picture": "new", "table": "new", "mark": "new", "notes": "mine"}, files(t, dir))
}
