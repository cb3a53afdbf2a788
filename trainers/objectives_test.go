package trainers_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

func objective(t *testing.T, name, options string) losses.Objective {
	t.Helper()
	o, err := losses.NewObjective(name, losses.ObjectiveSetting{Dim: 1, Options: []byte(options)})
	require.NoError(t, err)
	return o
}

// ladder is a neural energy that knows levels of noise, with the objective for it.
func ladder(t *testing.T, d int) (model.Model, losses.Objective) {
	t.Helper()
	m, err := model.New("energy", d, []byte(`{"hidden":[6],"noise_conditional":true}`), stream.New(3))
	require.NoError(t, err)
	return m, objective(t, "denoising", `{"noise":{"kind":"preserving","levels":5}}`)
}

// What is learned from noisy rows with gaps is the distribution with the noise,
// precision (Σ + σ²I)⁻¹, by estimators without a bias of their own: the mean over
// tables is within its error, which is small beside what the noise changes.
func TestDenoisingFindsTheNoisyNormal(t *testing.T) {
	slowtest.Skip(t, "8 s")
	const n, tables, sigma = 2000, 6, 0.6
	covariance := mat.NewSymDense(2, []float64{1, 0.6, 0.6, 0.8})
	var p, want mat.Dense
	require.NoError(t, p.Inverse(covariance))
	require.NoError(t, want.Inverse(mat.NewSymDense(2, []float64{1 + sigma*sigma, 0.6, 0.6, 0.8 + sigma*sigma})))
	g := simulate.Gaussian{Mean: []float64{0.3, -0.5}, Precision: mat.NewSymDense(2, p.RawMatrix().Data)}
	for _, method := range []string{"exact", "variw"} {
		seen := make([][]float64, 6)
		for k := range uint64(tables) {
			complete, err := g.Sample(n, stream.New(5, 1, k))
			require.NoError(t, err)
			table, err := data.HideMCAR(complete, 0.3, stream.New(5, 2, k))
			require.NoError(t, err)
			m := model.NewGaussian(2, model.CholeskyFactor)
			s := fitOf(m, engine.Config{Method: method, Seed: 6 + k, Imputer: engine.ImputerSpec{Options: []byte(`{"hidden":20}`)}}, descent.Passes(40, 0))
			s.Objective = trainers.ObjectiveSpec{Kind: "denoising", Options: fmt.Appendf(nil, `{"noise":{"kind":"fixed","least":%v}}`, sigma)}
			_, err = trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err)
			for i, v := range append(m.Mean(), m.Precision().At(0, 0), m.Precision().At(0, 1), m.Precision().At(1, 0), m.Precision().At(1, 1)) {
				seen[i] = append(seen[i], v)
			}
		}
		quantile := distuv.StudentsT{Sigma: 1, Nu: tables - 1}.Quantile(1 - 1e-3)
		for i, v := range append(slices.Clone(g.Mean), want.RawMatrix().Data...) {
			mean, sd := stat.MeanStdDev(seen[i], nil)
			tolerance := quantile * stat.StdErr(sd, tables)
			require.InDelta(t, v, mean, tolerance, "%s, %d", method, i)
			if i >= 2 {
				require.Less(t, tolerance, 0.4*math.Abs(v-p.RawMatrix().Data[i-2]), "as well without the noise")
			}
		}
	}
}

// Many levels of noise, an imputer that is told them, an energy: no worker and no
// cut changes a byte.
func TestLadderIsReproducible(t *testing.T) {
	_, table := testtables.Star(t, 3, 60, 0.3)
	config := engine.Config{Method: "variw", Seed: 7, Batch: 8, Draws: 3, ImputerSteps: 2}
	fit := func(ctx context.Context, c engine.Config, state *trainers.State) ([]float64, error) {
		m, o := ladder(t, 3)
		s := fitOf(m, c, descent.Passes(3, 0))
		s.Objective = by(o)
		r, err := trainers.Estimate(ctx, table, s, trainers.Run{State: state})
		if err != nil {
			return nil, err
		}
		require.True(t, r.Model.Imputer.(nets.NormalConditional).NoiseConditional())
		var out []float64
		for _, p := range slices.Concat(m.Params(), r.Model.Imputer.Params()) {
			out = append(out, p.Value...)
		}
		return out, nil
	}
	want, err := fit(context.Background(), config, &trainers.State{})
	require.NoError(t, err)
	several := config
	several.Workers = 3
	got, err := fit(context.Background(), several, &trainers.State{})
	require.NoError(t, err)
	require.Equal(t, want, got)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cut, state := config, &trainers.State{}
	cut.Observe = func(p engine.Progress) {
		if p.Iteration == 5 {
			cancel()
		}
	}
	_, err = fit(ctx, cut, state)
	require.ErrorIs(t, err, context.Canceled)
	got, err = fit(context.Background(), config, state)
	require.NoError(t, err)
	require.Equal(t, want, got)
}
