package descent_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
	"missingscore/trainers/penalty"
)

func problem(t *testing.T, method string) descent.Problem {
	t.Helper()
	e, err := estimator.ByName(method)
	require.NoError(t, err)
	return descent.Problem{Estimator: e, Model: model.NewGaussian(2, model.CholeskyFactor), Objective: losses.Classical, Rows: 1000, Batch: 100}
}

func TestDefaults(t *testing.T) {
	single := problem(t, "exact")
	single.DType = graph.Float32
	share := new(0.2)
	for _, c := range []struct {
		problem      descent.Problem
		config, want descent.Config
	}{
		{problem(t, "iw"), descent.Config{}, descent.Config{Optimiser: "adam", Epochs: 200, Rate: 0.01, Validation: new(0.0)}},
		{problem(t, "iw"), descent.Config{Validation: share},
			descent.Config{Optimiser: "adam", Epochs: 200, Rate: 0.01, Validation: share, Patience: 30}},
		{problem(t, "exact"), descent.Config{Average: new(0.0)},
			descent.Config{Optimiser: "lbfgs", Iterations: 10000, Tolerance: 1e-9}},
		{single, descent.Config{}, descent.Config{Optimiser: "lbfgs", Iterations: 10000, Tolerance: 1e-4}},
	} {
		got, err := c.config.Resolve(c.problem)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
		again, err := got.Resolve(c.problem)
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
}

func TestSettingErrors(t *testing.T) {
	for _, c := range []struct {
		config       descent.Config
		field, value string
	}{
		{descent.Config{Epochs: -1}, "epochs", "-1"},
		{descent.Config{Rate: -0.1}, "rate", "-0.1"},
		{descent.Config{Rate: math.Inf(1)}, "rate", "+Inf"},
		{descent.Config{Patience: -2}, "patience", "-2"},
		{descent.Config{Iterations: -2}, "iterations", "-2"},
		{descent.Config{Tolerance: math.NaN()}, "tolerance", "NaN"},
		{descent.Config{Validation: new(-0.1)}, "validation", "-0.1"},
		{descent.Config{Validation: new(math.NaN())}, "validation", "NaN"},
		{descent.Config{Average: new(0.6)}, "average", "0.6"},
		{descent.Config{Average: new(math.NaN())}, "average", "NaN"},
		{descent.Config{Optimiser: "sgd"}, "optimiser", "sgd"},
	} {
		_, err := c.config.Resolve(problem(t, "iw"))
		var wrong *setting.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, [2]string{c.field, c.value}, [2]string{wrong.Field, wrong.Value})
	}
	for _, method := range []string{"exact", "em-exact"} {
		_, err := descent.Config{Average: new(0.1)}.Resolve(problem(t, method))
		require.ErrorContains(t, err, "average")
	}
	both := descent.Config{Average: new(0.1), Penalty: penalty.Config{Kind: "l1", Lambda: 0.1}}
	_, err := both.Resolve(problem(t, "iw"))
	require.ErrorContains(t, err, "averaging cannot be combined with a penalty")
}

func TestTrend(t *testing.T) {
	history := func(loss func(epoch int) float64) (h []descent.Record) {
		for i := range 30 {
			h = append(h, descent.Record{Loss: loss(i)})
		}
		return h
	}
	for want, h := range map[string][]descent.Record{
		"converged: in the last 6 epochs the loss changed by 0 ± 0":           history(func(int) float64 { return -3 }),
		"converged: in the last 6 epochs the loss changed by 0 ± 0.18":        history(func(i int) float64 { return 0.28867513459481287 * math.Copysign(1, float64(i%2)-0.5) }), // deviation √(6/5)·0.2887, error √2·0.3162/√6
		"NOT converged: in the last 6 epochs the loss still fell by 12":       history(func(i int) float64 { return 100 - 2*float64(i) }),
		"NOT converged: in the last 6 epochs the loss rose by 12, so the fit": history(func(i int) float64 { return 2 * float64(i) }),
		"NOT converged: 14 epochs are too few to tell; allow more epochs":     history(func(int) float64 { return 1 })[:14],
	} {
		converged, verdict := descent.Trend(h)
		require.Contains(t, verdict, want)
		require.Equal(t, want[:3] == "con", converged)
	}
}

