package trainers_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// On a complete table the Gaussian's minimum is P = S⁻¹ with S over n, at the mean of the
// rows, in the table's units: also of few rows, and of columns in unlike units.
func TestFullGaussianIsTheInverseCovariance(t *testing.T) {
	for _, n := range []int{62, 500} {
		g, err := simulate.Normal(6, stream.New(uint64(n), 3))
		require.NoError(t, err)
		table, err := g.Sample(n, stream.New(uint64(n), 4))
		require.NoError(t, err)
		for i := range table.Values {
			table.Values[i] = 5 + table.Values[i]*math.Pow(10, float64(i%6)-2)
		}
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: "full"}}, trainers.Run{})
		require.NoError(t, err)
		require.True(t, r.Converged, r.Verdict)
		var s, want mat.SymDense
		rows := mat.NewDense(n, 6, table.Values)
		stat.CovarianceMatrix(&s, rows, nil)
		s.ScaleSym(float64(n-1)/float64(n), &s)
		var c mat.Cholesky
		require.True(t, c.Factorize(&s))
		require.NoError(t, c.InverseTo(&want))
		got := r.Model.Model.(*model.Gaussian)
		for j := range 6 {
			require.InEpsilon(t, stat.Mean(mat.Col(nil, j, rows), nil), got.Mean()[j], 1e-8)
			for k := range 6 {
				require.InDelta(t, want.At(j, k), got.Precision().At(j, k), 1e-8*math.Sqrt(want.At(j, j)*want.At(k, k)))
			}
		}
	}
}

// marginalLoss is the marginal loss of N(μ, (LLᵀ)⁻¹) written out, row by row with
// Q = Σ_ΛΛ⁻¹: mean over rows of −2 tr Q + ‖Q(x_Λ − μ_Λ)‖². θ is μ, then L's rows with the
// logarithms of its diagonal.
func marginalLoss(t *data.Table, theta []float64) float64 {
	d := t.D
	l := mat.NewTriDense(d, mat.Lower, nil)
	for j, at := 0, d; j < d; j++ {
		for k := 0; k <= j; k, at = k+1, at+1 {
			if v := theta[at]; k == j {
				l.SetTri(j, j, math.Exp(v))
			} else {
				l.SetTri(j, k, v)
			}
		}
	}
	var p, sigma mat.SymDense
	p.SymOuterK(1, l)
	var c mat.Cholesky
	if !c.Factorize(&p) || c.InverseTo(&sigma) != nil {
		return math.Inf(1)
	}
	total := 0.0
	for i := range t.N {
		var seen []int
		for j := range d {
			if t.Observed[i*d+j] {
				seen = append(seen, j)
			}
		}
		if len(seen) == 0 {
			continue
		}
		of, x := mat.NewSymDense(len(seen), nil), mat.NewVecDense(len(seen), nil)
		for a, j := range seen {
			x.SetVec(a, t.Values[i*d+j]-theta[j])
			for b, k := range seen {
				of.SetSym(a, b, sigma.At(j, k))
			}
		}
		var q mat.SymDense
		if !c.Factorize(of) || c.InverseTo(&q) != nil {
			return math.Inf(1)
		}
		var s mat.VecDense
		s.MulVec(&q, x)
		total += mat.Dot(&s, &s) - 2*mat.Trace(&q)
	}
	return total / float64(t.N)
}

// factored are the parameters of marginalLoss that a Gaussian has.
func factored(g *model.Gaussian) []float64 {
	var c mat.Cholesky
	c.Factorize(g.Precision())
	var l mat.TriDense
	c.LTo(&l)
	theta := g.Mean()
	for j := range g.Dim() {
		for k := range j {
			theta = append(theta, l.At(j, k))
		}
		theta = append(theta, math.Log(l.At(j, j)))
	}
	return theta
}

