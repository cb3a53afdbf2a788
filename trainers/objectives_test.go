package trainers_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
)

func objective(t *testing.T, name, options string) losses.Objective {
	t.Helper()
	o, err := losses.NewObjective(name, []byte(options), nil, trainers.Config{}.Weight)
	require.NoError(t, err)
	return o
}

var projected = map[string]string{
	"sliced":    `{"number":2}`,
	"denoising": `{"noise":{"kind":"fixed","least":0.4}}`,
}

// ladder is a neural energy that knows levels of noise, with the objective for it.
func ladder(t *testing.T, d int) (model.Model, losses.Objective) {
	t.Helper()
	m, err := model.New("energy", d, []byte(`{"hidden":[6],"levelled":true}`), stream.New(3))
	require.NoError(t, err)
	return m, objective(t, "denoising", `{"noise":{"kind":"preserving","levels":5}}`)
}

// Without a gap every estimator is ordinary score matching, whatever the objective.
func TestObjectivesWithoutGaps(t *testing.T) {
	g, err := data.SimulateNormal(3, stream.New(1))
	require.NoError(t, err)
	table, err := g.Sample(37, stream.New(2))
	require.NoError(t, err)
	for _, e := range trainers.Estimators {
		config := trainers.Config{Method: e.Name, Seed: 4, Batch: 16, Draws: 4}
		if e.Name == "em-full" { // each completed row has directions of its own
			config.Draws = 1
		}
		whole := config
		whole.Method = "full"
		compare := func(m model.Model, o losses.Objective) {
			want, wanted, err := trainers.Gradient(table, m, o, whole, 0)
			require.NoError(t, err)
			got, grads, err := trainers.Gradient(table, m, o, config, 0)
			if e.Name == "em-full" && err != nil {
				require.ErrorContains(t, err, "use em")
				return
			}
			require.NoError(t, err)
			require.InDelta(t, want, got, 1e-10)
			for i := range wanted {
				require.InDeltaSlice(t, wanted[i], grads[i], 1e-10)
			}
		}
		for name, options := range projected {
			t.Run(e.Name+"/"+name, func(t *testing.T) {
				m := model.NewGaussian(3, model.CholeskyFactor)
				require.NoError(t, m.SetPrecision(mat.NewSymDense(3, []float64{1.2, 0.3, 0, 0.3, 1, 0.2, 0, 0.2, 0.9})))
				compare(m, objective(t, name, options))
			})
		}
		if !e.Gaussian {
			t.Run(e.Name+"/ladder", func(t *testing.T) { compare(ladder(t, 3)) })
		}
	}
}

// With gaps: no worker and nothing under a missing cell counts, and all is finite.
func TestObjectivesWithGaps(t *testing.T) {
	_, table := trainers.StarTable(t, 3, 40, 0.4)
	poisoned := *table
	poisoned.Values = slices.Clone(table.Values)
	for i, seen := range table.Observed {
		if !seen {
			poisoned.Values[i] = math.NaN()
		}
	}
	for _, e := range trainers.Estimators {
		if e.Complete {
			continue
		}
		compare := func(t *testing.T, m model.Model, o losses.Objective) {
			config := trainers.Config{Method: e.Name, Seed: 4, Batch: 8, Draws: 4}
			want, wanted, err := trainers.Gradient(table, m, o, config, 0)
			if e.Name == "em-full" && err != nil {
				require.ErrorContains(t, err, "use em")
				return
			}
			require.NoError(t, err)
			config.Workers = 3
			got, grads, err := trainers.Gradient(&poisoned, m, o, config, 0)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, wanted, grads)
			for _, g := range grads {
				require.False(t, floats.HasNaN(g))
			}
			require.NotZero(t, floats.Norm(slices.Concat(grads...), 1))
		}
		for name, options := range projected {
			t.Run(e.Name+"/"+name, func(t *testing.T) {
				compare(t, model.NewGaussian(3, model.CholeskyFactor), objective(t, name, options))
			})
		}
		if !e.Gaussian {
			t.Run(e.Name+"/ladder", func(t *testing.T) {
				m, o := ladder(t, 3)
				compare(t, m, o)
			})
		}
	}
}

// What is learned from noisy rows with gaps is the distribution with the noise,
// precision (Σ + σ²I)⁻¹, by estimators without a bias of their own: the mean over
// tables is within its error, which is small beside what the noise changes.
func TestDenoisingFindsTheNoisyNormal(t *testing.T) {
	const n, tables, sigma = 2000, 6, 0.6
	covariance := mat.NewSymDense(2, []float64{1, 0.6, 0.6, 0.8})
	var p, want mat.Dense
	require.NoError(t, p.Inverse(covariance))
	require.NoError(t, want.Inverse(mat.NewSymDense(2, []float64{1 + sigma*sigma, 0.6, 0.6, 0.8 + sigma*sigma})))
	g := data.Gaussian{Mean: []float64{0.3, -0.5}, Precision: mat.NewSymDense(2, p.RawMatrix().Data)}
	for _, method := range []string{"exact", "variw"} {
		seen := make([][]float64, 6)
		for k := range uint64(tables) {
			complete, err := g.Sample(n, stream.New(5, 1, k))
			require.NoError(t, err)
			table, err := data.HideMCAR(complete, 0.3, stream.New(5, 2, k))
			require.NoError(t, err)
			m := model.NewGaussian(2, model.CholeskyFactor)
			config := trainers.FitConfig{Config: trainers.Config{Method: method, Seed: 6 + k, Imputer: nets.Options{Hidden: 20}}, Epochs: 40}
			_, err = trainers.Fit(context.Background(), table, m, objective(t, "denoising", fmt.Sprintf(`{"noise":{"kind":"fixed","least":%v}}`, sigma)), config, &trainers.State{}, nil)
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
	_, table := trainers.StarTable(t, 3, 60, 0.3)
	config := trainers.FitConfig{Config: trainers.Config{Method: "variw", Seed: 7, Batch: 8, Draws: 3, ImputerSteps: 2}, Epochs: 3}
	fit := func(ctx context.Context, c trainers.FitConfig, s *trainers.State) ([]float64, error) {
		m, o := ladder(t, 3)
		r, err := trainers.Fit(ctx, table, m, o, c, s, nil)
		if err != nil {
			return nil, err
		}
		require.True(t, r.Imputer.Options().Levelled)
		var out []float64
		for _, p := range slices.Concat(m.Params(), r.Imputer.Params()) {
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
	cut.Observe = func(p trainers.Progress) {
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

// unsaid is an objective that JSON cannot hold.
type unsaid struct {
	losses.Classical
	Weight func() float64
}

func TestSettingsThatCannotBeSaved(t *testing.T) {
	_, table := trainers.StarTable(t, 3, 20, 0.3)
	_, err := trainers.Fit(context.Background(), table, model.NewGaussian(3, model.CholeskyFactor), unsaid{}, trainers.FitConfig{Config: trainers.Config{Method: "iw"}, Epochs: 1}, &trainers.State{}, nil)
	require.ErrorContains(t, err, "must be JSON")
}
