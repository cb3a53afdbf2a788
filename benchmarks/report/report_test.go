package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/markdown"
)

// counted squares numbers.
func counted() harness.Experiment {
	return harness.Experiment{
		Name: "counted", Settings: []byte(`{"full": {"replicates": 2, "xs": [1, 2, 3]}, "smoke": {"replicates": 1, "xs": [1]}}`),
		Grid: func(text json.RawMessage, replicates int) (cells.Grid, error) {
			var s struct {
				Replicates int   `json:"replicates"`
				Xs         []int `json:"xs"`
			}
			if err := harness.Decode(text, &s); err != nil {
				return cells.Grid{}, err
			}
			g := cells.Grid{Key: []string{"x", "replicate", "method"}, Value: []string{"square"}}
			for r := 1; r <= replicates; r++ {
				for _, x := range s.Xs {
					g.Cells = append(g.Cells, cells.Cell{Key: []string{strconv.Itoa(x), strconv.Itoa(r), "iw"},
						Run: func(context.Context) ([]string, error) { return []string{strconv.Itoa(x * x)}, nil }})
				}
			}
			return g, nil
		},
		Figures: func(json.RawMessage, cells.Results) ([]figures.Figure, error) {
			return []figures.Figure{{Name: "empty", Caption: "Nothing & more", Plot: plot.New(), Width: 5, Height: 5}}, nil
		},
		Tables: func(_ json.RawMessage, r cells.Results) ([]markdown.Table, error) {
			return []markdown.Table{{Name: "squares", Header: []string{"x"}, Lines: [][]string{{"1 < 2"}}}}, nil
		},
		Claims: []claims.Claim{{ID: "c", Quote: "It <holds>.", Test: claims.Comparable(claims.Measure{Column: "square"}, "iw", "em")}},
	}
}

func TestReport(t *testing.T) {
	experiments := []harness.Experiment{counted()}
	out := t.TempDir()
	_, err := harness.Run(t.Context(), experiments, harness.Options{Out: out})
	require.NoError(t, err)
	var pages []string
	for range 2 {
		require.NoError(t, Write(out, experiments, nil))
		page, err := os.ReadFile(filepath.Join(out, "report.html"))
		require.NoError(t, err)
		pages = append(pages, string(page))
	}
	require.Equal(t, pages[0], pages[1])
	for _, part := range []string{"It &lt;holds&gt;.", "undecided", "Nothing &amp; more", "<svg", "[1,2,3]", "<td>1 &lt; 2</td>", "6 of 6 cells, replicates 1 to 2"} {
		require.Contains(t, pages[0], part)
	}
	require.FileExists(t, filepath.Join(out, "counted", "empty.png"))
	table, err := os.ReadFile(filepath.Join(out, "claims.md"))
	require.NoError(t, err)
	require.Contains(t, string(table), "| `c` | It <holds>. | **undecided** |")
}

func TestAFigureThatFailsLosesNothingElse(t *testing.T) {
	bad := counted()
	bad.Figures = func(json.RawMessage, cells.Results) ([]figures.Figure, error) {
		return nil, errors.New("no ink")
	}
	experiments := []harness.Experiment{bad}
	out := t.TempDir()
	_, err := harness.Run(t.Context(), experiments, harness.Options{Out: out})
	require.NoError(t, err)
	require.EqualError(t, Write(out, experiments, nil), "counted: no ink")
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "no ink")
	require.Contains(t, string(page), "It &lt;holds&gt;.")
}

func TestReportAcrossExperiments(t *testing.T) {
	one, other := counted(), counted()
	other.Name, other.Claims = "other", nil
	experiments := []harness.Experiment{other, one}
	across := []claims.Across{{ID: "both", Quote: "More than before.", Joint: claims.Joint{Of: []string{"counted", "other"},
		Test: func(of map[string]cells.Results) (claims.Verdict, error) {
			return claims.Verdict{Outcome: claims.Holds, Replicates: 2, Evidence: fmt.Sprintf("%d and %d cells.", len(of["counted"].Lines), len(of["other"].Lines))}, nil
		}}}, {ID: "further", Quote: "More or less.", Joint: claims.Joint{Of: []string{"counted"}, Also: []string{"other"},
		Test: func(of map[string]cells.Results) (claims.Verdict, error) {
			return claims.Verdict{Outcome: claims.Holds, Evidence: fmt.Sprintf("By %d.", len(of))}, nil
		}}}}
	report := func(out string, name string) string {
		require.NoError(t, Write(out, experiments, across))
		text, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		return string(text)
	}
	run := func(out string, e harness.Experiment, o harness.Options) {
		o.Out = out
		_, err := harness.Run(t.Context(), []harness.Experiment{e}, o)
		require.NoError(t, err)
	}

	out := t.TempDir()
	require.NotContains(t, report(out, "claims.md"), "both", "it is about nothing that is here")
	require.NotContains(t, report(out, "claims.md"), "further")
	run(out, one, harness.Options{})
	require.Contains(t, report(out, "claims.md"), "| `both` | More than before. | **undecided** | the same |  |  | 0 | Not run: other. |\n")
	require.Contains(t, report(out, "report.html"), `<a href="#counted">counted</a>, other</span>`)
	require.Contains(t, report(out, "claims.md"), "| By 1. |", "what it also takes has not been run")
	stopped, stop := context.WithCancel(t.Context())
	stop() // before its first cell
	_, err := harness.Run(stopped, []harness.Experiment{other}, harness.Options{Out: out})
	require.ErrorIs(t, err, context.Canceled)
	require.Contains(t, report(out, "claims.md"), "Not run: other. |\n")
	run(out, other, harness.Options{})
	table := report(out, "claims.md")
	require.Contains(t, table, "| **holds** |")
	require.Contains(t, table, "| 6 and 6 cells. |")
	require.Contains(t, table, "| By 2. |")
	require.Greater(t, strings.Index(table, "`both`"), strings.Index(table, "`c`"), "after those of the experiments")
	require.Contains(t, report(out, "claims.csv"), "\ncounted other,both,")
	require.Contains(t, report(out, "report.html"), `<a href="#counted">counted</a>, <a href="#other">other</a></span>`)

	out = t.TempDir()
	run(out, one, harness.Options{})
	run(out, other, harness.Options{Smoke: true})
	require.Contains(t, report(out, "claims.md"), "| **undecided** | the same |  |  | 0 | Not run in one size: full; smoke. |")
	require.Contains(t, report(out, "claims.md"), "| By 1. |")
}
