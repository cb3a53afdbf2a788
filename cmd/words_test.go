package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
)

// Broken flags and files of every kind are answered in plain words.
func TestNoGoWords(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and this is one of messages")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
		return at(name)
	}
	table, out := write("t.csv", "a,b\n1,2\n3,4\n5,1\n2,2\n"), at("out")
	refused := func(args ...string) {
		var stdout, stderr bytes.Buffer
		code := run(args, &stdout, &stderr)
		require.Contains(t, []int{exitError, exitUsage}, code, "%q: %s%s", args, stdout.String(), stderr.String())
		require.Empty(t, fuzztest.Unknown(strings.ReplaceAll(stderr.String(), dir, "")), "%q", args)
	}
	for _, flag := range []string{"--lambdas x", "--lambda-max x", "--seed -1", "--seed 1.5", "--json=maybe", "--lambdas 99999999999999999999", "--dtype x",
		`--columns "a`, `--na "x`, "--lower a=x", "--prices", "-z", "--draws", "--select cv=x", "--select density=x"} {
		refused(append([]string{"network", table, "--out", out}, strings.Fields(flag)...)...)
	}
	for _, options := range []string{`{"hidden":"x"}`, `{`, `{"hidden":[1.5]}`, `nope`, `{"a":[}`, `{"hidden":1e99}`, `[]`, `null`} {
		refused("fit", table, "--out", out, "--model", "energy", "--model-options", options)
		refused("fit", table, "--out", out, "--objective", "sliced", "--objective-options", options)
		refused("fit", table, "--out", out, "--method", "var", "--imputer-options", options)
	}
	const gaussian = `{"version":2,"model":"gaussian","names":["a","b"],"mean":[0,0],"precision":[[1,0],[0,1]]`
	for _, text := range []string{"", "{", "[]", "null", "1", "'", `{"version":"2"}`, `{"version":2}`, `{"version":2e99}`, `{"version":2,"model":3}`, `{"version":2,"model":"gaussian","names":["a","b"]}`,
		strings.Replace(gaussian, "[0,0]", `"x"`, 1) + "}", strings.Replace(gaussian, "[0,0]", "[0,1e999]", 1) + "}", strings.Replace(gaussian, "[0,1]", "[0]", 1) + "}", strings.Replace(gaussian, "[0,1]", `["0",1]`, 1) + "}",
		gaussian + `,"domain":3}`, gaussian + `,"domain":{"lower":{"a":"x"}}}`, gaussian + `,"noise":{"kind":7}}`, gaussian + `,"standardised_by":[]}`, gaussian + `,"imputer":{"kind":"normal","options":{"hidden":"x"}}}`,
		`{"version":2,"model":"energy","options":{"hidden":"x"},"names":["a","b"]}`, `{"version":2,"model":"energy","options":{"hidden":[2]},"names":["a","b"],"parameters":{"weight 1":{"rows":2,"cols":2,"float64":"@@"}}}`,
		`{"lower":3}`, `{"lower":{"a":[]}}`, `{"halfspace":3}`, `{"halfspace":{"a":{"a":"1"},"b":1}}`, `{"lower":{"a":1e999}}`, `{"lower":{"a":01}}`, "{'lower':3}",
		`{"logistic":3}`, `{"logistic":{"a":{"intercept":"x"}}}`, `{"censored":{"a":{"above":"x"}}}`, "\x1f\x8b\x08\x00garbage", "\xff\xfe", "1,2\n", "a,b\n1,x\nx,1\n", "a;b\n1,\"2"} {
		file := write("broken", text)
		refused("sample", file, "--out", out)
		refused("impute", file, table, "--out", out)
		refused("network", table, "--domain", file, "--out", out)
		refused("network", table, "--missingness", file, "--out", out)
		refused("network", table, "--truth", file, "--out", out)
		refused("network", file, "--out", out)
		refused("network", write("broken.csv.gz", text), "--out", out)
		refused("network", table, "--truth", write("broken.csv.gz", text), "--out", out)
		require.NoError(t, os.MkdirAll(out, 0o755))
		write("out/state.bin", text)
		refused("network", table, "--out", out, "--resume")
	}
	for _, args := range [][]string{{"network", dir}, {"sample", dir}, {"network", table, "--domain", dir}, {"network", table, "--truth", dir}, {"network", at("no/table")}, {"fit", table, "--out", "/proc/none/m.json"}} {
		refused(args...)
	}
	t.Setenv("MISSINGSCORE_MEMORY", "x")
	refused("network", table, "--out", out)
}

// The message of a table no two of whose columns are seen together names them.
func TestPairsNeverTogether(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	for text, want := range map[string]string{
		"a,b\n1,\n,2\n3,\n,5\n":                                     "t.csv: a and b are never observed in the same row, and no other pair is: the table says nothing of a network",
		"a,b,c\n1,,\n,2,\n3,,\n,5,\n,,1\n,,2\n":                     "t.csv: a and b; a and c; b and c are never observed in the same row, and no other pair is",
		"a,b\n1,1\n-1,1\n1,-1\n-1,-1\n":                             "no two columns vary together at all: the network is empty at every λ",
		"a,b,c,d\n1,,,\n2,,,\n,1,,\n,2,,\n,,1,\n,,2,\n,,,1\n,,,2\n": "a and b; a and c; a and d; b and c; 2 more pairs of columns are never observed",
	} {
		require.NoError(t, os.WriteFile(table, []byte(text), 0o600))
		for _, method := range []string{"auto", "em-exact", "var"} {
			if method == "var" && strings.HasPrefix(want, "no two") {
				continue // it is for tables with gaps
			}
			var stdout, stderr bytes.Buffer
			require.Equal(t, exitError, run([]string{"network", table, "--method", method, "--out", filepath.Join(t.TempDir(), "o")}, &stdout, &stderr), "%s: %s", method, stderr.String())
			require.Contains(t, stderr.String(), want)
			require.NotContains(t, stderr.String(), "--lambda-min")
		}
	}
}

// A file's name may be any bytes; the report is a text in UTF-8 all the same.
func TestTableNamesThatAreNoText(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "t\xff\xfe.csv")
	if err := os.WriteFile(table, []byte(fmt.Sprint("a,b\n", strings.Repeat("1,2\n2,1\n3,3\n0,5\n", 5))), 0o600); err != nil {
		t.Skip("the file system takes no such name")
	}
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{"network", table, "--out", dir}, &stdout, &stderr), stderr.String())
	require.True(t, utf8.Valid(stderr.Bytes()))
	for _, name := range []string{"report.html", "model.json", "network.svg"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.True(t, utf8.Valid(text), name)
	}
}
