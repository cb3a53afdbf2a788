package trainers_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/internal/trainers/inference"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
	"missingscore/trainers/penalty"
)

// Errors of the fit in the table's units; the sampled divergence agrees with the exact one.
func TestErrorsAlongAFit(t *testing.T) {
	g, table := testtables.Normal(t, 100, 27)
	truth := testtables.At(t, g)
	fresh := testtables.Must(g.Sample(20000, stream.New(33, stream.Simulate)))
	for name, sample := range map[string][]float64{"exact": nil, "sampled": fresh.Values} {
		r := estimate(t, table, trainers.Spec{
			Steps: engine.Config{Method: "exact"}, Descent: descent.Passes(5, 0.05),
			Truth: &evaluate.Truth{Model: truth, Sample: sample},
		})
		m, errors := r.Model.Model.(*model.Gaussian), map[string]float64{}
		for _, e := range r.History[4].Errors {
			errors[e.Name] = e.Value
		}
		want := testtables.Must(evaluate.GaussianFisher(m, truth))
		require.InDelta(t, want, errors["fisher_divergence"], 4*errors["fisher_divergence_se"]+1e-9, name)
		require.InDelta(t, floats.Distance(m.Mean(), g.Mean, 2), errors["mean_error"], 1e-9, name)
	}
}

// Within five standard errors of the precision, at most √((P_jj P_kk + P_jk²)/(0.64 n)), plus a
// tenth for the noise of draws.
func TestEveryMethodRecoversANormal(t *testing.T) {
	const n = 800
	rng := stream.New(3, 3)
	g := testtables.Must(simulate.Normal(3, rng))
	whole := testtables.Sampled(t, g, nil, n, 0, rng)
	gaps := testtables.Must(data.HideMCAR(whole, 0.2, rng))
	for _, e := range estimator.All {
		if e.Name == "zeroed" || e.OfMatrix() { // biased; for networks or categories
			continue
		}
		s := trainers.Spec{Steps: engine.Config{Method: e.Name, Seed: 1, Workers: 2}}
		if e.Trains() {
			s.Steps.WarmUp, s.Steps.Imputer.Options = new(200), []byte(`{"hidden":20}`)
		}
		if e.Draws() {
			s.Descent = descent.Passes(30, 0.05)
		}
		table := gaps
		if e.NeedsCompleteRows() {
			table = whole
		}
		r := estimate(t, table, s)
		require.True(t, r.Converged || e.Draws(), "%s: %s", e.Name, r.Verdict)
		m := r.Model.Model.(*model.Gaussian)
		p := g.Precision
		for j := range 3 {
			require.InDelta(t, g.Mean[j], m.Mean()[j], 0.25/math.Sqrt(p.At(j, j)), e.Name)
			for k := range 3 {
				scale := math.Sqrt(p.At(j, j) * p.At(k, k))
				se := math.Sqrt((scale*scale + p.At(j, k)*p.At(j, k)) / (0.64 * n))
				require.InDelta(t, p.At(j, k), m.Precision().At(j, k), 5*se+0.1*scale, "%s %d %d", e.Name, j, k)
			}
		}
	}
}

// Two rows have a and b, and a normal on the line b = 0.1 + 1.2 a has an unbounded likelihood.
func TestLikelihoodWithoutMaximum(t *testing.T) {
	nan := math.NaN()
	table := testtables.Rows([]string{"a", "b", "c"}, []float64{0, 0.1, nan}, []float64{1, 1.3, nan},
		[]float64{-1, nan, 0.3}, []float64{0.5, nan, -0.4}, []float64{2, nan, 0.9}, []float64{-0.3, nan, -1},
		[]float64{0.4, nan, 0.2}, []float64{nan, -1, 0.4}, []float64{nan, 0.7, -0.8}, []float64{nan, 2.2, 1.1},
		[]float64{nan, -0.6, -0.2}, []float64{nan, 0.2, 0.6})
	r := estimate(t, table, trainers.Spec{})
	require.False(t, r.Converged)
	require.Contains(t, r.Verdict, "NOT converged: the likelihood has no maximum")
	require.Contains(t, r.Verdict, "as a and b become collinear: only 2 of 12 rows have all of them")
	p := r.Model.Model.(*model.Gaussian).Precision() // given c, a and b have a slope of −P_ab/P_bb
	require.InDelta(t, 1.2, -p.At(0, 1)/p.At(1, 1), 1e-3)
}

