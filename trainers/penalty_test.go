package trainers_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/penalty"
)

// tenRows are ten rows of three columns, without gaps.
func tenRows(t *testing.T) *data.Table {
	t.Helper()
	table, err := data.NewTable([]string{"a", "b", "c"}, []float64{0.9, -0.4, 0.2, -0.7, 0.8, 1.1, 0.3, -1.0, 0.6, -1.2, -0.3, -0.5,
		0.5, 0.7, -0.9, -0.1, 0.6, 0.4, 1.0, -0.9, 0.3, -0.6, 0.1, -0.8, 0.2, 1.2, 0.7, 0.8, -0.5, -1.0}, nil)
	require.NoError(t, err)
	return table
}

// penalised is a quartic model in the table's units with a penalty.
func penalised(method string, p penalty.Config) trainers.Spec {
	return trainers.Spec{Model: trainers.ModelSpec{Kind: "quartic"}, KeepUnits: true,
		Steps: engine.Config{Method: method, Draws: 5, Workers: 2}, Descent: descent.Config{Penalty: p}}
}

// R 4.2.2, the loss mean Σ_j 2D_j + s_j² of the rows written out: L1 with θ_jk = u − v, u, v ≥ 0,
// by optim's L-BFGS-B, ridge by its BFGS. Where all couplings are 0, θ_jj = −¾ E x_j²/E x_j⁶.
func TestPenalisedQuarticIsThatOfR(t *testing.T) {
	for _, c := range []struct {
		kind   string
		lambda float64
		want   []float64 // diagonal, then (1, 2), (1, 3), (2, 3)
		loss   float64
	}{
		{"l1", 2, []float64{-0.769452456, -0.909812120, -1.156537306, -0.021992716, 0, 0.273423261}, -16.737407603},
		{"l1", 3.87, []float64{-0.77565982, -0.79315919, -1.01000943, 0, 0, 0}, -15.89252191},
		{"l1", 4, []float64{-0.77565982, -0.79315919, -1.01000943, 0, 0, 0}, -15.89252191},
		{"ridge", 2, []float64{-0.75289891, -0.93111670, -1.37880392, -0.32538922, 0.23277216, 0.48086346}, -17.66973373},
		{"ridge", 20, []float64{-0.769607485, -0.840128295, -1.115656190, -0.080012934, 0.055703776, 0.147527315}, -16.601656796},
	} {
		for _, by := range []string{"proximal", "adam"} {
			s := penalised("full", penalty.Config{Kind: c.kind, Lambda: c.lambda})
			tolerance := 2e-5
			if by == "adam" { // all rows in a batch: no noise, so that it ends at the same minimum
				s.Descent.Optimiser, s.Descent.Epochs, s.Descent.Rate, tolerance = by, 4000, 3e-3, 2e-3
			}
			r, err := trainers.Estimate(t.Context(), tenRows(t), s, trainers.Run{})
			require.NoError(t, err)
			require.True(t, r.Converged, r.Verdict)
			theta := r.Model.Model.(*model.Quartic).Theta()
			got := []float64{theta.At(0, 0), theta.At(1, 1), theta.At(2, 2), theta.At(0, 1), theta.At(0, 2), theta.At(1, 2)}
			require.InDeltaSlice(t, c.want, got, tolerance, "%s %g by %s", c.kind, c.lambda, by)
			require.InDelta(t, c.loss, r.Final.Loss, 10*tolerance)
			zeros := 0
			for i, v := range c.want {
				if v == 0 {
					require.Zero(t, got[i], "exactly 0")
					zeros++
				}
			}
			require.Equal(t, &penalty.Outcome{Kind: c.kind, Lambda: c.lambda, Coupled: 3 - zeros, Pairs: 3}, r.Penalty)
		}
	}
}

// coupledTable is a table of a quartic model, with gaps if asked for.
func coupledTable(t *testing.T, n int, missing float64) *data.Table {
	t.Helper()
	theta, err := simulate.Quartic(4, stream.New(7, 1))
	require.NoError(t, err)
	m := model.NewQuartic(4)
	require.NoError(t, m.SetTheta(theta))
	table := fromChains(t, m, n, 1)(0)
	if missing > 0 {
		table, err = data.HideMCAR(table, missing, stream.New(7, 2))
		require.NoError(t, err)
	}
	return table
}

