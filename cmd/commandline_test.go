package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionText(t *testing.T) {
	require.Regexp(t, `^missingscore \(devel\)\ngo\S+ \w+/\w+\n$`, versionText(nil))
	b := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "false"}}}
	require.Regexp(t, `^missingscore v1\.2\.3 \(revision abc, 2026-01-02T03:04:05Z\)\n`, versionText(b))
	b.Settings[2].Value = "true"
	require.Contains(t, versionText(b), "03:04:05Z, with changes that are not committed)")
}

// The place is what the message says it is, whatever characters names have.
func TestErrorJSON(t *testing.T) {
	for message, want := range map[string]errorJSON{
		"cannot":                                                 {},
		"--out x is a file":                                      {},
		"t.csv: cannot be read: it ends":                         {},
		"t.csv:3: two columns are named":                         {File: "t.csv", Line: 3},
		`t.csv:1: no column "Wnd"; there are: Wind`:              {File: "t.csv", Line: 1},
		`C:\x y\t.csv:14: column "a \"b\"": "1,3" is not`:        {File: `C:\x y\t.csv`, Line: 14, Column: `a "b"`, Cell: "1,3"},
		`t.csv:2: column "a": -1 lies outside the domain, above`: {File: "t.csv", Line: 2, Column: "a", Cell: "-1"},
		`--truth: p.csv:2: column "a": "x" is not a number`:      {File: "p.csv", Line: 2, Column: "a", Cell: "x"},
		`t.csv:2: column "a": it has no value`:                   {File: "t.csv", Line: 2, Column: "a"},
	} {
		want.Error, want.Exit = message, exitError
		got := newErrorJSON(message, exitError)
		require.Equal(t, want, got)
	}
}

// With --json an error is one object on standard output, and the result is the only one where
// there is a result.
func TestJSONIsOneObject(t *testing.T) {
	for _, args := range [][]string{{"network", "nothere.csv", "--json"}, {"nothere.csv", "--json"}, {"--json=true", "fly"}, {"fit", "--json"}} {
		var stdout, stderr bytes.Buffer
		code := run(args, &stdout, &stderr)
		var got errorJSON
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &got), "%q: %s", args, stdout.String())
		require.Equal(t, code, got.Exit)
		require.Contains(t, stderr.String(), got.Error)
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitUsage, run([]string{"network", "--", "--json", "x"}, &stdout, &stderr))
	require.Empty(t, stdout.String(), "behind -- there are no flags")
}

func TestDescribedColumn(t *testing.T) {
	c := newDescribedColumn("x", 6, []float64{2, 4, 4, 6}) // deviations −2, 0, 0, 2: 8 of 3
	require.Equal(t, describedColumn{"x", "few whole numbers", 3, 2, 4, math.Sqrt(8. / 3), 2, 6}, c)
	require.Equal(t, "two values", newDescribedColumn("x", 3, []float64{0.5, 1.5, 0.5}).Kind)
	require.Equal(t, "numbers", newDescribedColumn("x", 3, []float64{0.5, 1, 2}).Kind)
	many := make([]float64, 11)
	for i := range many {
		many[i] = float64(i)
	}
	require.Equal(t, "whole numbers", newDescribedColumn("x", 11, many).Kind)
}

// Scripts of completions are what their shell reads, where it is there.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var stdout, stderr bytes.Buffer
		require.Zero(t, run([]string{"completion", shell}, &stdout, &stderr), stderr.String())
		program, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		check := exec.CommandContext(t.Context(), program, "-n")
		check.Stdin = &stdout
		out, err := check.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

// Manual pages have every flag, and nothing that man would take for a request of its own.
func TestManualPages(t *testing.T) {
	requests := regexp.MustCompile(`^\.(TH|SH|TP|B|BR|nf|fi|ad)\b`)
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		var page bytes.Buffer
		require.NoError(t, writeManual(&page, c, "missingscore v1"))
		for line := range strings.Lines(page.String()) {
			if strings.HasPrefix(line, ".") {
				require.Regexp(t, requests, line, c.Name())
			}
			require.False(t, strings.HasPrefix(line, "'"), "%s: %s", c.Name(), line)
		}
		if c.Flags().Lookup("seed") != nil {
			require.Contains(t, page.String(), ".B \\-\\-seed=UINT64\n")
		}
		if _, err := exec.LookPath("groff"); err == nil {
			format := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-K", "utf8")
			format.Stdin = &page
			var warnings bytes.Buffer
			format.Stderr = &warnings
			require.NoError(t, format.Run(), warnings.String())
			require.NotRegexp(t, `warning|error`, warnings.String(), c.Name())
		}
	}
	require.Equal(t, "a\\-b\n\\&.x\n\\&'y\n\\e", roff("a-b\n.x\n'y\n\\"))
}

// Nothing is coloured, so there is nothing for NO_COLOR to turn off.
func TestNothingIsColoured(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"network", "--help"}, {"../examples/airquality.csv"}, {"check", "../examples/airquality.csv"}, {"netwrok"}} {
		var stdout, stderr bytes.Buffer
		run(args, &stdout, &stderr)
		require.NotContains(t, stdout.String()+stderr.String(), "\x1b", "%q", args)
	}
}

// Every ending has its code, and its message goes to people and to --json alike.
func TestEnding(t *testing.T) {
	for _, c := range []struct {
		err             error
		code            int
		message, advice string
	}{
		{nil, exitDone, "", ""},
		{errors.New("no"), exitError, "no", ""},
		{usageError{errors.New("no")}, exitUsage, "no", " (see missingscore --help)"},
		{unconverged{"NOT converged"}, exitUnconverged, "NOT converged", ""},
		{interrupted("nothing is written"), exitInterrupted, "interrupted; nothing is written", ""},
		{context.Canceled, exitInterrupted, "interrupted", ""},
	} {
		code, message, advice := ending(c.err)
		require.Equal(t, c.code, code)
		require.Equal(t, c.message, message)
		require.Equal(t, c.advice, advice)
	}
}

// What was found wrong with a table is mended by the command to run next: the worked name of a
// column that is far from normal gets a function.
func TestNextMendsSkewedColumns(t *testing.T) {
	var table strings.Builder
	table.WriteString("zinc,shifted level,c\n")
	for i := range 200 {
		z := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/200-1) // quantiles of the normal distribution
		fmt.Fprintf(&table, "%g,%g,%g\n", math.Exp(2*z), math.Exp(2*z)-1, math.Sin(float64(7*i)))
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte(table.String()), 0o600))
	var stdout, stderr bytes.Buffer
	require.Zero(t, run([]string{path}, &stdout, &stderr), stderr.String())
	require.Contains(t, stdout.String(), "--transform 'zinc=log,shifted level=npn' --out t-network\n")
}
