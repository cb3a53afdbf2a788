package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

// FuzzCommand runs whole commands: random flags by a seed, and a word that is anything.
// Whatever comes, the exit code is one of the documented ones, messages are in plain words,
// --json is JSON, and nothing temporary is left.
func FuzzCommand(f *testing.F) {
	const seeds = 20
	for seed := range uint64(seeds) {
		f.Add(seed, "")
	}
	f.Add(uint64(3), "--columns=x1")
	f.Add(uint64(4), "--lower=\x00")
	f.Add(uint64(3), "\x00")
	f.Setenv(memory.Variable, "500MB")
	dir := f.TempDir()
	randomFiles(f, dir, stream.New(1))
	kept, err := os.ReadDir(dir)
	require.NoError(f, err)
	f.Chdir(dir)
	tried, accepted := 0, 0
	f.Fuzz(func(t *testing.T, seed uint64, word string) {
		line := randomLine(stream.New(seed))
		if word != "" {
			if strings.ContainsAny(word, "/\\") || strings.HasPrefix(word, "--stab") || strings.HasPrefix(word, "--out") || strings.HasPrefix(word, "-h") {
				t.Skip("paths stay in the folder, and time in seconds")
			}
			line = append(line, word)
		}
		var stdout, stderr bytes.Buffer
		code := run(line, &stdout, &stderr)
		tried++
		if code == exitDone || code == exitUnconverged {
			accepted++
		}
		require.Contains(t, []int{exitDone, exitError, exitUsage, exitUnconverged}, code, "%q: %s", line, stderr.String())
		require.Empty(t, fuzztest.Unknown(stderr.String(), line...), "%q", line)
		if slices.Contains(line, "--json") && code != exitUsage {
			require.True(t, json.Valid(stdout.Bytes()), "%q: %s", line, stdout.String())
		}
		require.Empty(t, left(t, dir), "%q", line)
		now, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range now { // the next line starts as this did
			if !slices.ContainsFunc(kept, func(k os.DirEntry) bool { return k.Name() == e.Name() }) {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
	})
	if tried >= seeds { // not so where one seed alone is asked for
		require.GreaterOrEqual(f, accepted, seeds/3, "of %d lines", tried)
	}
}

// left are temporary files and locks in a folder.
func left(t testing.TB, dir string) (names []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, ".lock") || strings.HasPrefix(filepath.Base(path), ".writable.")) {
			names = append(names, path)
		}
		return err
	}))
	return names
}