// With gaps, at the end of exact the loss written out has no slope by differences, and
// another optimiser comes to the same place from the same start.
func TestExactEndsAtTheMinimum(t *testing.T) {
	_, table := testtables.Normal(t, 62, 8)
	table, _ = data.Standardise(table)
	m := model.NewGaussian(4, model.CholeskyFactor)
	start := factored(m)
	r, err := trainers.Estimate(t.Context(), table, fitOf(m, engine.Config{Method: "exact"}, descent.Config{Tolerance: 1e-11}), trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	theta := factored(m)
	f := func(x []float64) float64 { return marginalLoss(table, x) }
	require.InEpsilon(t, f(theta), r.Loss, 1e-12)
	slope := func(x []float64) []float64 {
		return fd.Gradient(nil, f, x, &fd.Settings{Formula: fd.Formula{Stencil: []fd.Point{{Loc: -2, Coeff: 1. / 12}, {Loc: -1, Coeff: -2. / 3}, {Loc: 1, Coeff: 2. / 3}, {Loc: 2, Coeff: -1. / 12}}, Derivative: 1, Step: 1e-3}})
	}
	require.Greater(t, floats.Norm(slope(start), math.Inf(1)), 0.1)
	require.Less(t, floats.Norm(slope(theta), math.Inf(1)), 1e-8)
	other, err := optimize.Minimize(optimize.Problem{Func: f, Grad: func(g, x []float64) { copy(g, slope(x)) }}, start,
		&optimize.Settings{GradientThreshold: 1e-8, Converger: optimize.NeverTerminate{}}, &optimize.BFGS{})
	require.NoError(t, err)
	require.InDeltaSlice(t, other.X, theta, 1e-6)
}

// More iterations never give a higher loss: the end of every shorter fit is a point of the
// longer one.
func TestMoreIterationsAreNeverWorse(t *testing.T) {
	_, table := testtables.Normal(t, 62, 9)
	before := math.Inf(1)
	for iterations := 1; iterations <= 40; iterations++ {
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: "exact"}, Descent: descent.Config{Iterations: iterations}}, trainers.Run{})
		require.NoError(t, err)
		require.LessOrEqual(t, r.Loss, before+1e-12*math.Abs(before))
		before = r.Loss
		require.Equal(t, iterations, max(iterations, r.Final.Iteration), r.Verdict)
		if iterations == 40 {
			require.True(t, r.Converged, r.Verdict)
		}
	}
}

// roundRows have columns about 0 with short tails, the second larger where the first is.
func roundRows(t *testing.T, n int) *data.Table {
	t.Helper()
	rng := stream.New(4, stream.Simulate)
	var x []float64
	for range n {
		u := 2*rng.Float64() - 1
		x = append(x, u, (1+u*u)*(2*rng.Float64()-1), 2*rng.Float64()-1)
	}
	table, err := data.NewTable([]string{"a", "b", "c"}, x, nil)
	require.NoError(t, err)
	return table
}

// Of every model whose loss is a function, without draws in method or objective.
func TestMinimisedModels(t *testing.T) {
	_, gaps := testtables.Normal(t, 300, 10)
	complete, err := gaps.CompleteRows()
	require.NoError(t, err)
	rows := roundRows(t, 400)
	holes, err := data.HideMCAR(rows, 0.3, stream.New(5, stream.Hide))
	require.NoError(t, err)
	for _, c := range []struct {
		kind, method, objective string
		options                 string
		table                   *data.Table
	}{
		{"gaussian", "exact", "classical", "", gaps},
		{"gaussian", "zeroed", "classical", "", gaps},
		{"gaussian-natural", "zeroed", "classical", "", gaps},
		{"gaussian-natural", "full", "classical", "", complete},
		{"gaussian", "full", "sliced", `{"directions":"basis"}`, complete},
		{"quartic", "full", "classical", "", rows},
		{"quartic", "zeroed", "classical", "", holes},
		{"mixture", "full", "classical", `{"components":1}`, complete}, // with more the loss has no minimum
	} {
		t.Run(fmt.Sprintf("%s %s %s", c.kind, c.method, c.objective), func(t *testing.T) {
			s := trainers.Spec{Model: trainers.ModelSpec{Kind: c.kind}, Objective: trainers.ObjectiveSpec{Kind: c.objective}, Steps: engine.Config{Method: c.method}}
			if c.kind == "mixture" {
				s.Model.Options, s.Descent.Optimiser = []byte(c.options), "lbfgs" // which is not its default
			} else {
				s.Objective.Options = []byte(c.options)
			}
			r, err := trainers.Estimate(t.Context(), c.table, s, trainers.Run{})
			require.NoError(t, err)
			require.Equal(t, "lbfgs", r.Spec.Descent.Optimiser)
			require.True(t, r.Converged, r.Verdict)
			for i, h := range r.History[1:] {
				require.LessOrEqual(t, h.Loss, r.History[i].Loss+1e-11*math.Abs(h.Loss))
			}
		})
	}
}

