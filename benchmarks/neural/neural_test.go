package neural

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/harness"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// One normal of deviation ½ in the plane has E‖s‖² = 2/¼.
func TestScoreSize(t *testing.T) {
	of := simulate.Mixture{Weights: []float64{1}, Means: [][]float64{{1, -1}}, Deviations: [][]float64{{0.5, 0.5}}}
	m, err := model.NewMixture(of)
	require.NoError(t, err)
	size, err := scoreSize(m, of.Draw(20000, stream.New(1)))
	require.NoError(t, err)
	require.InEpsilon(t, 8, size, 0.04) // five standard errors

	g := squareAround(of)
	require.Equal(t, square{1, -1, 4}, g)
	p, err := g.density(m)
	require.NoError(t, err)
	require.InDelta(t, 1, floats.Sum(p)*g.side*g.side/perSide/perSide, 1e-12)
	require.InEpsilon(t, 2/3.141592653589793, floats.Max(p), 0.01)
	require.Zero(t, g.divergence(p, p))
	wider := simulate.Mixture{Weights: []float64{1}, Means: of.Means, Deviations: [][]float64{{0.6, 0.6}}}
	m, err = model.NewMixture(wider)
	require.NoError(t, err)
	q, err := g.density(m)
	require.NoError(t, err)
	require.InDelta(t, 2*(0.18232-0.5+0.34722), g.divergence(p, q), 5e-3) // log(6/5) − ½ + 25/72, twice
}

// A column keeps a density to a 255th of the largest, and rows to four digits.
func TestPlaneAsText(t *testing.T) {
	density, err := readShades(shades([]float64{0, 1, 2, 3}, 2), 2)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0, 1, 2, 2}, density, 0.5*2/255)
	require.Equal(t, "0 128 255 255", shades([]float64{0, 1, 2, 3}, 2))
	xy, err := figures.ParsePoints(figures.FormatPoints([]float64{1.23456, -1e-5}))
	require.NoError(t, err)
	require.Equal(t, []float64{1.235, -1e-5}, xy)
	_, err = readShades("1 x", 2)
	require.ErrorContains(t, err, "column plane")
	_, err = figures.ParsePoints("1 x")
	require.ErrorContains(t, err, "points")
}

func TestSmallRun(t *testing.T) {
	out := t.TempDir()
	e := Experiment
	e.Settings = []byte(strings.ReplaceAll(string(config), `"name": "modes"`, `"name": "ring"`))
	failed, err := harness.Run(t.Context(), []harness.Experiment{e}, harness.Options{Out: out, Smoke: true})
	require.NoError(t, err)
	require.Zero(t, failed)
	l, err := harness.Load(e, out)
	require.NoError(t, err)
	drawn, err := draw(l.Settings, l.Results)
	require.NoError(t, err)
	var names []string
	for _, f := range drawn {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"moons-fisher-divergence", "moons-treated", "moons-densities", "ring-fisher-divergence", "ring-treated", "ring-densities"}, names)
	made, err := tables(l.Settings, l.Results)
	require.NoError(t, err)
	require.Len(t, made, 3)
	require.Len(t, made[0].Lines, 13)
	for text, want := range map[string]string{`"name": "ring"`: `no density "cube"`, `"method": "em"`: `no method "guess"`} {
		bad := strings.ReplaceAll(string(l.Settings), strings.ReplaceAll(text, ": ", ":"), map[string]string{`"name": "ring"`: `"name":"cube"`, `"method": "em"`: `"method":"guess"`}[text])
		_, err = grid([]byte(bad), 1)
		require.ErrorContains(t, err, want)
	}
}
