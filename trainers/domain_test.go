package trainers_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
)

// supports truncate a 4-column normal in each way.
func supports(t *testing.T, g data.Gaussian) map[string]*domain.Domain {
	t.Helper()
	box, err := g.TruncateBelow(3, 0.2)
	require.NoError(t, err)
	half := domain.All(4)
	half.Half = []domain.HalfSpace{{A: []float64{0.7, -0.5, 0.3, 0.4}, B: 0.8}}
	both := domain.All(4)
	both.Lower[0] = box.Lower[0]
	both.Half = half.Half
	return map[string]*domain.Domain{"box": box, "half-space": half, "box and half-space": both}
}

// At the truth the expected gradient over truncated data is zero for the exact
// conditional and for complete rows, and it is not if the truncation is ignored or,
// with a half-space, if the score is not made tangential.
func TestExpectedGradientAtTheTruthOnDomains(t *testing.T) {
	g, err := data.SimulateNormal(4, stream.New(22, stream.Simulate))
	require.NoError(t, err)
	const batches, n = 60, 400
	worst := func(method string, s, honoured *domain.Domain, w domain.Weight) float64 {
		return worst(meanSE(batches, func(b int) []float64 {
			rng := stream.New(22, stream.Replicate, uint64(b))
			table, err := g.SampleInside(s, n, rng)
			require.NoError(t, err)
			if method != "full" {
				table, err = data.HideMCAR(table, 0.4, rng)
				require.NoError(t, err)
			}
			m := model.NewGaussian(4, model.CholeskyFactor)
			m.SetMean(g.Mean)
			require.NoError(t, m.SetPrecision(g.Precision))
			_, grads, err := trainers.Gradient(table, m, losses.ObjectiveFor(honoured, w),
				trainers.Config{Method: method, Draws: 4, Seed: uint64(b), Domain: honoured, Weight: w}, 0)
			require.NoError(t, err)
			return slices.Concat(grads...)
		}))
	}
	for name, s := range supports(t, g) {
		t.Run(name, func(t *testing.T) {
			require.Less(t, worst("exact", s, s, domain.Weight{}), 4.0)
			require.Less(t, worst("exact", s, s, domain.Weight{Scalar: true}), 4.0)
			require.Less(t, worst("full", s, s, domain.Weight{}), 4.0)
			require.Greater(t, worst("exact", s, nil, domain.Weight{}), 8.0, "ignored")
			if len(s.Half) > 0 {
				require.Greater(t, worst("exact", s, s, domain.Weight{NoTangent: true}), 8.0, "as the paper")
			}
		})
	}
}

// Marg-IW and Marg-VarIW with many draws and the exact conditional give one gradient.
func TestWeightedEstimatorsAgreeWithExactOnDomains(t *testing.T) {
	g, err := data.SimulateNormal(4, stream.New(21, stream.Simulate))
	require.NoError(t, err)
	for name, s := range supports(t, g) {
		t.Run(name, func(t *testing.T) {
			rng := stream.New(23, stream.Simulate)
			table, err := g.SampleInside(s, 8, rng)
			require.NoError(t, err)
			table, err = data.HideMCAR(table, 0.4, rng)
			require.NoError(t, err)
			gradient := func(method string) (mean, se []float64) {
				return meanSE(12, func(k int) []float64 {
					m := model.NewGaussian(4, model.CholeskyFactor)
					m.SetMean(g.Mean)
					require.NoError(t, m.SetPrecision(g.Precision))
					_, grads, err := trainers.Gradient(table, m, losses.ObjectiveFor(s, domain.Weight{}),
						trainers.Config{Method: method, Draws: 10000, ProposalSD: 2, Seed: 1, Domain: s}, k)
					require.NoError(t, err)
					return slices.Concat(grads...)
				})
			}
			want, wantSE := gradient("exact")
			for _, method := range []string{"iw", "variw"} {
				got, se := gradient(method)
				for i := range want {
					// Twelve repeats: t(11) has its 1 − 1e−3 quantile at 4.03.
					require.InDelta(t, want[i], got[i], 4.03*math.Hypot(se[i], wantSE[i])+1e-9, "%s, gradient %d", method, i)
					require.Less(t, se[i], 0.1, "no power")
				}
			}
		})
	}
}