// Where there is noise, or a minimum that is no good fit, Adam stays the default; and
// settings of one optimiser are refused by the other.
func TestOptimisers(t *testing.T) {
	_, gaps := testtables.Normal(t, 150, 11)
	for _, c := range []struct {
		spec             trainers.Spec
		optimiser, field string
		validation       float64
	}{
		{trainers.Spec{Steps: engine.Config{Method: "iw"}}, "adam", "", 0},
		{trainers.Spec{Steps: engine.Config{Method: "em-exact"}}, "em", "", 0},
		{trainers.Spec{Steps: engine.Config{Method: "em-exact"}, Descent: descent.Passes(3, 0)}, "adam", "", 0},
		{trainers.Spec{Steps: engine.Config{Method: "exact"}, Descent: descent.Config{Optimiser: "em"}}, "", "optimiser", 0},
		{trainers.Spec{Steps: engine.Config{Method: "em-exact"}, Descent: descent.Config{Optimiser: "em", Epochs: 3}}, "", "epochs", 0},
		{trainers.Spec{Steps: engine.Config{Method: "zeroed"}, Objective: trainers.ObjectiveSpec{Kind: "sliced"}}, "adam", "", 0},
		{trainers.Spec{Steps: engine.Config{Method: "zeroed"}, Model: trainers.ModelSpec{Kind: "energy"}}, "adam", "", 0.1},
		{trainers.Spec{Steps: engine.Config{Method: "iw"}, Model: trainers.ModelSpec{Kind: "mixture"}}, "adam", "", 0.1},
		{trainers.Spec{Steps: engine.Config{Method: "zeroed"}, Model: trainers.ModelSpec{Kind: "quartic"}, KeepUnits: true}, "lbfgs", "", 0},
		{trainers.Spec{Steps: engine.Config{Method: "zeroed"}}, "lbfgs", "", 0},
		{trainers.Spec{Steps: engine.Config{Method: "zeroed"}, Descent: descent.Passes(3, 0)}, "adam", "", 0},
		{trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Config{Optimiser: "lbfgs"}}, "", "optimiser", 0},
		{trainers.Spec{Steps: engine.Config{Method: "em-exact"}, Descent: descent.Config{Optimiser: "lbfgs"}}, "", "optimiser", 0},
		{trainers.Spec{Steps: engine.Config{Method: "zeroed"}, Objective: trainers.ObjectiveSpec{Kind: "sliced"}, Descent: descent.Config{Optimiser: "lbfgs"}}, "", "optimiser", 0},
		{trainers.Spec{Descent: descent.Config{Optimiser: "newton"}}, "", "optimiser", 0},
		{trainers.Spec{Descent: descent.Config{Epochs: 3}}, "", "epochs", 0},
		{trainers.Spec{Descent: descent.Config{Rate: 3}}, "", "rate", 0},
		{trainers.Spec{Descent: descent.Config{Validation: new(0.1)}}, "", "validation", 0},
		{trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Config{Validation: new(0.005)}}, "", "validation", 0},
		{trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Config{Validation: new(0.6)}}, "", "validation", 0},
		{trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Config{Patience: 3}}, "", "patience", 0},
		{trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Config{Iterations: 3}}, "", "iterations", 0},
		{trainers.Spec{Steps: engine.Config{Method: "iw"}, Descent: descent.Config{Tolerance: 1}}, "", "tolerance", 0},
	} {
		p, err := trainers.Prepare(gaps, c.spec)
		if c.field != "" {
			var wrong *trainers.SettingError
			require.ErrorAs(t, err, &wrong, "%+v", c)
			require.Equal(t, c.field, wrong.Field)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.optimiser, p.Spec.Descent.Optimiser, "%+v", c)
		if c.optimiser == "adam" {
			require.Equal(t, c.validation, *p.Spec.Descent.Validation, "%+v", c)
		}
	}
}

