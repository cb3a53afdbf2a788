package quartic

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/training"
)

// planted are results of Dim, of traces, and of Penalised, of single numbers, whose errors are
// e^−lead: in Dim at every epoch.
func planted(lead func(experiment, method string, columns int) float64) map[string]cells.Results {
	out := map[string]cells.Results{}
	add := func(experiment, method string, columns int, times int) {
		r := out[experiment]
		r.Columns = []string{"columns", "replicate", "method", "fisher_divergence", "quartic_error"}
		for replicate := 1; replicate <= 8; replicate++ {
			noise := 0.002 * math.Sin(float64(7*replicate+columns*len(method)))
			value := strings.Repeat(fmt.Sprint(math.Exp(noise-lead(experiment, strings.TrimSuffix(strings.TrimSuffix(method, "-unit"), ", held out"), columns)))+" ", times)
			r.Lines = append(r.Lines, []string{fmt.Sprint(columns), fmt.Sprint(replicate), method, value, value})
		}
		out[experiment] = r
	}
	for _, m := range []string{"var", "iw", "em", "zeroed", "iw-unit", "em-unit"} {
		for _, d := range []int{5, 10, 20} {
			add(Dim.Name, m, d, len(training.Epochs(50)))
		}
	}
	for _, m := range []string{"var", "iw", "em", "zeroed"} {
		for _, d := range []int{10, 20} {
			add(Penalised.Name, m+", "+heldOut, d, 1)
		}
	}
	return out
}

// A lead of Marg-Var that grows with the columns, others alike: all sentences hold. Its opposite at
// held-out stopping makes those on Marg-Var depend on the reading, and so it does the others where
// EM is apart there.
func TestSentencesOnColumns(t *testing.T) {
	grows := func(_, method string, columns int) float64 {
		if method == "var" {
			return 0.2 * math.Log2(float64(columns))
		}
		return 0
	}
	otherwise := func(experiment, method string, columns int) float64 {
		switch {
		case experiment == Dim.Name:
			return grows(experiment, method, columns)
		case method == "em":
			return 0.5
		case method == "var":
			return -0.2 * math.Log2(float64(columns))
		}
		return 0
	}
	for _, c := range Across {
		require.Equal(t, []string{Dim.Name}, c.Of)
		require.Equal(t, []string{Penalised.Name}, c.Also)
		readings := map[bool]int{true: 28, false: 14}[c.ID == "ica-dim-gap-widens"]
		v, err := c.Test(planted(grows))
		require.NoError(t, err)
		require.Equal(t, claims.Holds, v.Outcome, "%s: %s", c.ID, v.Measured())
		require.Len(t, v.Readings, readings)
		of := planted(otherwise)
		v, err = c.Test(of)
		require.NoError(t, err)
		require.Equal(t, claims.Depends, v.Outcome, "%s: %s", c.ID, v.Measured())
		for _, r := range v.Readings {
			stopped := strings.Contains(r.Words, "stopped by rows held out")
			require.Equal(t, stopped, r.Outcome == claims.DoesNotHold, "%s: %s", c.ID, r.Words)
		}
		delete(of, Penalised.Name)
		v, err = c.Test(of)
		require.NoError(t, err)
		require.Equal(t, claims.Holds, v.Outcome)
		require.Len(t, v.Readings, readings*12/14)
		require.False(t, slices.ContainsFunc(v.Readings, func(r claims.Read) bool { return strings.Contains(r.Words, "held out") }))
	}
}