// The exact divergence of two normals against the Monte-Carlo one, and of a model
// with itself.
func TestFisherDivergence(t *testing.T) {
	g, err := data.SimulateNormal(5, stream.New(31, stream.Simulate))
	require.NoError(t, err)
	truth, m := model.NewGaussian(5, model.CholeskyFactor), model.NewGaussian(5, model.Natural)
	truth.SetMean(g.Mean)
	require.NoError(t, truth.SetPrecision(g.Precision))
	sample, err := g.Sample(40000, stream.New(32, stream.Simulate))
	require.NoError(t, err)
	f, err := trainers.NewFisherDivergence(m, truth, sample.Values)
	require.NoError(t, err)
	for range 2 { // it follows the model
		want, err := trainers.GaussianFisher(m, truth)
		require.NoError(t, err)
		got, se, err := f.Value()
		require.NoError(t, err)
		require.InDelta(t, want, got, 4*se+1e-9)
		require.Less(t, se, 0.02*want+1e-9)
		require.NoError(t, m.SetPrecision(g.Precision))
		m.SetMean([]float64{0, 0.1, 0.2, 0.3, 0.9})
	}
	m.SetMean(g.Mean)
	got, _, err := f.Value()
	require.NoError(t, err)
	require.InDelta(t, 0, got, 1e-20)
	_, err = trainers.NewFisherDivergence(m, truth, sample.Values[:7])
	require.ErrorContains(t, err, "do not fit")
}

// Along a fit the exact divergence and the sampled one agree, in the truth's units.
func TestErrorsAlongAFit(t *testing.T) {
	g, table := small(t, 100, 27)
	truth := model.NewGaussian(4, model.CholeskyFactor)
	truth.SetMean(g.Mean)
	require.NoError(t, truth.SetPrecision(g.Precision))
	fresh, err := g.Sample(20000, stream.New(33, stream.Simulate))
	require.NoError(t, err)
	standard, scale := data.Standardise(table)
	errors := func(sample []float64) ([]trainers.Error, *model.Gaussian) {
		m := model.NewGaussian(4, model.CholeskyFactor)
		r, err := trainers.Fit(context.Background(), standard, m, losses.Classical{}, trainers.FitConfig{
			Config: trainers.Config{Method: "exact"}, Epochs: 5, Rate: 0.05,
			Truth: &trainers.Truth{Model: truth, Sample: sample, View: model.NewGaussian(4, model.CholeskyFactor), Scale: scale},
		}, &trainers.State{}, nil)
		require.NoError(t, err)
		return r.History[4].Errors, m
	}
	exact, m := errors(nil)
	sampled, _ := errors(fresh.Values)
	require.InDelta(t, exact[0].Value, sampled[0].Value, 4*sampled[1].Value)
	require.Zero(t, exact[1].Value)
	require.NoError(t, m.Rescale(scale.Mean, scale.Deviation))
	want, err := trainers.GaussianFisher(m, truth)
	require.NoError(t, err)
	require.InDelta(t, want, exact[0].Value, 1e-9)
	require.Equal(t, "mean_error", exact[2].Name)
	require.InDelta(t, floats.Distance(m.Mean(), g.Mean, 2), exact[2].Value, 1e-9)
	var gap mat.SymDense
	gap.ScaleSym(-1, g.Precision)
	gap.AddSym(&gap, m.Precision())
	require.InDelta(t, mat.Norm(&gap, 2), exact[3].Value, 1e-9)
}

// A row that cannot be completed inside is named.
func TestFitsRefuseRowsOutside(t *testing.T) {
	_, table := small(t, 30, 24)
	s := domain.All(4)
	s.Lower[2] = 0.4
	_, _, err := trainers.Gradient(table, model.NewGaussian(4, model.Natural), losses.ObjectiveFor(s, domain.Weight{}), trainers.Config{Method: "iw", Domain: s}, 0)
	var row *data.RowError
	require.ErrorAs(t, err, &row)
	require.Equal(t, "x3", row.Column)
	require.ErrorContains(t, err, "is below the lower bound 0.4")
	s.Lower = s.Lower[:3]
	_, _, err = trainers.Gradient(table, model.NewGaussian(4, model.Natural), losses.Classical{}, trainers.Config{Method: "iw", Domain: s}, 0)
	require.ErrorContains(t, err, "does not fit 4 columns")
}

