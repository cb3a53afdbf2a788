package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"missingscore/internal/printable"
	"missingscore/internal/stream"
)

// Nothing that a name holds reaches the terminal but letters; in JSON names stay what they are.
func TestNamesDoNotSteerTheTerminal(t *testing.T) {
	dir := t.TempDir()
	name := "x\u202ecsv.exe"
	table := filepath.Join(dir, "t\u202e.csv")
	require.NoError(t, os.WriteFile(table, []byte(name+",b,c\u2066\n"+strings.Repeat("1,2,3\n2,1,0\n3,3,1\n0,5,2\n", 10)), 0o600))
	var stdout, stderr bytes.Buffer
	for _, args := range [][]string{
		{"network", table, "--out", filepath.Join(dir, "o\u202e")},
		{"fit", table, "--method", "iw", "--epochs", "2", "--out", filepath.Join(dir, "o\u202e.json")},
		{"network", table, "--columns", "no\u202e"},
		{"network", table, "--lower", "no\x1b[2J=1"},
		{"network", filepath.Join(dir, "\x1b]0;title\x07")},
		{"x\u202e"},
	} {
		run(args, &stdout, &stderr)
	}
	for _, r := range stdout.String() + stderr.String() {
		require.True(t, r == '\n' || r == '\t' || unicode.IsPrint(r), "%U", r)
		require.False(t, unicode.Is(unicode.Bidi_Control, r), "%U", r)
	}
	require.Contains(t, stdout.String(), `x\u202ecsv.exe`)
	stdout.Reset()
	out := filepath.Join(dir, "o\u202e")
	require.Contains(t, []int{exitDone, exitUnconverged}, run([]string{"fit", table, "--method", "full", "--json", "--out", out + ".json"}, &stdout, &stderr))
	var said struct{ Out string }
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &said))
	require.Equal(t, out+".json", said.Out)
}

// No file of a result holds a character that steers or turns the direction, in whatever name it came.
func TestNamesDoNotSteerReaders(t *testing.T) {
	dir := t.TempDir()
	rng := stream.New(4)
	var rows strings.Builder
	rows.WriteString("x\u202ecsv.exe,b,c\u2066,sex\n")
	for i := range 80 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&rows, "%.3f,%.3f,%.3f,m\u202e%d\n", a, a+b, b+rng.NormFloat64(), i%2)
	}
	table, labels, groups := filepath.Join(dir, "t\x1b[2J\u202e.csv"), filepath.Join(dir, "labels.csv"), filepath.Join(dir, "groups.csv")
	require.NoError(t, os.WriteFile(table, []byte(rows.String()), 0o600))
	require.NoError(t, os.WriteFile(labels, []byte("name,label\nb,\"\x1b[31mred\u202e\"\n"), 0o600))
	require.NoError(t, os.WriteFile(groups, []byte("name,group\nb,g\u202e\nx\u202ecsv.exe,h\x1b\n"), 0o600))
	var stdout, stderr bytes.Buffer
	network, compared := filepath.Join(dir, "network"), filepath.Join(dir, "compared")
	require.Equal(t, exitDone, run([]string{"network", table, "--exclude", "sex", "--labels", labels, "--groups", groups, "--inference", "robust", "--out", network}, &stdout, &stderr), stderr.String())
	require.Contains(t, []int{exitDone, exitUnconverged}, run([]string{"compare", table, "--by", "sex", "--permutations", "19", "--out", compared}, &stdout, &stderr), stderr.String())
	files := 0
	for _, out := range []string{network, compared} {
		require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) == ".png" || strings.HasPrefix(d.Name(), ".") {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, printable.Text(string(text)), string(text), path)
			return nil
		}))
	}
	require.Greater(t, files, 20)
	for name, want := range map[string]string{"pairs.csv": `x\u202ecsv.exe,b,`, "network.dot": `"x\\u202ecsv.exe"`, "network.graphml": `x\u202ecsv.exe</data>`, "report.html": `>x\u202ecsv.exe<`, "network.svg": `\u001b[31mred\u202e`} {
		text, err := os.ReadFile(filepath.Join(network, name))
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A full disk under stderr ends no run; one under stdout is an error, for the answer is lost.
func TestFullStandardError(t *testing.T) {
	t.Chdir("..")
	var stdout bytes.Buffer
	args := []string{"network", "examples/airquality.csv", "--columns", "Ozone,Wind", "--out", t.TempDir()}
	require.Equal(t, exitDone, run(args, &stdout, full{}))
	require.Contains(t, stdout.String(), "edges")
	require.Equal(t, exitError, run(args, full{}, io.Discard))
}

// Nothing is coloured, so there is nothing for NO_COLOR to turn off.
func TestNothingIsColoured(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"network", "--help"}, {"../examples/airquality.csv"}, {"check", "../examples/airquality.csv"}, {"netwrok"}} {
		var stdout, stderr bytes.Buffer
		run(args, &stdout, &stderr)
		require.NotContains(t, stdout.String()+stderr.String(), "\x1b", "%q", args)
	}
}
