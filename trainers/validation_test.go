package trainers_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// modes are rows of a mixture with gaps, of few enough rows for a network to overfit.
func modes(t *testing.T, n int) *data.Table {
	t.Helper()
	rows, err := simulate.Modes(3, 3, stream.New(6, stream.Simulate)).Sample(n, stream.New(7, stream.Simulate))
	require.NoError(t, err)
	table, err := data.HideMCAR(rows, 0.2, stream.New(8, stream.Hide))
	require.NoError(t, err)
	return table
}

// energySpec is an overfitting fit with rows held out.
func energySpec(method string) trainers.Spec {
	return trainers.Spec{
		Model:   trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[16]}`)},
		Steps:   engine.Config{Method: method, Batch: 40, Draws: 4, ImputerSteps: 2, WarmUp: new(20), Seed: 1},
		Descent: descent.Config{Epochs: 200, Rate: 0.02, Patience: 8},
	}
}

// A fit stops by its held-out loss and has the parameters of its best epoch: those of a
// fit that ends there.
func TestStopsAtItsBest(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and this is one of estimates, not of workers")
	}
	table := modes(t, 200)
	for _, method := range []string{"zeroed", "iw", "em-full", "em-variw", "em-chains"} {
		s := energySpec(method)
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		require.True(t, r.Converged, r.Verdict)
		require.Contains(t, r.Verdict, "has not fallen for 8 epochs; best at epoch")
		least := slices.MinFunc(r.History, func(a, b descent.Record) int {
			if a.HeldOut < b.HeldOut {
				return -1
			}
			return 1
		})
		require.Equal(t, least.Epoch, r.Final.Epoch)
		require.Less(t, r.Final.Epoch, len(r.History))
		require.Equal(t, least.Loss, r.Loss)

		s.Descent.Epochs = r.Final.Epoch
		short, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		require.Equal(t, short.Model.Model.Params()[0].Value, r.Model.Model.Params()[0].Value)
	}
}

// Cut wherever, also after its best epoch, and taken up again from its file, a fit with
// held-out rows is one never cut.
func TestHeldOutCutAndResumed(t *testing.T) {
	table := modes(t, 120)
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		s := energySpec("var")
		s.Steps.DType, s.Descent.Patience, s.Descent.Epochs = dtype, 4, 30
		whole, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		text, err := whole.Encode()
		require.NoError(t, err)
		last := whole.History[len(whole.History)-1].Iteration
		for _, at := range []int{2, last / 2, last - 1, last} {
			ctx, cancel := context.WithCancel(t.Context())
			cut, file := s, t.TempDir()+"/state"
			cut.Steps.Observe = func(p engine.Progress) {
				if p.Iteration == at {
					cancel()
				}
			}
			_, err := trainers.Estimate(ctx, table, cut, trainers.Run{Save: func(s *trainers.State) error { return s.Save(file) }})
			if at < last {
				require.ErrorIs(t, err, context.Canceled)
			}
			state, err := trainers.LoadState(file)
			require.NoError(t, err)
			r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{State: state})
			require.NoError(t, err)
			again, err := r.Encode()
			require.NoError(t, err)
			require.Equal(t, string(text), string(again), "cut at %d of %d", at, last)
		}
	}
}

// What stands in held-out rows moves no parameter, neither the model's nor the imputer's,
// but their loss.
func TestHeldOutRowsAreNotLearned(t *testing.T) {
	_, table := testtables.Normal(t, 100, 14)
	fit := func(t *testing.T, table *data.Table) ([]float64, []float64, descent.Record) {
		m := model.NewGaussian(4, model.CholeskyFactor)
		r, err := trainers.Estimate(t.Context(), table, fitOf(m, engine.Config{Method: "var", Batch: 30, ImputerSteps: 2, Seed: 1}, descent.Config{Epochs: 2, Validation: new(0.2), Patience: 5}), trainers.Run{})
		require.NoError(t, err)
		return m.Packed.Value, r.Model.Imputer.Params()[0].Value, r.History[0]
	}
	wantModel, wantImputer, before := fit(t, table)
	held := stream.New(1, stream.Validate).Perm(100)[:20]
	other := *table
	other.Values = slices.Clone(table.Values)
	for _, i := range held {
		for j := range 4 {
			other.Values[4*i+j] += 0.5
		}
	}
	gotModel, gotImputer, after := fit(t, &other)
	require.Equal(t, wantModel, gotModel)
	require.Equal(t, wantImputer, gotImputer)
	require.Equal(t, before.Loss, after.Loss)
	require.NotEqual(t, before.HeldOut, after.HeldOut)
}

// The held-out loss is that of the rows: of a method without draws its own, of em the
// marginal loss, whose mean over many draws is the closed form's. Draws are the same each time.
func TestHeldOutLoss(t *testing.T) {
	g, table := testtables.Normal(t, 200, 15)
	m := testtables.At(t, g)
	loss := func(method string, draws int) float64 {
		e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}, engine.Config{Method: method, Draws: draws, Batch: 150, Seed: 2, ProposalSD: 2})
		require.NoError(t, err)
		h, err := e.HoldOut(e.Table, e.AllRows())
		require.NoError(t, err)
		mean, err := h.Loss()
		require.NoError(t, err)
		again, err := h.Loss()
		require.NoError(t, err)
		require.Equal(t, mean, again)
		return mean
	}
	own := func(method string) float64 {
		l, _, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}, engine.Config{Method: method, Batch: 50}, 0)
		require.NoError(t, err)
		return l
	}
	exact := loss("exact", 0)
	require.InEpsilon(t, own("exact"), exact, 1e-12)
	require.InEpsilon(t, own("zeroed"), loss("zeroed", 0), 1e-12)
	require.InEpsilon(t, exact, loss("em-exact", 0), 1e-12)
	require.Greater(t, math.Abs(own("em-exact")-exact), 0.05*math.Abs(exact))
	require.InEpsilon(t, exact, loss("em", 3000), 0.02)
	l, _, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}, engine.Config{Method: "em", Batch: 50, Draws: 3000, ProposalSD: 2}, 0)
	require.NoError(t, err)
	require.Greater(t, math.Abs(l-exact), 0.05*math.Abs(exact))
}
