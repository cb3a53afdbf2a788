package ordinal

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/gaps"
	"missingscore/data"
	"missingscore/data/network"
)

func smoke(t *testing.T) (settings, json.RawMessage) {
	t.Helper()
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	return s, text
}

// By hand: of 45 pairs two are edges, of ½ and −½; found are 0.4 and, in place of the other, a
// false one of 0.3. The error is √((0.01 + 0.25 + 0.09)/45), the bias (−0.1 − 0.5)/2, F1 ½.
func TestJudging(t *testing.T) {
	truth, found := make([]float64, 45), make([]float64, 45)
	truth[0], truth[7], found[0], found[9] = 0.5, -0.5, 0.4, 0.3
	got := judge(truth, found, 1.25)
	require.Equal(t, []string{strconv.FormatFloat(math.Sqrt(0.35/45), 'f', 5, 64), "-0.30000", "0.50000", "2", "1.25"}, got)
	all := make([]float64, 45)
	for i := range all {
		all[i] = 0.1
	}
	require.Equal(t, []string{"0.00000", "0.00000", "-", "45", "0"}, judge(all, all, 0))
}

// Of a correlation of 0.6 the partial correlation of two columns is 0.6.
func TestPartials(t *testing.T) {
	p, err := inverse(mat.NewSymDense(2, []float64{1, 0.6, 0.6, 1}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.6}, network.PartialCorrelations(p), 1e-15)
	require.InDelta(t, 0.8*0.7*betweenFactors, factors().At(0, 6), 1e-15)
	require.InDelta(t, 0.8*0.7, factors().At(0, 1), 1e-15)
}

// Answers have the shares that thresholds make, and gaps the share that the law says.
func TestAnswers(t *testing.T) {
	s, _ := smoke(t)
	s.Thresholds = []float64{0, 1.2815515655446004} // quantile 0.9
	_, table, err := s.answers("sparse", 20000, 1)
	require.NoError(t, err)
	count := map[float64]float64{}
	for _, v := range table.Values {
		count[v] += 1 / float64(len(table.Values))
	}
	require.InDelta(t, 0.5, count[1], 0.02) // columns go together: 5 standard errors of one are 0.018
	require.InDelta(t, 0.4, count[2], 0.02)
	require.InDelta(t, 0.1, count[3], 0.012)
	hidden, err := gaps.Law{Missing: 0.3333, Slope: 2}.Hide(table, 1)
	require.NoError(t, err)
	require.InDelta(t, 0.2, float64(hidden.Missing())/float64(len(hidden.Values)), 0.01)
}

// Of many rows every method of ours on categories comes near the truth.
func TestMethodsComeNear(t *testing.T) {
	s, _ := smoke(t)
	for _, m := range s.Methods {
		if !m.Ordinal || m.Method == "em-latent" { // whose draws take long
			continue
		}
		values, err := s.run(t.Context(), "sparse", 4000, gaps.Law{Name: "MCAR", Missing: 0.1}, m, 1)
		require.NoError(t, err)
		off, err := strconv.ParseFloat(values[0], 64)
		require.NoError(t, err)
		require.Less(t, off, 0.05, m.Name)
	}
}

// stands in for R: it says that the packages are there, and writes three partial correlations.
const rscript = `#!/bin/sh
[ "$1" = -e ] && { echo lavaan 0; exit 0; }
head -1 "$1" | grep -q 'ordered categories' || exit 1
printf '0.1,0,-0.2\n' > "$3"
`

func TestRival(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Rscript"), []byte(rscript), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	table, err := data.NewTable([]string{"a", "b", "c"}, []float64{1, 2, 3, 3, 1, 2}, nil)
	require.NoError(t, err)
	found, err := rival(t.Context(), table)
	require.NoError(t, err)
	require.Equal(t, []float64{0.1, 0, -0.2}, found)
	_, err = readRival([][]float64{{1, 2}}, 3)
	require.EqualError(t, err, "lavaan.R wrote no line of 3 partial correlations")
}

func TestSettings(t *testing.T) {
	_, text := smoke(t)
	for old, want := range map[string][2]string{
		`"sparse"`:       {`"spars"`, `there is no truth "spars"`},
		`"em-latent"`:    {`"em-lat"`, "em-lat"},
		`"missing":0.2`:  {`"missing":1.2`, "a share from 0 to less than 1"},
		"[60]":           {"[2]", "rows"},
		`"thresholds":[`: {`"thresholds":[3,`, "they must increase"},
	} {
		var tight strings.Builder
		compact := json.NewEncoder(&tight)
		require.NoError(t, compact.Encode(text))
		changed := strings.Replace(strings.ReplaceAll(tight.String(), " ", ""), old, want[0], 1)
		require.NotEqual(t, tight.String(), changed, old)
		_, err := decode([]byte(changed))
		require.ErrorContains(t, err, want[1])
	}
}