// A minimisation that is cut, wherever, and taken up again from its file is one never cut.
func TestMinimisationCutAndResumed(t *testing.T) {
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		_, table := testtables.Normal(t, 80, 12)
		c := engine.Config{Method: "exact", Batch: 30, DType: dtype}
		fit := func(ctx context.Context, c engine.Config, run trainers.Run) (*model.Gaussian, *trainers.Result, error) {
			m := model.NewGaussian(4, model.CholeskyFactor)
			r, err := trainers.Estimate(ctx, table, fitOf(m, c, descent.Config{}), run)
			return m, r, err
		}
		want, whole, err := fit(t.Context(), c, trainers.Run{})
		require.NoError(t, err)
		require.True(t, whole.Converged, whole.Verdict)
		for at := 1; at < whole.Final.Iteration; at += 4 {
			ctx, cancel := context.WithCancel(t.Context())
			cut, file := c, t.TempDir()+"/state"
			cut.Observe = func(p engine.Progress) {
				if p.Iteration == at {
					cancel()
				}
			}
			_, _, err = fit(ctx, cut, trainers.Run{Save: func(s *trainers.State) error { return s.Save(file) }})
			require.ErrorIs(t, err, context.Canceled)
			state, err := trainers.LoadState(file)
			require.NoError(t, err)
			require.Equal(t, at, state.Descent.Iteration)
			got, r, err := fit(t.Context(), c, trainers.Run{State: state})
			require.NoError(t, err)
			require.Equal(t, want.Packed.Value, got.Packed.Value)
			require.Equal(t, want.Location.Value, got.Location.Value)
			require.Len(t, r.History, len(whole.History))
			require.Equal(t, whole.Verdict, r.Verdict)
		}
	}
}

// A tolerance that rounding does not allow is not reached, and nothing is lost by it.
func TestToleranceBelowRounding(t *testing.T) {
	_, table := testtables.Normal(t, 80, 12)
	s := trainers.Spec{Steps: engine.Config{Method: "exact"}}
	want, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	s.Descent = descent.Config{Tolerance: 1e-300, Iterations: 500}
	r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.InEpsilon(t, want.Loss, r.Loss, 1e-12)
	require.Less(t, r.Final.Gradient, 1e-12)
	require.LessOrEqual(t, r.Final.Iteration, 500)
}

// Two copies of a column have no finite precision: that is said, and no number is lost.
func TestDependentColumnsDoNotConverge(t *testing.T) {
	_, table := testtables.Normal(t, 80, 13)
	for i := range table.N {
		table.Values[4*i+1], table.Observed[4*i+1] = table.Values[4*i], table.Observed[4*i]
	}
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: "exact"}, Descent: descent.Config{Iterations: 300}}, trainers.Run{})
	if err != nil { // the digits of the processor decide whether the precision is still one
		require.ErrorIs(t, err, trainers.ErrUnits)
		require.ErrorContains(t, err, "where columns determine each other, leave one of them out")
		return
	}
	require.False(t, r.Converged, r.Verdict)
	require.True(t, engine.Finite(r.Loss))
}
