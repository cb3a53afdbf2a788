package imputation

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

func TestSettingsThatAreRefused(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	for _, c := range [][3]string{
		{`"kind":"star"`, `"kind":"comet"`, `settings: table "star": there is no distribution "comet"`},
		{`"by":"likelihood"`, `"by":"luck"`, `settings: method "em": there is no way "luck"`},
		{`"tables":["moons"]`, `"tables":["suns"]`, `settings: method "energy": "suns" is none of the tables`},
		{`"draws":5`, `"draws":1`, "settings: draws: 1: at least 2 is needed"},
		{`"missing":0.4`, `"missing":1`, `settings: law "MAR 40 %": missing 1`},
		{`"rows":60`, `"rows":1`, "two of each are needed at least"},
	} {
		bad := strings.Replace(string(text), c[0], c[1], 1)
		require.NotEqual(t, string(text), bad, c[0])
		_, err := grid([]byte(bad), 1)
		require.ErrorContains(t, err, c[2])
	}
}

// truth are rows of a normal distribution with gaps, and their task.
func truth(t *testing.T, n int) (simulate.Gaussian, *data.Table, task) {
	g, err := simulate.Star(4, stream.New(3, stream.Simulate))
	require.NoError(t, err)
	g.Mean = []float64{1, -2, 0, 5}
	whole, err := g.Sample(n, stream.New(3, stream.Simulate, 1))
	require.NoError(t, err)
	hidden, err := gaps.Law{Missing: 0.3}.Hide(whole, 1)
	require.NoError(t, err)
	return g, whole, task{table: hidden, draws: 20, seed: 1}
}

// Of many rows EM's point is the conditional mean under the truth, up to the error of its
// parameters, the draws' range holds 19 of 21 cells, and the score is that of the truth's draws.
func TestEMIsCalibrated(t *testing.T) {
	g, whole, job := truth(t, 4000)
	f, err := likelihood(t.Context(), method{}, job)
	require.NoError(t, err)
	want, err := conditionalMeans(job.table, g.Mean, g.Precision)
	require.NoError(t, err)
	require.Len(t, f.point, job.table.Missing())
	gap := 0.0
	for i, x := range want {
		gap += math.Pow(x-f.point[i], 2) / float64(len(want))
	}
	require.Less(t, math.Sqrt(gap), 0.1)
	m := measure(whole, job.table, f)
	share := 19. / 21
	require.InDelta(t, share, m.coverage, 5*math.Sqrt(share*(1-share)/float64(len(want)))+0.005) // rows' cells depend on each other; parameters have errors
	require.Less(t, m.rmse, 1.)
	require.Less(t, m.energy, m.rmse)
}

// By hand: N(0, Σ), Σ = (1 0.5; 0.5 1): E(x₂ | x₁) = x₁/2.
func TestConditionalMeans(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b"}, N: 2, D: 2, Values: []float64{3, math.NaN(), math.NaN(), math.NaN()}, Observed: []bool{true, false, false, false}}
	got, err := conditionalMeans(table, []float64{0, 0}, mat.NewSymDense(2, []float64{4. / 3, -2. / 3, -2. / 3, 4. / 3}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1.5, 0, 0}, got, 1e-12)
}

// Fits of this program come near EM's likelihood on a Gaussian table.
func TestOursAreNearEM(t *testing.T) {
	_, whole, job := truth(t, 1000)
	em, err := likelihood(t.Context(), method{}, job)
	require.NoError(t, err)
	for _, m := range []method{{By: "fit", Model: "gaussian"}, {By: "network"}} {
		m.Fit.Method = "em-exact"
		f, err := ways[m.By].fill(t.Context(), m, job)
		require.NoError(t, err)
		require.InEpsilon(t, measure(whole, job.table, em).energy, measure(whole, job.table, f).energy, 0.03)
	}
}

// stands in for R and Python: it leaves a cell empty where the option is "fails".
const interpreter = `#!/bin/sh
case "$1" in -e|-c) echo 'one 1.0'; exit 0;; esac
if [ "$4" = fails ]; then printf '1,2\nNA,NA\n' > "$3"; else printf '1,2\n3,4\n' > "$3"; fi
[ "$5 $6" = '2 7' ]
`

func TestRivals(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Rscript", "python3"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(interpreter), 0o700))
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 0, 3, 5, 0, 2}, []bool{true, false, true, true, false, true})
	require.NoError(t, err)
	job := task{table: table, draws: 2, seed: 7}
	for _, by := range []string{"mice", "sklearn"} {
		f, _, version, err := method{Name: by, By: by, Option: "pmm"}.timed(t.Context(), job)
		require.NoError(t, err)
		require.Equal(t, "one 1.0", version)
		require.Equal(t, [][]float64{{1, 2}, {3, 4}}, f.values)
		_, _, _, err = method{Name: by, By: by, Option: "fails"}.timed(t.Context(), job)
		require.ErrorIs(t, err, errNone)
	}
	table.Observed[4] = true
	_, _, _, err = method{Name: "short", By: "mice"}.timed(t.Context(), job)
	require.EqualError(t, err, "short filled in 2 cells of 1")
}

// The real tables have the columns that the settings name, and rows without gaps are complete.
func TestRealTables(t *testing.T) {
	if os.Getenv(harness.FolderVariable) == "" {
		t.Skip("the real tables are in the folder that " + harness.FolderVariable + " names")
	}
	text, err := Experiment.SettingsOf("full")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	for _, from := range s.Tables {
		from.path = harness.DataPath(s.Folder, from.File)
		table, _, err := from.rows(1)
		require.NoError(t, err)
		if from.File != "" {
			require.Len(t, from.Columns, table.D)
		}
		for _, law := range s.Laws {
			_, err := law.Hide(table, 1)
			require.NoError(t, err, from.Name)
		}
	}
}
