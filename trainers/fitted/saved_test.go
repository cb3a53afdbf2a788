package fitted_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

func load(t testing.TB, text string) (*fitted.Saved, error) {
	path := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return fitted.Load(path)
}

func reloaded(t testing.TB, s *fitted.Saved) (again *fitted.Saved, text string) {
	t.Helper()
	written, err := s.Encode(map[string]any{"loss": 1.5})
	require.NoError(t, err)
	again, err = load(t, string(written))
	require.NoError(t, err, "%s", written)
	return again, string(written)
}

func TestSavedModelsComeBack(t *testing.T) {
	rng := stream.New(1, 1)
	for name := range model.Models {
		m, err := model.New(name, 3, nil, stream.New(1))
		require.NoError(t, err)
		for _, p := range m.Params() {
			for i := range p.Value {
				p.Value[i] += 0.1 * rng.NormFloat64()
			}
		}
		s := domain.All(3)
		s.Lower[1] = -2
		s.Half = []domain.HalfSpace{{A: []float64{1, 0, -1}, B: 3}}
		imputer := nets.NewNormalImputer(3, nets.NormalOptions{Hidden: 4, MaskInput: true}, rng)
		saved := fitted.Saved{Kind: name, Model: m, Names: []string{"a", "b", "c"}, Domain: s, Imputer: imputer, ImputerKind: "normal",
			Scale: data.Scale{Mean: []float64{0, 0, 0}, Deviation: []float64{0.5, 2, 3}}, Noise: &noise.Schedule{Kind: noise.Fixed, Least: 0.1},
			Outcome: &fitted.Outcome{Verdict: "NOT converged: so", Assumption: losses.MAR}}
		back, _ := reloaded(t, &saved)
		require.Equal(t, saved.Names, back.Names)
		require.Equal(t, s, back.Domain)
		require.Equal(t, saved.Scale, back.Scale)
		require.Equal(t, saved.Noise, back.Noise)
		require.Equal(t, imputer, back.Imputer)
		require.Equal(t, saved.Outcome, back.Outcome)
		require.InDeltaSlice(t, scoreAt(t, m, []float64{0.1, 2, -1}), scoreAt(t, back.Model, []float64{0.1, 2, -1}), 1e-11, name)
		standardised, err := back.Standardised()
		require.NoError(t, err)
		x, z := []float64{0.3, -1, 0.7}, []float64{0.6, -0.5, 0.7 / 3}
		inUnits, within := scoreAt(t, saved.InUnits(), x), scoreAt(t, standardised, z)
		for j, deviation := range saved.Scale.Deviation {
			require.InDelta(t, within[j]/deviation, inUnits[j], 1e-9*(1+math.Abs(within[j])), name)
		}
	}
}

func scoreAt(t *testing.T, m model.Model, x []float64) []float64 {
	t.Helper()
	p, err := graph.Build(func(b *graph.Builder) { b.Output("s", m.Evaluate(b, b.Input("x", 1, len(x))).Score) })
	require.NoError(t, err)
	copy(p.Input("x"), x)
	require.NoError(t, p.Run())
	return p.Output("s")
}

func TestDamagedModelsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "it ends too early",
		`{"version":6,"model":"gaussian","names":["a"]}`:                                                                                              "its version is 6, but this program reads version 2: fit it again",
		`{"version":2,"model":"score-network","names":["a"],"options":{"hidden":[2]}}`:                                                                `parameter "weight 1" is missing`,
		`{"version":2,"model":"energy","names":["a"],"options":{"hidden":[2]}}`:                                                                       "weight 1 is missing",
		`{"version":2,"model":"energy","names":["a"],"options":{"hidden":[-2]}}`:                                                                      "-2 units",
		`{"version":2,"model":"score-network","names":["a"],"options":{"hidden":[2]},"parameters":{"weight 1":{"rows":1,"cols":2,"float64":"AAAA"}}}`: `"weight 1" has shape (1, 2) and 3 bytes`,
		`{"version":2,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1]],"standardised_by":{"mean":[0],"deviation":[0]}}`:                  "the deviation 0",
		`{"version":2,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1]],"noise":{"kind":"pink"}}`:                                         "no noise schedule",
		`{"model":"gaussian","names":["a"]}`:                                                                                                          "its version is 0",
		`{"version":2,"model":"moon","names":["a"]}`:                                                                                                  `there is no model "moon"`,
		`{"version":2,"model":"gaussian","names":["a"],"mean":[0]}`:                                                                                   "precision is missing",
		`{"version":2,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1,2]]}`:                                                               "row 1 has 2 numbers",
		`{"version":2,"model":"gaussian","names":["a"],"mean":[0],"precision":[[-1]]}`:                                                                "not positive definite",
		`{"version":2,"model":"gaussian","names":["a","b"],"mean":[0,0],"precision":[[1,0.1],[0.2,1]]}`:                                               "not symmetric at (1, 2)",
		`{"version":2,"model":"gaussian","names":["a"],"levels":{"b":["u","v"]},"mean":[0],"precision":[[1]]}`:                                        "a named column is not in the model",
		`{"version":2,"model":"gaussian","names":["a"],"levels":{"a":["u","u"]},"mean":[0],"precision":[[1]]}`:                                        `levels of "a": at least one is needed, with different names`,
		`{"version":2,"model":"mixture","names":["a"],"options":{"components":1,"levels":[2]},"weights":[[1]],"shares":[[0.5,0.5]]}`:                  `levels of "a": there are 0 names, but the model has 2 levels`,
		`{"version":2,"model":"mixture","names":["a"],"options":{"components":1,"levels":[2]},"weights":[[1]],"shares":[[0.5,0.6]]}`:                  "must not be negative and must sum to 1",
		`{"version":2,"model":"gaussian","names":["a"],"mean":["x"],"precision":[[1]]}`:                                                               "mean",
		`{"version":2,"model":"gaussian","names":["a"],"mean":[0],"precision":[[1]],"domain":{"lower":{"z":0}}}`:                                      `there is no column "z"`,
	} {
		_, err := load(t, text)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "model.json")
	}
}

// Chains for the quartic model, independent draws for the Gaussian.
func TestSavedModelsSample(t *testing.T) {
	s := domain.All(2)
	s.Lower[0] = 0.3
	for kind, m := range map[string]model.Model{"quartic": model.NewQuartic(2), "gaussian": model.NewGaussian(2, model.CholeskyFactor)} {
		saved := fitted.Saved{Kind: kind, Model: m, Names: []string{"u", "v"}, Domain: s}
		table, chains, err := saved.Sample(t.Context(), 300, stream.New(2, 1))
		require.NoError(t, err)
		require.Equal(t, kind == "gaussian", chains == nil)
		require.Equal(t, saved.Names, table.Names)
		require.Equal(t, 300, table.N)
		require.NoError(t, table.Inside(s))
	}
	s.Lower[0], s.Upper[0] = 5, 4
	_, _, err := (&fitted.Saved{Kind: "quartic", Model: model.NewQuartic(2), Names: []string{"u", "v"}, Domain: s}).
		Sample(t.Context(), 3, stream.New(4, 1))
	require.ErrorContains(t, err, "no interior")
}
