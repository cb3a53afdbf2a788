package trainers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/internal/testtables"
)

// Fit recovers a 3-dimensional normal by the closed form, near the maximum of
// what n allows: the error against the truth is within five standard errors of
// a precision's entries, about √(2/n)·P.
func TestFitRecoversAGaussian(t *testing.T) {
	rng := stream.New(3, 3)
	g, err := simulate.Normal(3, rng)
	require.NoError(t, err)
	table, err := g.Sample(2000, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.2, rng)
	require.NoError(t, err)
	m := model.NewGaussian(3, model.CholeskyFactor)
	r, err := trainers.Estimate(t.Context(), table, fitOf(m, engine.Config{Method: "exact"}, descent.Passes(60, 0)), trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	require.Len(t, r.History, 60)
	for j := range 3 {
		require.InDelta(t, g.Mean[j], m.Mean()[j], 0.15)
		for k := range 3 {
			require.InDelta(t, g.Precision.At(j, k), m.Precision().At(j, k), 5*math.Sqrt(2*g.Precision.At(j, j)*g.Precision.At(k, k)/1600)+0.05)
		}
	}
}

// fitOf is a fit of this model, from where it is, to the table as it stands.
func fitOf(m model.Model, steps engine.Config, d descent.Config) trainers.Spec {
	if steps.WarmUp == nil {
		steps.WarmUp = new(0)
	}
	return trainers.Spec{Model: trainers.ModelSpec{New: func(int) (model.Model, error) { return m, nil }}, Steps: steps, Descent: d, KeepUnits: true}
}

// by is that objective's maker.
func by(o losses.Objective) trainers.ObjectiveSpec {
	return trainers.ObjectiveSpec{New: func(losses.ObjectiveSetting) (losses.Objective, error) { return o, nil }}
}

func TestFitCutAndResumed(t *testing.T) {
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		t.Run(dtype.String(), func(t *testing.T) { cutAndResumed(t, dtype) })
	}
}

func cutAndResumed(t *testing.T, dtype graph.DType) {
	_, table := testtables.Star(t, 3, 60, 0.3)
	c := engine.Config{Method: "var", Batch: 16, Draws: 4, ImputerSteps: 2, DType: dtype}
	fit := func(ctx context.Context, c engine.Config, s *trainers.State) (*model.Gaussian, error) {
		m := model.NewGaussian(3, model.CholeskyFactor)
		_, err := trainers.Estimate(ctx, table, fitOf(m, c, descent.Passes(6, 0)), trainers.Run{State: s})
		return m, err
	}
	want, err := fit(context.Background(), c, &trainers.State{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cut, state := c, &trainers.State{}
	cut.Observe = func(p engine.Progress) {
		if p.Iteration == 10 {
			cancel()
		}
	}
	_, err = fit(ctx, cut, state)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 10, state.Descent.Iteration)
	got, err := fit(context.Background(), c, state)
	require.NoError(t, err)
	require.Equal(t, want.Packed.Value, got.Packed.Value)
	require.Equal(t, want.Location.Value, got.Location.Value)
}

// Along a fit the exact divergence and the sampled one agree, in the truth's units.
func TestErrorsAlongAFit(t *testing.T) {
	g, table := testtables.Normal(t, 100, 27)
	truth := model.NewGaussian(4, model.CholeskyFactor)
	truth.SetMean(g.Mean)
	require.NoError(t, truth.SetPrecision(g.Precision))
	fresh, err := g.Sample(20000, stream.New(33, stream.Simulate))
	require.NoError(t, err)
	errors := func(sample []float64) ([]evaluate.Error, *model.Gaussian) {
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{
			Steps: engine.Config{Method: "exact"}, Descent: descent.Passes(5, 0.05),
			Truth: &evaluate.Truth{Model: truth, Sample: sample},
		}, trainers.Run{})
		require.NoError(t, err)
		return r.History[4].Errors, r.Model.Model.(*model.Gaussian)
	}
	exact, m := errors(nil)
	sampled, _ := errors(fresh.Values)
	require.InDelta(t, exact[0].Value, sampled[0].Value, 4*sampled[1].Value)
	require.Zero(t, exact[1].Value)
	want, err := evaluate.GaussianFisher(m, truth)
	require.NoError(t, err)
	require.InDelta(t, want, exact[0].Value, 1e-9)
	require.Equal(t, "mean_error", exact[2].Name)
	require.InDelta(t, floats.Distance(m.Mean(), g.Mean, 2), exact[2].Value, 1e-9)
	var gap mat.SymDense
	gap.ScaleSym(-1, g.Precision)
	gap.AddSym(&gap, m.Precision())
	require.InDelta(t, mat.Norm(&gap, 2), exact[3].Value, 1e-9)
}

// Warm-up steps come before the first parameter step, whatever its number.
func TestWarmUp(t *testing.T) {
	_, table := testtables.Normal(t, 60, 26)
	fit := func(warm *int) []float64 {
		m := model.NewGaussian(4, model.CholeskyFactor)
		state := &trainers.State{}
		s := fitOf(m, engine.Config{Method: "var", ImputerSteps: 1, Seed: 1}, descent.Passes(1, 0))
		s.Steps.WarmUp = warm
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{State: state})
		require.NoError(t, err)
		require.Equal(t, *r.Spec.Steps.WarmUp+1, state.Engine.ImputerAdam.Steps)
		if warm != nil {
			require.Equal(t, *warm, *r.Spec.Steps.WarmUp)
		} else {
			require.Equal(t, 500, *r.Spec.Steps.WarmUp)
		}
		return m.Packed.Value
	}
	require.NotEqual(t, fit(new(0)), fit(new(40)))
	require.NotEqual(t, fit(new(0)), fit(nil))
}