// λ by cross-validation is the one whose fits on all folds but one have the least loss on
// that one, each fit made here by itself.
func TestLambdaIsThatOfTheLeastHeldOutLoss(t *testing.T) {
	table := coupledTable(t, 60, 0)
	r, err := trainers.Estimate(t.Context(), table, penalised("full", penalty.Config{Kind: "l1", Folds: 3, Lambdas: 4}), trainers.Run{})
	require.NoError(t, err)
	require.Len(t, r.Penalty.Curve, 4)
	perm := stream.New(0, stream.Validate).Perm(60)
	least, at := math.Inf(1), 0.0
	for _, p := range r.Penalty.Curve {
		sum := 0.0
		for k := range 3 {
			var in, out []int
			for i, row := range perm {
				if i%3 == k {
					out = append(out, row)
				} else {
					in = append(in, row)
				}
			}
			learned, err := table.Rows(in)
			require.NoError(t, err)
			fit, err := trainers.Estimate(t.Context(), learned, penalised("full", penalty.Config{Kind: "l1", Lambda: p.Lambda}), trainers.Run{})
			require.NoError(t, err)
			theta := fit.Model.Model.(*model.Quartic).Theta()
			for _, row := range out {
				for j := range 4 { // 2D + s², written out
					x, weighted := table.Values[row*4+j], 0.0
					for l := range 4 {
						weighted += theta.At(j, l) * table.Values[row*4+l] * table.Values[row*4+l]
					}
					sum += 8*weighted + 16*theta.At(j, j)*x*x + 16*x*x*weighted*weighted
				}
			}
		}
		require.InDelta(t, sum/60, p.Loss, 1e-4*math.Abs(p.Loss), "λ %g", p.Lambda)
		if p.Loss < least {
			least, at = p.Loss, p.Lambda
		}
	}
	require.Equal(t, at, r.Penalty.Lambda)
	require.InEpsilon(t, 200, r.Penalty.Curve[0].Lambda/r.Penalty.Curve[3].Lambda, 1e-9)
	alone, err := trainers.Estimate(t.Context(), table, penalised("full", penalty.Config{Kind: "l1", Lambda: at}), trainers.Run{})
	require.NoError(t, err)
	require.InDeltaSlice(t, alone.Model.Model.(*model.Quartic).Packed.Value, r.Model.Model.(*model.Quartic).Packed.Value, 1e-5)

	// At the largest λ no coupling is left, at one a little smaller there is one.
	for by, coupled := range map[float64]bool{1.0001: false, 0.98: true} {
		fit, err := trainers.Estimate(t.Context(), table, penalised("full", penalty.Config{Kind: "l1", Lambda: by * r.Penalty.Curve[0].Lambda}), trainers.Run{})
		require.NoError(t, err)
		require.Equal(t, coupled, fit.Penalty.Coupled > 0, "%g times the largest", by)
	}
}

// A fit that is cut at every so manieth save and taken up again is the one that never was, by
// any number of workers.
func TestPenalisedFitsResume(t *testing.T) {
	for _, method := range []string{"zeroed", "iw", "var"} {
		t.Run(method, func(t *testing.T) {
			table := coupledTable(t, 80, 0.3)
			s := penalised(method, penalty.Config{Kind: "l1", Folds: 2, Lambdas: 3})
			s.Steps.WarmUp, s.Steps.ImputerSteps, s.Steps.Batch = new(3), 1, 20
			s.Steps.Imputer.Options = []byte(`{"hidden":4}`)
			if method != "zeroed" {
				s.Descent.Epochs = 3
			}
			whole, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err)
			want, err := whole.Encode()
			require.NoError(t, err)
			for _, every := range []int{2, 5} {
				s.Steps.Workers = 3
				state := &trainers.State{}
				path := t.TempDir() + "/state"
				for cuts := 0; ; cuts++ {
					require.Less(t, cuts, 500)
					saves := 0
					ctx, cancel := context.WithCancel(t.Context())
					r, err := trainers.Estimate(ctx, table, s, trainers.Run{State: state, Save: func(now *trainers.State) error {
						if saves++; saves == every {
							cancel()
						}
						return now.Save(path)
					}})
					cancel()
					if err == nil {
						got, err := r.Encode()
						require.NoError(t, err)
						require.Equal(t, string(want), string(got), fmt.Sprint(every))
						require.Equal(t, fmt.Sprint(whole.History), fmt.Sprint(r.History))
						break
					}
					require.ErrorIs(t, err, context.Canceled)
					state, err = trainers.LoadState(path)
					require.NoError(t, err)
				}
			}
		})
	}
}

// Where the loss falls towards coefficients without a density, the fit ends on their border, no
// higher than where L-BFGS ends, which has −θ = LLᵀ, and with a θ that is integrable.
func TestPenalisedFitsStayIntegrable(t *testing.T) {
	const n = 14
	rng, values := stream.New(7, 3), make([]float64, 4*n)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	table, err := data.NewTable([]string{"a", "b", "c", "d"}, values, slices.Repeat([]bool{true}, 4*n))
	require.NoError(t, err)
	s := penalised("full", penalty.Config{Kind: "l1", Lambda: 1e-6})
	r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	var e mat.EigenSym
	require.True(t, e.Factorize(r.Model.Model.(*model.Quartic).Theta(), false))
	require.InDelta(t, -5e-4, e.Values(nil)[3], 1e-8, "on the border: a thousandth of the start's ½")
	s.Descent.Penalty = penalty.Config{}
	free, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.InDelta(t, free.Final.Loss, r.Final.Loss, 2e-3*math.Abs(free.Final.Loss))
}

func TestPenaltyRefusals(t *testing.T) {
	table := coupledTable(t, 40, 0.2)
	for want, s := range map[string]trainers.Spec{
		"this model does not":            {Model: trainers.ModelSpec{Kind: "energy"}, Descent: descent.Config{Penalty: penalty.Config{Kind: "l1"}}},
		"the command network":            {Descent: descent.Config{Penalty: penalty.Config{Kind: "l1"}}},
		"it is one of none, l1, ridge":   penalised("iw", penalty.Config{Kind: "l2"}),
		"from 2 folds":                   penalised("iw", penalty.Config{Kind: "l1", Folds: 21}),
		"there is none: name one":        penalised("iw", penalty.Config{Lambda: 1}),
		"it is a positive number, cv or": penalised("iw", penalty.Config{Kind: "l1", Lambda: -1}),
	} {
		_, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		var wrong *trainers.SettingError
		require.ErrorAs(t, err, &wrong, want)
		require.ErrorContains(t, err, want)
	}
	s := penalised("zeroed", penalty.Config{Kind: "l1", Lambda: 1})
	s.Descent.Optimiser = "lbfgs"
	_, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.ErrorContains(t, err, "by proximal or adam")
	s.Descent.Penalty, s.Descent.Optimiser = penalty.Config{}, "proximal"
	_, err = trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.ErrorContains(t, err, "for fits with a penalty")
}
