package sandwich

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

type scaling int

const (
	unscaled scaling = iota
	aboutZero
	byDeviation
)

func of(t testing.TB, table *data.Table, m model.Parametric, by scaling, method string, s *domain.Domain, c engine.Config) *Result {
	t.Helper()
	z, scale := table, data.UnitScale(table.D)
	switch by {
	case byDeviation:
		z, scale = data.Standardise(table)
	case aboutZero:
		scale = data.RootMeanSquareScale(table, 1)
		z = scale.Standardised(table)
	}
	back, inverse := make([]float64, table.D), make([]float64, table.D)
	for j, v := range scale.Deviation {
		back[j], inverse[j] = -scale.Mean[j]/v, 1/v
	}
	require.NoError(t, m.Rescale(back, inverse))
	objective := func(s *domain.Domain) (losses.Objective, error) {
		return losses.ObjectiveFor(s, domain.Weight{Cap: 1}), nil
	}
	support := s.Standardised(scale.Mean, scale.Deviation)
	o, err := objective(support)
	require.NoError(t, err)
	c.Method = method
	e, err := engine.New(engine.Problem{Table: z, Model: m, Objective: o, Domain: support, Weight: domain.Weight{Cap: 1}}, c)
	require.NoError(t, err)
	start := values(m)
	r, err := Infer(t.Context(), Problem{Engine: e, Scale: scale, Scaled: by != unscaled, Names: table.Names, Level: 0.95, Objective: objective})
	require.NoError(t, err)
	require.Equal(t, start, values(m), "the model stays")
	return r
}

func errorsOf(t testing.TB, r *Result) (estimates, se []float64) {
	t.Helper()
	require.NotNil(t, r.Uncertainty, "%v", r.Warnings)
	for _, p := range r.Uncertainty.Parameters {
		estimates, se = append(estimates, p.Estimate), append(se, *p.SE)
	}
	return estimates, se
}

// Moments of the complete rows.
func near(t testing.TB, table *data.Table) *model.Gaussian {
	t.Helper()
	whole := testtables.Must(table.CompleteRows())
	var s mat.SymDense
	stat.CovarianceMatrix(&s, mat.NewDense(whole.N, whole.D, whole.Values), nil)
	g := simulate.Gaussian{Precision: testtables.Inverse(t, &s)}
	for j := range whole.D {
		g.Mean = append(g.Mean, stat.Mean(whole.Column(j), nil))
	}
	return testtables.At(t, g)
}

func skewed(t testing.TB, n, d int, missing float64) *data.Table {
	t.Helper()
	rng := stream.New(7, stream.Simulate)
	var x []float64
	for range n {
		common := rng.ExpFloat64()
		for j := range d {
			x = append(x, float64(j+1)*(0.5*common+rng.ExpFloat64()-0.2*float64(j)))
		}
	}
	names := []string{"a", "b", "c", "d"}[:d]
	table := testtables.Must(data.NewTable(names, x, nil))
	if missing > 0 {
		table = testtables.Must(data.HideMCAR(table, missing, rng))
	}
	return table
}

// Influence of a row: x − x̄ and P − P(x − x̄)(x − x̄)ᵀP.
func TestCompleteRowsOfAGaussian(t *testing.T) {
	const n, d = 80, 3
	table := skewed(t, n, d, 0)
	x := mat.NewDense(n, d, table.Values)
	var s, want mat.SymDense
	stat.CovarianceMatrix(&s, x, nil)
	s.ScaleSym(float64(n-1)/n, &s) // gonum's divides by n − 1
	p := testtables.Inverse(t, &s)
	influence := mat.NewDense(n, d+d*(d+1)/2, nil)
	for i := range n {
		y := mat.NewVecDense(d, nil)
		for j := range d {
			y.SetVec(j, x.At(i, j)-stat.Mean(table.Column(j), nil))
		}
		var py mat.VecDense
		var own mat.SymDense
		py.MulVec(p, y)
		own.SymRankOne(p, -1, &py)
		influence.SetRow(i, append(y.RawVector().Data, graph.Pack(&own)...))
	}
	want.SymOuterK(1./n/n, influence.T())
	for _, method := range []string{"full", "exact", "em-exact"} {
		for _, by := range []scaling{unscaled, byDeviation} {
			r := of(t, table, near(t, table), by, method, nil, engine.Config{})
			_, se := errorsOf(t, r)
			for a := range se {
				for b := range se {
					got := r.Uncertainty.Covariance[a][b]
					require.InDelta(t, want.At(a, b), got, 1e-6*se[a]*se[b], "%s, %d, %d", method, a, b)
				}
			}
			require.Equal(t, "precision[a, c]", r.Uncertainty.Parameters[5].Name)
			require.Equal(t, "mean[b]", r.Uncertainty.Parameters[1].Name)
		}
	}
}