func verdict(t *testing.T, m model.Model, c descent.Config, steps int, best *descent.Best, before *float64, loss func(epoch int) float64) (bool, string) {
	t.Helper()
	c.Optimiser = "adam"
	s := &descent.State{Best: best, Before: before, Iteration: steps}
	for i := range 30 {
		r := descent.Record{Epoch: i + 1, Iteration: steps * (i + 1), HeldOut: loss(i), Loss: -float64(i)}
		if best == nil {
			r.Iteration, r.HeldOut, r.Loss = steps, math.NaN(), loss(i)
		}
		s.History = append(s.History, r)
	}
	f := &descent.Fit{Engine: &engine.Engine{}, Config: c, State: s}
	f.Engine.Model = m
	if best != nil {
		require.Equal(t, 10, f.Final().Epoch)
	}
	return f.Verdict()
}

// A fit that never fell below its start has diverged.
func TestVerdictByHeldOutRows(t *testing.T) {
	const kept = "kept the best parameters, of epoch 10, held-out loss -7 over 40 rows"
	for want, c := range map[string]struct {
		patience int
		before   float64
		loss     func(epoch int) float64
	}{
		"converged: the held-out loss has not fallen for 20 epochs; " + kept:                                 {20, 0, func(int) float64 { return 1 }},
		"converged: the held-out loss stopped falling within 30 epochs; " + kept:                             {21, 0, func(i int) float64 { return float64(i) }},
		"NOT converged: in the last 6 epochs the held-out loss still fell by 12; allow more epochs; " + kept: {21, 0, func(i int) float64 { return -2 * float64(i) }},
		"NOT converged: the held-out loss never fell below its start of -7; use a smaller rate; " + kept:     {20, -7, func(int) float64 { return 1 }},
		"NOT converged: the held-out loss never fell below its start of NaN; use a smaller rate; " + kept:    {20, math.NaN(), func(int) float64 { return 1 }},
	} {
		converged, words := verdict(t, nil, descent.Config{Patience: c.patience}, 100, &descent.Best{Epoch: 10, Loss: -7, Rows: 40}, &c.before, c.loss)
		require.Contains(t, words, want)
		require.Equal(t, want[:3] == "con", converged)
	}
}

// A network at its default rate needs 100 steps, at smaller rates more.
func TestVerdictOfAFitThatBarelyMoved(t *testing.T) {
	energy, err := nets.NewEnergy(2, nets.NetworkOptions{Hidden: []int{4}}, stream.New(1))
	require.NoError(t, err)
	for _, c := range []struct {
		steps     int     // per epoch
		rate      float64 // relative to the network's default
		converged bool
	}{{9, 1, false}, {10, 1, true}, {9, 1.2, true}, {10, 0.9, false}} {
		config := descent.Config{Rate: c.rate * model.TrainingOf(energy).Rate}
		check := func(converged bool, words, want string) {
			require.Equal(t, c.converged, converged, words)
			if !converged {
				require.Contains(t, words, fmt.Sprintf(want, 10*c.steps))
			}
		}
		converged, words := verdict(t, energy, config, 10*c.steps, nil, nil, func(i int) float64 { return float64(i % 2) })
		check(converged, words, "NOT converged: %d steps are too few; allow more epochs")
		for patience, advice := range map[int]string{20: "use more rows", 40: "allow more epochs"} { // by why the fit ended
			config.Patience = patience
			converged, words = verdict(t, energy, config, c.steps, &descent.Best{Epoch: 10, Loss: -7}, nil,
				func(i int) float64 { return float64(i) })
			check(converged, words, "NOT converged: the held-out loss was least after only %d steps; "+advice)
		}
	}
}