// LambdaMax is, but for its 5 % to spare, the largest gradient by a pair at the best
// model without edges, found here from gradients alone: those by η_j and P_jj are
// affine in them there, whatever is drawn. Nothing missing, that is exact, and the
// path has no edge above and one below; missing cells of the other column, which
// LambdaMax leaves aside, say less than the draws' noise.
func TestLambdaMaxOnABox(t *testing.T) {
	const d = 6
	for _, missing := range []float64{0, 0.3} {
		rng := stream.New(41, stream.Simulate)
		g, err := data.SimulateStar(d, rng)
		require.NoError(t, err)
		s, err := g.TruncateBelow(4, 0.3)
		require.NoError(t, err)
		table, err := g.SampleInside(s, 250, rng)
		require.NoError(t, err)
		table, err = data.HideMCAR(table, missing, rng)
		require.NoError(t, err)
		standard, scale := data.Standardise(table)
		z := s.Standardised(scale.Mean, scale.Deviation)
		m := model.NewGaussian(d, model.Natural)
		gradient := func(iteration int) []float64 {
			_, grads, err := trainers.Gradient(standard, m, losses.ObjectiveFor(z, domain.Weight{}),
				trainers.Config{Method: trainers.AutoMethod(table, nil), Draws: 100, Seed: 1, Domain: z}, iteration)
			require.NoError(t, err)
			return slices.Concat(grads...)
		}
		var free []*float64
		var place []int // in the gradient
		for j := range d {
			diagonal := graph.PackedIndex(d, j, j)
			free, place = append(free, &m.Location.Value[j], &m.Packed.Value[diagonal]), append(place, j, d+diagonal)
		}
		start := gradient(0)
		slope, right, step := mat.NewDense(2*d, 2*d, nil), mat.NewVecDense(2*d, nil), mat.NewVecDense(2*d, nil)
		for b, v := range free {
			*v++
			moved := gradient(0)
			*v--
			for a, i := range place {
				slope.Set(a, b, moved[i]-start[i])
			}
			right.SetVec(b, -start[place[b]])
		}
		require.NoError(t, step.SolveVec(slope, right))
		for b, v := range free {
			*v += step.AtVec(b)
		}

		mean, se := meanSE(12, gradient)
		for _, i := range place {
			require.InDelta(t, 0, mean[i], 1e-12, "not the best model without edges")
		}
		largest := 0
		for i := range mean {
			if math.Abs(mean[i]) > math.Abs(mean[largest]) {
				largest = i
			}
		}
		top := trainers.LambdaMax(standard, z, domain.Weight{}) / 1.05
		if missing > 0 {
			require.InDelta(t, math.Abs(mean[largest])/d, top, 4.03*se[largest]/d) // t(11) has its 1 − 1e−3 quantile at 4.03
			require.Less(t, se[largest]/d, 0.005*top, "no power")
			continue
		}
		require.InDelta(t, math.Abs(mean[largest])/d, top, 1e-12)
		edges := func(lambda float64) int {
			r, err := trainers.EstimateNetwork(context.Background(), table, trainers.NetworkConfig{
				PathConfig: trainers.PathConfig{Config: trainers.Config{Domain: s}, LambdaMax: lambda, Lambdas: 1, First: 2000, Threshold: 1e-9},
				Select:     trainers.Selection{Kind: "none"}, Tolerance: 1e9,
			}, &trainers.State{}, nil)
			require.NoError(t, err)
			return r.Points[0].Edges
		}
		require.Zero(t, edges(top*1.001))
		require.Positive(t, edges(top/1.001))
	}
}

// The criterion on a domain: the loss over all rows and columns, and the price of edges.
func TestEBICOnADomain(t *testing.T) {
	g, table := small(t, 200, 25)
	s := domain.All(4)
	s.Lower[0] = g.Mean[0] - 6
	r, err := trainers.EstimateNetwork(context.Background(), table, trainers.NetworkConfig{
		PathConfig: trainers.PathConfig{Config: trainers.Config{Method: "zeroed", Domain: s}, Lambdas: 5, First: 20},
		Select:     trainers.Selection{Kind: "ebic", Gamma: 0.5}, Tolerance: 1e9,
	}, &trainers.State{}, nil)
	require.NoError(t, err)
	pairs, n := 0., 0.
	for j := range 4 {
		for k := j + 1; k < 4; k++ {
			for i := range table.N {
				if table.Observed[i*4+j] && table.Observed[i*4+k] {
					n++
				}
			}
			pairs++
		}
	}
	for i, p := range r.Points {
		e := float64(p.Edges)
		require.InDelta(t, p.Loss*float64(table.N*4)+e*(math.Log(n/pairs)+2*math.Log(4)), r.Scores[i], 1e-9)
	}
	require.Len(t, r.Points[0].Linear, 4)
}

// Warm-up steps come before the first parameter step, whatever its number.
func TestWarmUp(t *testing.T) {
	_, table := small(t, 60, 26)
	gradient := func(warm int) []float64 {
		m := model.NewGaussian(4, model.CholeskyFactor)
		state := &trainers.State{}
		_, err := trainers.Fit(context.Background(), table, m, losses.Classical{},
			trainers.FitConfig{Config: trainers.Config{Method: "var", WarmUp: warm, ImputerSteps: 1, Seed: 1}, Epochs: 1}, state, nil)
		require.NoError(t, err)
		require.Equal(t, warm+1, state.ImputerAdam.Steps)
		return m.Packed.Value
	}
	require.NotEqual(t, gradient(0), gradient(40))
}