// The variance is the mean square of the influences, found by leaving out and doubling one copy of
// each row, scales included, with a misspecified model.
func TestInfluenceOfRows(t *testing.T) {
	const n, copies = 24, 20
	box := domain.All(2)
	box.Lower[0] = 0
	for name, c := range map[string]struct {
		method  string
		by      scaling
		missing float64
		domain  *domain.Domain
		start   func(*data.Table) model.Parametric
	}{
		"exact":     {"exact", byDeviation, 0.2, nil, func(x *data.Table) model.Parametric { return near(t, x) }},
		"em-exact":  {"em-exact", byDeviation, 0.2, nil, func(x *data.Table) model.Parametric { return near(t, x) }},
		"truncated": {"full", byDeviation, 0, box, func(x *data.Table) model.Parametric { return near(t, x) }},
		"quartic":   {"full", aboutZero, -1, nil, func(x *data.Table) model.Parametric { return even(t) }},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "exact" || name == "quartic" {
				slowtest.Skip(t, "3 s")
			}
			table := skewed(t, n, 2, max(c.missing, 0))
			if c.missing < 0 {
				table = balanced(t, n)
			}
			var all []int
			for i := range n {
				for range copies {
					all = append(all, i)
				}
			}
			at := func(rows []int) []float64 {
				x := testtables.Must(table.Rows(rows))
				estimates, _ := errorsOf(t, of(t, x, c.start(x), c.by, c.method, c.domain, engine.Config{}))
				return estimates
			}
			x := testtables.Must(table.Rows(all))
			_, se := errorsOf(t, of(t, x, c.start(x), c.by, c.method, c.domain, engine.Config{}))
			want := make([]float64, len(se))
			for i := range n {
				more := at(append([]int{i}, all...))
				fewer := at(append(append([]int{}, all[:i*copies]...), all[i*copies+1:]...))
				for k := range want {
					shift := (more[k] - fewer[k]) / 2 * n * copies
					want[k] += shift * shift / n
				}
			}
			for k := range want {
				require.InEpsilon(t, math.Sqrt(want[k]/(n*copies)), se[k], 2e-3, "parameter %d", k)
			}
		})
	}
}

func balanced(t testing.TB, n int) *data.Table {
	t.Helper()
	rng := stream.New(3, stream.Simulate)
	table := skewed(t, n, 2, 0)
	for i := range table.Values {
		table.Values[i] = float64(1+i%2) * (2*rng.Float64() - 1)
	}
	return table
}

// The quartic model of least expected loss for columns uniform on (−1, 1) and (−2, 2): θ_jj = −¾ (E
// x²)/(E x⁶).
func even(t testing.TB) *model.Quartic {
	t.Helper()
	m := model.NewQuartic(2)
	require.NoError(t, m.SetTheta(mat.NewSymDense(2, []float64{-1.75, 0, 0, -1.75 / 16})))
	return m
}

