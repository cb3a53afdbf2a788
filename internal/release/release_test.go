package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A release built twice is the same bytes, holds what it should, and runs. The revision's time
// is given: archives of a source package, which is no repository, can be built too.
func TestReleaseTwice(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	here := target{runtime.GOOS, runtime.GOARCH}
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		require.NoError(t, release(t.Context(), dir, []target{here}, true, io.Discard))
	}
	sums, err := os.ReadFile(filepath.Join(first, "SHA256SUMS"))
	require.NoError(t, err)
	again, err := os.ReadFile(filepath.Join(second, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, string(sums), string(again))
	sum, name, ok := strings.Cut(strings.TrimSuffix(string(sums), "\n"), "  ")
	require.True(t, ok)
	packed, err := os.ReadFile(filepath.Join(first, name))
	require.NoError(t, err)
	require.Equal(t, sum, fmt.Sprintf("%x", sha256.Sum256(packed)))
	if here.system == "windows" {
		return // tests below read .tar.gz
	}
	files := unpacked(t, packed, strings.TrimSuffix(name, ".tar.gz")+"/")
	for _, want := range []string{"LICENSE", "README.md", "completions/missingscore.bash", "completions/_missingscore", "completions/missingscore.fish", "completions/missingscore.ps1",
		"man/missingscore.1", "man/missingscore-network.1", "man/missingscore-impute.1", "licences/go/LICENSE", "licences/github.com/spf13/cobra/LICENSE.txt", "licences/gonum.org/v1/gonum/LICENSE",
		"licences/gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Oxford-LICENSE", "licences/github.com/golang/freetype/licenses/ftl.txt"} {
		require.NotEmpty(t, files[want], want)
	}
	for _, same := range []string{"TRUST.md", "docs/reference/digits.md", "trainers/certified/reference/README.md", "trainers/certified/reference/certified.json", "trainers/certified/reference/gaps.csv"} { // its digits, and what they are of
		text, err := os.ReadFile(filepath.Join("../..", same))
		require.NoError(t, err)
		require.Equal(t, string(text), string(files[same]), same)
	}
	require.NotContains(t, string(files["man/missingscore.1"]), "1970")
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.NotContains(t, string(files["missingscore"]), root, "no path of this machine")
	program := filepath.Join(t.TempDir(), "missingscore")
	require.NoError(t, os.WriteFile(program, files["missingscore"], 0o700))
	said, err := exec.CommandContext(t.Context(), program, "--version").Output()
	require.NoError(t, err)
	require.Contains(t, string(said), runtime.GOOS+"/"+runtime.GOARCH)
}

// unpacked are the files of a .tar.gz by their names below its folder.
func unpacked(t *testing.T, packed []byte, folder string) map[string][]byte {
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	files := map[string][]byte{}
	for archive := tar.NewReader(plain); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		require.Equal(t, int64(1700000000), head.ModTime.Unix(), head.Name)
		name, ok := strings.CutPrefix(head.Name, folder)
		require.True(t, ok, head.Name)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[name] = text
	}
}

// Both kinds of archive depend on their arguments alone, whatever the order of the files, and
// give back what they were given.
func TestArchives(t *testing.T) {
	a, b := entry{name: "b/run", content: []byte("program"), program: true}, entry{name: "a.txt", content: []byte("text")}
	at := time.Unix(1700000001, 0).UTC()
	for name, pack := range map[string]func(io.Writer, string, time.Time, []entry) error{"tar": packTar, "zip": packZip} {
		var first, second, later bytes.Buffer
		require.NoError(t, pack(&first, "f", at, []entry{a, b}))
		require.NoError(t, pack(&second, "f", at, []entry{b, a}))
		require.NoError(t, pack(&later, "f", at.Add(time.Hour), []entry{b, a}))
		require.Equal(t, first.Bytes(), second.Bytes(), name)
		require.NotEqual(t, first.Bytes(), later.Bytes(), name)
		if name == "zip" {
			archive, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
			require.NoError(t, err)
			require.Len(t, archive.File, 2)
			require.Equal(t, "f/a.txt", archive.File[0].Name)
			require.Equal(t, os.FileMode(0o755), archive.File[1].Mode())
			require.Equal(t, at.Unix(), archive.File[1].Modified.Unix())
		}
	}
}

func TestChosenTargets(t *testing.T) {
	all, err := chosenTargets("")
	require.NoError(t, err)
	require.Len(t, all, 6)
	some, err := chosenTargets("linux/amd64,windows/arm64")
	require.NoError(t, err)
	require.Equal(t, []target{{"linux", "amd64"}, {"windows", "arm64"}}, some)
	_, err = chosenTargets("linux")
	require.EqualError(t, err, "--targets linux: a system and a processor are expected, as linux/amd64")
}
