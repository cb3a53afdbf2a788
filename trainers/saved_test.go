package trainers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
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
