package provenance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/provenance"
)

func TestOf(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2020-03-04T12:00:00Z")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	git("init", "-q")
	_, err := provenance.Of(dir)
	require.ErrorContains(t, err, "git log")
	write("a.go", "package a\n")
	git("add", ".")
	git("commit", "-qm", "first")
	s, err := provenance.Of(dir)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{7,} of 2020-03-04$`, s.String())
	write("internal/trust/figures/a.json", "{}")
	same, err := provenance.Of(dir)
	require.NoError(t, err)
	require.Equal(t, s, same, "figures are no change")
	write("a.go", "package b\n")
	changed, err := provenance.Of(dir)
	require.NoError(t, err)
	require.Equal(t, s.Commit+"+", changed.Commit)
}