func TestPatienceOfSmallTables(t *testing.T) {
	energy, err := nets.NewEnergy(2, nets.NetworkOptions{Hidden: []int{4}}, stream.New(1))
	require.NoError(t, err)
	for rows, want := range map[int]int{150: 250, 400: 125, 2000: 30, 100_000: 30} { // batches of 100 of nine tenths of the rows
		p := problem(t, "iw")
		p.Model, p.Rows = energy, rows
		c, err := descent.Config{}.Resolve(p)
		require.NoError(t, err)
		require.Equal(t, want, c.Patience, "%d rows", rows)
	}
}

// With rounding 1e-13 a relative gradient of 3e-7 is converged.
func TestVerdictOfAMinimisation(t *testing.T) {
	for want, c := range map[string]struct {
		gradient float64
		stuck    bool
		stall    descent.Stall
		promised float64
	}{
		"converged: the relative gradient is 9e-10 after 7 iterations":                                                      {9e-10, false, descent.Stall{}, 0},
		"converged: no step lowers the loss after 7 iterations; the relative gradient is 3e-07":                             {3e-7, true, descent.Stall{}, 0},
		"NOT converged: after 7 iterations no step lowers the loss, but the relative gradient is 4e-07":                     {4e-7, true, descent.Stall{Count: 99, Rose: 40}, 1e-13},
		"NOT converged: after 7 iterations the relative gradient is 2e-09, not below 1e-09; allow more iterations, or look": {2e-9, false, descent.Stall{Count: 100, Rose: 40}, 0},
		"converged to rounding error: of the last 100 of 7 iterations 40 raised the loss":                                   {4e-7, true, descent.Stall{Count: 100, Rose: 40}, 1e-13},
		"NOT converged: after 7 iterations no step lowers the loss, but the relative gradient is 5e-07":                     {5e-7, true, descent.Stall{Count: 100, Rose: 40}, 2e-13},
	} {
		f := &descent.Fit{Engine: &engine.Engine{}, Config: descent.Config{Optimiser: "lbfgs", Tolerance: 1e-9},
			State: &descent.State{Iteration: 7, Stuck: c.stuck, Stall: c.stall, Decrement: c.promised, History: []descent.Record{{Gradient: 1}, {Iteration: 7, Gradient: c.gradient}}}}
		converged, verdict := f.Verdict()
		require.Contains(t, verdict, want)
		require.Equal(t, want[:3] == "con", converged)
	}
}

func TestWriteHistory(t *testing.T) {
	nan := math.NaN()
	for want, h := range map[string][]descent.Record{
		"iteration,epoch,loss,effective_sample_size,mean_error\n5,1,-1.5,,0.25\n10,2,-2,4.5,0.125\n": {
			{Epoch: 1, Iteration: 5, Loss: -1.5, EffectiveSize: nan, HeldOut: nan, Gradient: nan, Errors: []evaluate.Error{{Name: "mean_error", Value: 0.25}}},
			{Epoch: 2, Iteration: 10, Loss: -2, EffectiveSize: 4.5, HeldOut: nan, Gradient: nan, Errors: []evaluate.Error{{Name: "mean_error", Value: 0.125}}},
		},
		"iteration,epoch,loss,effective_sample_size,held_out_loss\n5,1,-1.5,,-1\n": {{Epoch: 1, Iteration: 5, Loss: -1.5, EffectiveSize: nan, HeldOut: -1, Gradient: nan}},
		"iteration,loss,relative_gradient,mean_error\n0,-1.5,0.5,2\n1,-2,0,1\n": {
			{Loss: -1.5, EffectiveSize: nan, HeldOut: nan, Gradient: 0.5, Errors: []evaluate.Error{{Name: "mean_error", Value: 2}}},
			{Iteration: 1, Loss: -2, EffectiveSize: nan, HeldOut: nan, Errors: []evaluate.Error{{Name: "mean_error", Value: 1}}},
		},
	} {
		var b bytes.Buffer
		require.NoError(t, descent.WriteHistory(&b, h))
		require.Equal(t, want, b.String())
	}
}
