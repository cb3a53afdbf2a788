package mcmc

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func records(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return lines
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return v
}

// R-hat: R's posterior 1.4.0, rhat_basic with split = TRUE. The effective sizes of posterior
// (ess_basic) and coda 0.19-4 use other estimates of the autocorrelations: they agree to a sixth
// (testdata/chains.R; R 4.2.2).
func TestReferenceDiagnostics(t *testing.T) {
	chains := map[string][][]float64{}
	for _, line := range records(t, "chains.csv") {
		var trace []float64
		for _, cell := range line[2:] {
			trace = append(trace, number(t, cell))
		}
		chains[line[0]] = append(chains[line[0]], trace)
	}
	sets := records(t, "reference.csv")[1:]
	off, worst := 0.0, 0.0
	for _, line := range sets {
		rhat, size := RHat(chains[line[0]])
		off = math.Max(off, math.Abs(rhat-number(t, line[1])))
		t.Logf("%s: R-hat %.6f, size %.1f; posterior %s, coda %s", line[0], rhat, size, line[2], line[4])
		if line[0] == "negative" {
			require.Equal(t, 400., size)
			require.Greater(t, number(t, line[2]), 400.)
			continue
		}
		worst = math.Max(worst, math.Abs(size/number(t, line[2])-1))
		if line[0] == "independent" || line[0] == "correlated" { // coda's chains know nothing of each other's means
			require.InEpsilon(t, number(t, line[4]), size, 1./6, line[0])
		}
	}
	require.Less(t, off, 1e-12)
	require.Less(t, worst, 1./6)
	t.Logf(`figures {"sets": %d, "R-hat": %.2g, "effective size": %.3f}`, len(sets), off, worst)
}