// With many draws the errors agree with the closed form.
func TestManyDrawsAreTheExactExpectation(t *testing.T) {
	g := simulate.Gaussian{Mean: []float64{0.3, -0.2}, Precision: mat.NewSymDense(2, []float64{1.4, 0.5, 0.5, 1.2})}
	table := testtables.Sampled(t, g, nil, 150, 0.4, stream.New(2, stream.Simulate))
	for exact, drawn := range map[string]string{"em-exact": "em-full", "exact": "iw"} {
		want, wantSE := errorsOf(t, of(t, table, near(t, table), byDeviation, exact, nil, engine.Config{}))
		got, se := errorsOf(t, of(t, table, near(t, table), byDeviation, drawn, nil, engine.Config{Draws: 600, ProposalSD: 1.5}))
		_, noisy := errorsOf(t, of(t, table, near(t, table), byDeviation, drawn, nil, engine.Config{Draws: 20, ProposalSD: 1.5}))
		for k := range want {
			require.InEpsilon(t, wantSE[k], se[k], 0.02, "%s, parameter %d", drawn, k)
			require.InDelta(t, want[k], got[k], 0.15*wantSE[k], "%s, parameter %d", drawn, k)
			require.Greater(t, noisy[k], 0.98*wantSE[k], "the noise of few draws is in the errors")
		}
	}
}

// Bias by halved draws equals the change with more draws.
func TestBiasOfWeights(t *testing.T) {
	g := simulate.Gaussian{Mean: []float64{0.3, -0.2}, Precision: mat.NewSymDense(2, []float64{3, 2, 2, 3})}
	table := testtables.Sampled(t, g, nil, 3000, 0.4, stream.New(2, stream.Simulate))
	exact, se := errorsOf(t, of(t, table, near(t, table), byDeviation, "em-exact", nil, engine.Config{}))
	few := of(t, table, near(t, table), byDeviation, "em-full", nil, engine.Config{Draws: 16})
	estimates, _ := errorsOf(t, few)
	largest := 0.
	for k := range exact {
		largest = max(largest, math.Abs(estimates[k]-exact[k])/se[k])
	}
	t.Logf("by halves %.2f, true %.2f standard errors", few.Bias, largest)
	require.Greater(t, few.Bias, 0.3)
	require.InEpsilon(t, largest, few.Bias, 0.35)
	require.Contains(t, strings.Join(few.Warnings, "\n"), "the weights of the draws bias the estimates")
}

func TestLabels(t *testing.T) {
	m := model.NewMixture(simulate.Mixture{Weights: []float64{0.5, 0.5}, Means: [][]float64{{0, 1}, {1, 0}}, Deviations: [][]float64{{1, 1}, {1, 1}}})
	q := &quantities{m, data.UnitScale(2)}
	var names []string
	for _, c := range q.members([]string{"u", "v"}) {
		names = append(names, c.name)
	}
	require.Equal(t, []string{"weights[1]", "weights[2]", "means[1, u]", "means[1, v]", "means[2, u]", "means[2, v]",
		"deviations[1, u]", "deviations[1, v]", "deviations[2, u]", "deviations[2, v]"}, names)
	free, err := q.free()
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 3, 4, 5, 6, 7, 8, 9}, free, "one of two log weights says all")
}

// By R 4.2.2: 2 + c(-1,1)*qnorm(.975)*0.5; 2*exp(c(-1,1)*qnorm(.975)*0.5/2);
// plogis(qlogis(0.2) + c(-1,1)*qnorm(.975)*0.05/(0.2*0.8)).
func TestIntervals(t *testing.T) {
	low, high := interval(2, 0.5, 0.95, model.Real)
	require.InDeltaSlice(t, []float64{1.020018007729973, 2.979981992270027}, []float64{low, high}, 1e-12)
	low, high = interval(2, 0.5, 0.95, model.Positive)
	require.InDeltaSlice(t, []float64{1.225263820429179, 3.264603045733369}, []float64{low, high}, 1e-12)
	low, high = interval(0.2, 0.05, 0.95, model.Share)
	require.InDeltaSlice(t, []float64{0.1193307472730404, 0.315656450654537}, []float64{low, high}, 1e-12)
}
