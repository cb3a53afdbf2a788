package trainers_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"

	"missingscore/data/domain"
	"missingscore/data/truncnorm"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

func TestSavedModelsComeBack(t *testing.T) {
	rng := stream.New(1, 1)
	for name := range graph.Models {
		m, err := graph.NewModel(name, 3)
		require.NoError(t, err)
		described, ok := m.(graph.Described)
		if !ok {
			continue
		}
		for _, p := range m.Params() {
			for i := range p.Value {
				p.Value[i] += 0.1 * rng.NormFloat64()
			}
		}
		s := domain.All(3)
		s.Lower[1] = -2
		s.Half = []domain.HalfSpace{{A: []float64{1, 0, -1}, B: 3}}
		saved := trainers.SavedModel{Kind: name, Model: described, Names: []string{"a", "b", "c"}, Domain: s}
		text, err := saved.Encode(map[string]any{"loss": 1.5})
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "model.json")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		back, err := trainers.LoadModel(path)
		require.NoError(t, err)
		require.Equal(t, saved.Names, back.Names)
		require.Equal(t, s, back.Domain)
		for i, q := range described.Quantities() {
			require.InDeltaSlice(t, q.Value, back.Model.Quantities()[i].Value, 1e-12, name)
		}
	}
}

func TestDamagedModelsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "unexpected end",
		`{"version":2,"model":"gaussian","names":["a"]}`:                                                         "newer program (model version 2, this one reads 1)",
		`{"model":"gaussian","names":["a"]}`:                                                                     "no version",
		`{"version":1,"model":"moon","names":["a"]}`:                                                             `there is no model "moon"`,
		`{"version":1,"model":"gaussian","names":["a"],"mean":[0]}`:                                              "precision is missing",
		`{"version":1,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1,2]]}`:                          "row 1 has 2 numbers",
		`{"version":1,"model":"gaussian","names":["a"],"mean":[0],"precision":[[-1]]}`:                           "not positive definite",
		`{"version":1,"model":"gaussian","names":["a","b"],"mean":[0,0],"precision":[[1,0.1],[0.2,1]]}`:          "not symmetric at (1, 2)",
		`{"version":1,"model":"gaussian","names":["a"],"mean":["x"],"precision":[[1]]}`:                          "mean",
		`{"version":1,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1]],"domain":{"lower":{"z":0}}}`: `there is no column "z"`,
	} {
		path := filepath.Join(t.TempDir(), "model.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := trainers.LoadModel(path)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
	}
}

// Draws of a saved model keep its names, lie in its domain and have its moments:
// for the quartic E x² against quadrature, for the Gaussian the truncated mean.
func TestSavedModelsSample(t *testing.T) {
	const n = 3000
	s := domain.All(2)
	s.Lower[0] = 0.3
	q := graph.NewQuartic(2)
	saved := trainers.SavedModel{Kind: "quartic", Model: q, Names: []string{"u", "v"}, Domain: s}
	table, chains, err := saved.Sample(context.Background(), n, stream.New(2, 1))
	require.NoError(t, err)
	require.Less(t, chains.WorstRHat(), 1.05)
	require.Equal(t, saved.Names, table.Names)
	require.NoError(t, table.Inside(s))
	moment := func(j int, low float64, power int) (want, got, se float64) {
		density := func(p int) float64 {
			return quad.Fixed(func(x float64) float64 { return math.Pow(x, float64(p)) * math.Exp(-x*x*x*x/2) }, low, 5, 100, nil, 0)
		}
		want = density(power) / density(0)
		for i := range n {
			got += math.Pow(table.Values[2*i+j], float64(power)) / n
		}
		return want, got, math.Sqrt((density(2*power)/density(0) - want*want) / n)
	}
	for j, low := range []float64{0.3, -5} {
		want, got, se := moment(j, low, 2)
		require.InDelta(t, want, got, 4.5*se, "column %d", j)
	}

	saved = trainers.SavedModel{Kind: "gaussian", Model: graph.NewGaussian(2, graph.CholeskyFactor), Names: []string{"u", "v"}, Domain: s}
	table, chains, err = saved.Sample(context.Background(), n, stream.New(3, 1))
	require.NoError(t, err)
	require.Nil(t, chains)
	require.Equal(t, saved.Names, table.Names)
	mean := 0.0
	for i := range n {
		mean += table.Values[2*i] / n
	}
	byAlpha, _ := truncnorm.MassSlopes(0.3, math.Inf(1))
	want := -byAlpha
	require.InDelta(t, want, mean, 4.5*math.Sqrt((1+0.3*want-want*want)/n)) // the variance above 0.3
	s.Lower[0], s.Upper[0] = 5, 4
	saved.Model = q
	_, _, err = saved.Sample(context.Background(), n, stream.New(4, 1))
	require.ErrorContains(t, err, "no room")
}
