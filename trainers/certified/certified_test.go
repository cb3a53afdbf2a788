package certified

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateDigits = flag.Bool("update-digits", false, "write digits.json and docs/reference/digits.md from this run")

const (
	digitsPage = "../../docs/reference/digits.md"
	digitsMark = "<!-- written by go test ./trainers/certified -update-digits -->"
)

// Every loss comes to its certified optimum, to the digits that docs/reference/digits.md
// promises.
func TestCertifiedOptima(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	require.Greater(t, len(cases), 11)
	promised := map[string]int{}
	var lines []string
	fewest := 15.0
	for _, c := range cases {
		least, r, err := c.Digits(t.Context())
		require.NoError(t, err)
		rounded := c.Table == "near-singular" && c.Method == "full" // its gradient is rounding, of 3e-6, which the verdict does not take for 0
		require.Equal(t, !rounded, r.Converged, "%s: %s", c.Name(), r.Verdict)
		t.Logf("%s | %.1f", c.Name(), least)
		fewest = min(fewest, least)
		if *updateDigits {
			c.Promised = int(least)
		}
		require.Positive(t, c.Promised, "%s: go test ./trainers/certified -update-digits", c.Name())
		require.GreaterOrEqual(t, least, float64(c.Promised)-0.3, c.Name()) // another library's rounding
		promised[c.Name()] = c.Promised
		lines = append(lines, fmt.Sprintf("| %s | %d |", c.Name(), c.Promised))
	}
	t.Logf(`figures {"optima": %d, "least digits": %.1f}`, len(cases), fewest)
	page, err := os.ReadFile(digitsPage)
	require.NoError(t, err)
	before, _, ok := strings.Cut(string(page), digitsMark)
	require.True(t, ok, "%s has no line %q", digitsPage, digitsMark)
	want := before + digitsMark + "\n\n| table | model | method | digits |\n| --- | --- | --- | --- |\n" + strings.Join(lines, "\n") + "\n"
	if *updateDigits {
		text, err := json.MarshalIndent(promised, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("digits.json", append(text, '\n'), 0o644))
		require.NoError(t, os.WriteFile(digitsPage, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(page))
}

func TestAgreeing(t *testing.T) {
	require.InDelta(t, 3, agreeing(2, 2.002), 1e-9)
	require.InDelta(t, 5, agreeing(0, 1e-5), 1e-9)
	require.Equal(t, 15.0, agreeing(7, 7))
	require.Negative(t, agreeing(1, -30))
}
