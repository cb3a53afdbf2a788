package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// One normal of deviation ½ in the plane has E‖s‖² = 2/¼.
func TestScoreSize(t *testing.T) {
	of := data.Mixture{Weights: []float64{1}, Means: [][]float64{{1, -1}}, Deviations: [][]float64{{0.5, 0.5}}}
	m, err := model.NewMixture(of)
	require.NoError(t, err)
	size, err := scoreSize(m, of.Draw(20000, stream.New(1)))
	require.NoError(t, err)
	require.InEpsilon(t, 8, size, 0.04) // five standard errors

	g := gridAround(of)
	require.Equal(t, grid{1, -1, 4}, g)
	p, err := g.density(m)
	require.NoError(t, err)
	require.InDelta(t, 1, floats.Sum(p)*g.side*g.side/cells/cells, 1e-12)
	require.InEpsilon(t, 2/3.141592653589793, floats.Max(p), 0.01)
	require.Zero(t, g.divergence(p, p))
	wider := data.Mixture{Weights: []float64{1}, Means: of.Means, Deviations: [][]float64{{0.6, 0.6}}}
	m, err = model.NewMixture(wider)
	require.NoError(t, err)
	q, err := g.density(m)
	require.NoError(t, err)
	require.InDelta(t, 2*(0.18232-0.5+0.34722), g.divergence(p, q), 5e-3) // log(6/5) − ½ + 25/72, twice
}

func TestSmallRun(t *testing.T) {
	s := settings{rows: 60, fresh: 50, epochs: 3, draws: 3, batch: 30, missing: 0.5, rate: 0.01, network: `{"hidden":[4]}`, out: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(s.out, "models"), 0o755))
	names := []string{"full", "iw", "missdiff"}
	require.NoError(t, s.run([]string{"moons"}, names, 1, 2))
	for _, name := range []string{"results.csv", "moons-fisher-divergence.svg", "moons-densities.svg"} {
		info, err := os.Stat(filepath.Join(s.out, name))
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(200000))
	}
	_, err := s.fit(context.Background(), "cube", methods["iw"], 1, "")
	require.ErrorContains(t, err, `no density "cube"`)
	require.ErrorContains(t, s.run([]string{"moons"}, []string{"guess"}, 1, 1), `no method "guess"`)
}
