package networks

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/gaps"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/simulate"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

func TestJudging(t *testing.T) {
	p := mat.NewSymDense(3, []float64{4, -1, 0, -1, 1, 0.5, 0, 0.5, 4})
	q := mat.NewSymDense(3, []float64{1, 0.25, 0.5, 0.25, 1, 0.5, 0.5, 0.5, 1})
	edge, other, signs := biases(p, q)
	require.InDelta(t, (-0.75+0.25)/2, edge, 1e-12) // 0.5 → −0.25, −0.25 → −0.5
	require.InDelta(t, 0.5, other, 1e-12)
	require.InDelta(t, 0.5, signs, 1e-12)
	require.InDelta(t, math.Sqrt((9+9+2*(1.25*1.25+0.25))/(16+1+16+2*(1+0.25))), distance(p, q), 1e-12)
}

func TestEBIC(t *testing.T) {
	k := kind{Graph: "random", Columns: 5, Rows: 200}
	_, _, table, err := k.simulate(gaps.Law{Missing: 0.3}, 1)
	require.NoError(t, err)
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: "exact"}, Network: &regpath.Config{Lambdas: 10}}, trainers.Run{})
	require.NoError(t, err)
	standard, _ := data.Standardise(table)
	compared := 0
	for i, point := range r.Network.Points {
		if math.IsNaN(r.Network.Scores[i]) {
			continue // the program's search did not come by
		}
		g := simulate.Gaussian{Mean: make([]float64, 5), Precision: graph.Unpack(5, point.Packed)}
		refit, ok, err := emglasso.Refit(t.Context(), standard, g, threshold, emglasso.Options{Iterations: 1000, Tolerance: 1e-6})
		require.NoError(t, err)
		require.True(t, ok)
		require.InDelta(t, r.Network.Scores[i], ebic(standard, refit), 0.1)
		compared++
	}
	require.GreaterOrEqual(t, compared, 3)
}

func TestMethodsFindTheTruth(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	s.Path.Lambdas, s.Likelihood.Lambdas, s.Likelihood.Ratio = 30, 30, 100
	k := kind{Graph: "random", Columns: 5, Rows: 4000}
	for _, name := range []string{"exact", "em-exact", "glasso"} {
		var m method
		m.Fit.Method = name
		values, err := s.run(t.Context(), k, gaps.Law{}, m, 1)
		require.NoError(t, err)
		require.Len(t, values, 10)
		require.Equal(t, "1.00000", values[1], name) // the best F1
		require.Less(t, values[4], "0.2", name)      // error of the precision
		require.Equal(t, "0.00000", values[8], name) // wrong signs
	}
}

// Stands in for R: the empty network and one edge.
const rscript = `#!/bin/sh
[ "$1" = -e ] && { echo cglasso 0; exit 0; }
[ "$4 $5" = '5 0.05' ] || exit 1
printf '0,0,0,1,0,0,1,0,1\n0,0,0,1,-0.5,0,1,0,1\n' > "$3"
`

func TestCglasso(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Rscript"), []byte(rscript), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	table, err := data.NewTable([]string{"a", "b", "c"}, []float64{1, 1, 0, -1, -1, 1, 2, 1, -1, -2, -1, 0}, nil)
	require.NoError(t, err)
	var m method
	m.Fit.Method = cglasso
	e, err := s.likelihood(t.Context(), m, table)
	require.NoError(t, err)
	require.Len(t, e.path, 2)
	require.Equal(t, -0.5, e.path[1].At(0, 1))
	require.Negative(t, e.chosen.At(0, 1), "the columns depend on each other")
	wide, err := data.NewTable([]string{"a", "b"}, []float64{1, 1, -1, -1, 2, 1, -2, -1}, nil)
	require.NoError(t, err)
	_, err = s.likelihood(t.Context(), m, wide)
	require.EqualError(t, err, "cglasso.R wrote 9 numbers a line, not 5")
}

func TestSettingsThatAreRefused(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	for _, c := range [][3]string{
		{`"graph":"random"`, `"graph":"ring"`, `network "random 6": graph "ring": it is star or random`},
		{`"laws":["MCAR 30 %"`, `"laws":["MCAR 31 %"`, `there is no law "MCAR 31 %"`},
		{`"methods":["em-exact"`, `"methods":["em"`, `there is no method "em"`},
		{`{"method":"em-exact"}`, `{"method":"luck"}`, `there is no method "luck"`},
		{`"lambdas":5`, `"lambdas":1`, "likelihood: lambdas 1"},
	} {
		bad := strings.Replace(string(text), c[0], c[1], 1)
		require.NotEqual(t, string(text), bad, c[0])
		_, err := grid([]byte(bad), 1)
		require.ErrorContains(t, err, c[2])
	}
}
