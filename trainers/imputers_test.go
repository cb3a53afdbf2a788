package trainers_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// A fit with a linear imputer begins at the conditionals of the greatest likelihood: before any
// step of either, its weights of a Gaussian model at that likelihood are all alike.
func TestLinearImputerBeginsAtTheLikelihood(t *testing.T) {
	_, table := testtables.Normal(t, 300, 11)
	table, err := data.HideMCAR(table, 0.4, stream.New(5, 1))
	require.NoError(t, err)
	work, _ := data.Standardise(table)
	m := model.NewGaussian(table.D, model.CholeskyFactor)
	p, err := trainers.Prepare(table, trainers.Spec{Steps: engine.Config{Method: "variw", Imputer: engine.ImputerSpec{Kind: "linear"}}})
	require.NoError(t, err)
	q, err := p.Problem(0)
	require.NoError(t, err)
	ok, err := descent.Likeliest(t.Context(), q, m, engine.Config{})
	require.NoError(t, err)
	require.True(t, ok)
	q.Model, q.Normal, q.Table = m, m, work
	e, err := engine.New(q, engine.Config{Method: "variw", Draws: 8, Imputer: engine.ImputerSpec{Kind: "linear"}})
	require.NoError(t, err)
	s, err := e.Gradient(0, e.AllRows(), 1.0/300)
	require.NoError(t, err)
	require.InDelta(t, 8, s.EffectiveSize, 1e-6)
	m.SetMean(slices.Repeat([]float64{0.5}, table.D))
	s, err = e.Gradient(0, e.AllRows(), 1.0/300)
	require.NoError(t, err)
	require.Less(t, s.EffectiveSize, 7.9)
}

// Every imputer serves the methods that train one, with the marginal and the complete loss, in
// float32 too, and its model comes back from the file to impute with.
func TestImputersServeEveryMethod(t *testing.T) {
	_, table := testtables.Normal(t, 120, 12)
	table, err := data.HideMCAR(table, 0.3, stream.New(5, 1))
	require.NoError(t, err)
	for _, kind := range []string{"linear", "flow"} {
		for _, method := range []string{"var", "variw", "em-var", "em-variw"} {
			for _, c := range []engine.Config{{}, {DType: graph.Float32}} {
				c.Method, c.Imputer, c.WarmUp = method, engine.ImputerSpec{Kind: kind, Options: []byte(`{"hidden":6}`)}, new(20)
				r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: c, Descent: descent.Config{Epochs: 3}}, trainers.Run{})
				require.NoError(t, err, "%s %s", kind, method)
				require.False(t, math.IsNaN(r.Loss))
				text, err := r.Encode()
				require.NoError(t, err)
				require.Contains(t, string(text), `"kind": "`+kind+`"`)
			}
		}
		box := domain.All(table.D)
		box.Lower[0] = -50
		_, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: "var", Imputer: engine.ImputerSpec{Kind: kind}},
			Domain: box}, trainers.Run{})
		require.ErrorContains(t, err, "take normal")
	}
}
