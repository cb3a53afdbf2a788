package cmd

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"λ — ü\t𝒳\n":             "λ — ü\t𝒳\n",
		"a\u202eb\u2066c\u200fd": `a\u202eb\u2066c\u200fd`,
		"\x1b[31mred\x07\r":      `\u001b[31mred\u0007\u000d`,
		"\u0085\u2028\ufeff\x7f": `\u0085\u2028\ufeff\u007f`,
		"cut\xffoff\x9b":         "cut\ufffdoff\ufffd",
		"":                       "",
	} {
		var b bytes.Buffer
		n, err := printable{&b}.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, b.String())
	}
}

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
