package cmd

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

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