// Few rows of a mixture, which a network overfits.
func TestStopsAtItsBest(t *testing.T) {
	rows, err := simulate.Modes(3, 3, stream.New(6, stream.Simulate)).Sample(200, stream.New(7, stream.Simulate))
	require.NoError(t, err)
	table := testtables.Must(data.HideMCAR(rows, 0.2, stream.New(8, stream.Hide)))
	s := trainers.Spec{
		Model:   trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[16]}`)},
		Steps:   engine.Config{Method: "em-variw", Batch: 40, Draws: 4, ImputerSteps: 2, WarmUp: new(20), Seed: 1},
		Descent: descent.Config{Epochs: 200, Rate: 0.02, Patience: 8},
	}
	r := estimate(t, table, s)
	require.True(t, r.Converged, r.Verdict)
	require.Contains(t, r.Verdict, "has not fallen for 8 epochs; kept the best parameters, of epoch")
	seen := slices.DeleteFunc(slices.Clone(r.History), func(h descent.Record) bool { return math.IsNaN(h.HeldOut) })
	least := slices.MinFunc(seen, func(a, b descent.Record) int { return cmp.Compare(a.HeldOut, b.HeldOut) })
	require.Equal(t, least.Epoch, r.Final.Epoch)
	require.Less(t, r.Final.Epoch, len(r.History))
	require.Equal(t, least.Loss, r.Loss)

	s.Descent.Epochs = r.Final.Epoch
	short := estimate(t, table, s)
	for i, p := range short.Model.Model.Params() {
		require.Equal(t, p.Value, r.Model.Model.Params()[i].Value)
	}
}

func TestHeldOutRowsAreNotLearned(t *testing.T) {
	_, table := testtables.Normal(t, 100, 14)
	fit := func(table *data.Table) ([]float64, []float64, descent.Record) {
		m := model.NewGaussian(4, model.CholeskyFactor)
		r := estimate(t, table, trainers.Spec{
			Model:     trainers.ModelSpec{New: func(int, *rand.Rand) (model.Model, error) { return m, nil }},
			Steps:     engine.Config{Method: "var", Batch: 30, ImputerSteps: 2, Seed: 1, WarmUp: new(0)},
			Descent:   descent.Config{Epochs: 2, Validation: new(0.2), Patience: 5},
			KeepUnits: true,
		})
		return m.Packed.Value, r.Model.Imputer.Params()[0].Value, r.History[0]
	}
	wantModel, wantImputer, before := fit(table)
	for _, i := range stream.New(1, stream.Validate).Perm(100)[:20] {
		floats.AddConst(0.5, table.Values[4*i:4*i+4])
	}
	gotModel, gotImputer, after := fit(table)
	require.Equal(t, wantModel, gotModel)
	require.Equal(t, wantImputer, gotImputer)
	require.Equal(t, before.Loss, after.Loss)
	require.NotEqual(t, before.HeldOut, after.HeldOut)
}

func tenRows(t *testing.T) *data.Table {
	t.Helper()
	table, err := data.NewTable([]string{"a", "b", "c"}, []float64{0.9, -0.4, 0.2, -0.7, 0.8, 1.1, 0.3, -1.0, 0.6, -1.2, -0.3, -0.5,
		0.5, 0.7, -0.9, -0.1, 0.6, 0.4, 1.0, -0.9, 0.3, -0.6, 0.1, -0.8, 0.2, 1.2, 0.7, 0.8, -0.5, -1.0}, nil)
	require.NoError(t, err)
	return table
}

func penalised(method string, p penalty.Config) trainers.Spec {
	return trainers.Spec{Model: trainers.ModelSpec{Kind: "quartic"}, KeepUnits: true,
		Steps: engine.Config{Method: method, Draws: 5, Workers: 2}, Descent: descent.Config{Penalty: p}}
}

// R 4.2.2, the loss mean Σ_j 2D_j + s_j² written out: L1 with θ_jk = u − v, u, v ≥ 0, by optim's
// L-BFGS-B, ridge by its BFGS. Without couplings θ_jj = −¾ E x_j²/E x_j⁶.
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
			s.Steps.Draws = 0
			tolerance := 2e-5
			if by == "adam" { // full batch: no noise, so the same minimum
				s.Descent.Optimiser, s.Descent.Epochs, s.Descent.Rate, tolerance = by, 4000, 3e-3, 2e-3
			}
			r := estimate(t, tenRows(t), s)
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

// At the conditionals of maximum likelihood a Gaussian model has equal weights.
func TestLinearImputerBeginsAtTheLikelihood(t *testing.T) {
	_, table := testtables.Normal(t, 300, 11)
	table = testtables.Must(data.HideMCAR(table, 0.4, stream.New(5, 1)))
	work, _ := data.Standardise(table)
	m := model.NewGaussian(table.D, model.CholeskyFactor)
	p := prepare(t, table, trainers.Spec{Steps: engine.Config{Method: "variw", Imputer: engine.ImputerSpec{Kind: "linear"}}})
	q, err := p.Problem()
	require.NoError(t, err)
	ok, err := descent.Likeliest(t.Context(), q, m, engine.Config{})
	require.NoError(t, err)
	require.True(t, ok)
	q.Model, q.Normal, q.Table = m, m, work
	e, err := engine.New(q, engine.Config{Method: "variw", Draws: 8, Imputer: engine.ImputerSpec{Kind: "linear"}})
	require.NoError(t, err)
	s, err := e.Gradient(0, e.Table.AllRows(), 1.0/300)
	require.NoError(t, err)
	require.InDelta(t, 8, s.EffectiveSize, 1e-6)
	m.SetMean(slices.Repeat([]float64{0.5}, table.D))
	s, err = e.Gradient(0, e.Table.AllRows(), 1.0/300)
	require.NoError(t, err)
	require.Less(t, s.EffectiveSize, 7.9)
}

// A domain that cuts off most of the density, where Adam alone has not arrived after 200 epochs.
func TestGaussianFarOutsideItsDomain(t *testing.T) {
	rng := stream.New(11, stream.Simulate)
	g := testtables.Must(simulate.Normal(3, rng))
	support := domain.All(3)
	for j := range support.Lower {
		support.Lower[j] = g.Mean[j] + 1
	}
	table := testtables.Must(data.HideMCAR(testtables.Must(g.SampleInside(support, 2000, rng)), 0.25, rng))
	r := estimate(t, table, trainers.Spec{Domain: support, Descent: descent.Config{Epochs: 80}, Inference: inference.Config{Kind: "robust"}})
	require.True(t, r.Converged, r.Verdict)
	m, p := r.Model.Model.(*model.Gaussian), r.Model.Uncertainty.Parameters
	found := slices.Concat(m.Mean(), graph.Pack(m.Precision()))
	for i, want := range slices.Concat(g.Mean, graph.Pack(g.Precision)) {
		require.InDelta(t, want, found[i], 3.5**p[i].SE, p[i].Name)
		require.InDelta(t, p[i].Estimate, found[i], 0.5**p[i].SE, p[i].Name) // the root of the equation
	}
}

// A second model that shares the first one's parameters would move the fit.
func TestOneModelForAllCallsIsRefused(t *testing.T) {
	g, table := testtables.Normal(t, 60, 4)
	m := model.NewGaussian(4, model.CholeskyFactor)
	s := trainers.Spec{
		Model:   trainers.ModelSpec{New: func(int, *rand.Rand) (model.Model, error) { return m, nil }},
		Steps:   engine.Config{Method: "iw", Seed: 1},
		Descent: descent.Passes(2, 0.05),
	}
	r := estimate(t, table, s)
	_, err := r.Model.Standardised()
	require.EqualError(t, err, "ModelSpec.New returned the same model twice: it must make a new model at each call")
	s.Truth = &evaluate.Truth{Model: testtables.At(t, g)}
	_, err = trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.ErrorContains(t, err, "with a truth it must make a new one at each call")
}
