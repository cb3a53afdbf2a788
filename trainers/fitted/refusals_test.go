package fitted_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/trainers/fitted"
)

type sharing struct{ model.Model }

func (sharing) Params() []*graph.Param {
	return []*graph.Param{graph.NewParam("w", 1, 2), graph.NewParam("w", 1, 2)}
}

func TestRefusals(t *testing.T) {
	unit := data.Scale{Mean: []float64{0, 0}, Deviation: []float64{1, 1}}
	ab := []string{"a", "b"}
	normal, _ := scaledNormal(t)
	quartic := &fitted.Model{Names: ab, Model: model.NewQuartic(2), Scale: unit}
	scores, single, bounded := noiseConditional(false), noiseConditional(false), noiseConditional(false)
	single.Noise = &noise.Schedule{Kind: noise.Fixed, Least: 0.1}
	bounded.Domain = domain.All(2)
	bounded.Domain.Lower[0] = 0
	latent := latentModel(t)
	plain := *latent
	plain.Transform = nil
	logs, _, _ := logNormal(t)
	cut := *logs
	cut.Domain = domain.All(3)
	cut.Domain.Upper[0] = 0
	law := &missingness.Model{Logistic: missingness.NewLogistic(2), Censored: domain.All(2)}
	told := &fitted.Model{Names: ab, Model: model.NewGaussian(2, model.CholeskyFactor), Scale: unit, Missingness: law}
	law.Censored.Upper[1] = 0.9
	huge, err := load(t, `{"version":2,"model":"mixture","options":{"components":1},"names":["a","b"],
		"weights":[[1]],"means":[[0,0]],"deviations":[[1,1e308]]}`)
	require.NoError(t, err)
	damaged, err := huge.Fitted()
	require.NoError(t, err)

	none := table(ab)
	place := table(ab, []float64{2, 1}, []float64{3, 1})
	row := table(normal.Names, []float64{-3, nan, 1})
	row.Lines = []int{7}
	impute := func(f *fitted.Model, rows *data.Table, by string) error {
		_, err := fitted.Impute(t.Context(), f, rows, fitted.ImputeConfig{Sampler: by})
		return err
	}
	sample := func(f *fitted.Model, by string, n int) error {
		_, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{Sampler: by, N: n})
		return err
	}
	score := func(f *fitted.Model, rows *data.Table) error {
		_, err := fitted.Score(t.Context(), f, rows, fitted.ImputeConfig{})
		return err
	}
	point := func(f *fitted.Model, rows *data.Table, by string) error {
		_, err := fitted.Point(t.Context(), f, rows, fitted.ImputeConfig{Sampler: by})
		return err
	}
	_, twice := (&fitted.Saved{Kind: "sharing", Model: sharing{quartic.Model}, Names: ab}).Encode(nil)
	match := func(ctx context.Context, f *fitted.Model, rows *data.Table, donors int) error {
		drawn := &fitted.Imputed{Draws: 1, Values: rows.Values}
		_, err := fitted.Match(ctx, f, rows, drawn, fitted.MatchConfig{Donors: donors})
		return err
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{sample(quartic, "exact", 0), "use hmc"},
		{sample(quartic, "sde", 0), "not fitted at several noise levels"},
		{sample(normal, "moon", 0), "one of auto, exact, hmc, langevin, sde"},
		{sample(normal, "auto", -1), "a positive number is needed"},
		{sample(scores, "hmc", 0), "no log density"},
		{sample(single, "sde", 0), "one noise level"},
		{sample(bounded, "langevin", 0), "out of the domain"},
		{sample(damaged, "", 1000), `Inf for column "b": its parameters are damaged, or too large for float64`},
		{impute(quartic, none, "exact"), "use mcmc"},
		{impute(quartic, none, "imputer"), "has no trained imputer"},
		{impute(quartic, none, "diffusion"), "not fitted at several noise levels"},
		{impute(normal, table(normal.Names), "guessing"), "one of auto, exact, mcmc, imputer, diffusion"},
		{impute(scores, none, "mcmc"), "no log density"},
		{impute(quartic, row, ""), "the model has 2 columns, but the table has 3"},
		{impute(told, table(ab, []float64{0.7, nan}), "exact"), "their conditional is not normal: use mcmc"},
		{impute(told, table(ab, []float64{0.7, 1.4}), ""), "0.9"},
		{impute(latent, place, ""), `column "a": 3 has no place among the ordered categories: only 1, 2, 5 (3 values)`},
		{impute(latent, place, "exact"), "one sampler: use the sampler latent or auto"},
		{impute(&plain, place, "latent"), "latent needs a model of ordered categories"},
		{impute(logs, row, ""), `line 7: column "a": -3 has no log: only numbers above 0 have one`},
		{impute(&cut, table(logs.Names, []float64{3, nan, 1}), ""), `column "log of a": 1.09`},
		{score(logs, row), `line 7: column "a": -3 has no log: only numbers above 0 have one`},
		{score(latent, place), "a model of ordered categories has no score"},
		{point(normal, none, ""), "the model has 3 columns, but the table has 2"},
		{point(normal, table(normal.Names), "diffusion"), "use mcmc"},
		{twice, `model sharing: two parameters are named "w": names must differ`},
		{match(t.Context(), latent, place, 0), "a fitted model of numbers"},
		{match(t.Context(), told, place, -1), "must be positive"},
		{match(t.Context(), told, place, 0), "with cells missing at random"},
		{match(t.Context(), scores, place, 0), "no log density"},
		{match(cancelled, quartic, table(ab, []float64{1, nan}, []float64{2, 3}), 0), "context canceled"},
	} {
		require.ErrorContains(t, c.err, c.want)
	}
}

func TestPartialRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "draws")
	load := func(name string) error { _, err := fitted.LoadPartial(path, name); return err }
	require.ErrorIs(t, load("one"), os.ErrNotExist)
	require.NoError(t, fitted.NewPartial("one").Save(path))
	require.NoError(t, load("one"))
	require.ErrorIs(t, load("other"), fitted.ErrOtherImputation)
	f, _ := scaledNormal(t)
	gaps := table(f.Names, []float64{1, nan, 2})
	refuse := func(*fitted.Partial) error { return os.ErrPermission }
	c := fitted.ImputeConfig{Draws: 1, Partial: fitted.NewPartial("one"), Save: refuse}
	_, err := fitted.Impute(t.Context(), f, gaps, c)
	require.ErrorIs(t, err, os.ErrPermission)
	c.Draws, c.Save = 2, nil
	_, err = fitted.Impute(t.Context(), f, gaps, c)
	require.ErrorIs(t, err, fitted.ErrOtherImputation)
}
