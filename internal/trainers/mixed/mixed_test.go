package mixed

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
)

// Draws of the truth; y is missing where x is large, city at random.
func clusters(t *testing.T, n int, rng *rand.Rand) *data.Table {
	t.Helper()
	x := truth().Draw(n, rng)
	table := &data.Table{Names: []string{"x", "city", "y", "b"}, N: n, D: 4, Values: x,
		Levels: [][]string{nil, {"Lima", "Oslo", "Rome"}, nil, {"no", "yes"}},
		Kinds:  []data.Kind{data.Number, data.Nominal, data.Number, data.Binary}}
	for i := range n {
		high := 0.8 / (1 + math.Exp(6-x[4*i]))
		table.Observed = append(table.Observed, true, rng.Float64() > 0.15, rng.Float64() > high, true)
	}
	return table
}

// Three clusters: x, city (three levels), y and b (two).
func truth() *mixture.Mixture {
	m := mixture.New(3, []int{0, 3, 0, 2})
	m.Weights, m.Means, m.Covariances = []float64{0.5, 0.3, 0.2}, [][]float64{{0, 0}, {4, 50}, {8, -30}}, slices.Repeat([][]float64{{1, 5, 5, 100}}, 3)
	for k := range 3 {
		copy(m.Shares[k], slices.Repeat([]float64{0.1 / 3}, 3))
		m.Shares[k][k] += 0.9
		copy(m.Shares[k][3:], []float64{1 - []float64{0.9, 0.5, 0.1}[k], []float64{0.9, 0.5, 0.1}[k]})
	}
	return m
}

func TestFitRecoversUnderMAR(t *testing.T) {
	table := clusters(t, 3000, stream.New(1))
	f, err := Fit(t.Context(), table, Config{Seed: 1, Components: 3})
	require.NoError(t, err)
	require.True(t, f.Converged)
	want := truth()
	for k := range 3 {
		require.InDelta(t, want.Weights[k], f.Model.Weights[k], 0.05)
		require.InDelta(t, want.Means[k][0], f.Model.Means[k][0], 0.2)
		require.InDelta(t, want.Means[k][1], f.Model.Means[k][1], 3)
		require.InDelta(t, 1, f.Model.Deviation(k, 0), 0.15)
		require.InDelta(t, 10, f.Model.Deviation(k, 2), 1.5)
		require.InDelta(t, 0.5, f.Model.Covariances[k][1]/f.Model.Deviation(k, 0)/f.Model.Deviation(k, 2), 0.15)
		require.InDeltaSlice(t, want.Shares[k], f.Model.Shares[k], 0.08)
	}
	mean := func(m *mixture.Mixture) (sum float64) {
		for k, w := range m.Weights {
			sum += w * m.Means[k][1]
		}
		return sum
	}
	require.InDelta(t, mean(want), mean(f.Model), 3)
	observed := table.Column(2)
	require.Greater(t, math.Abs(floats.Sum(observed)/float64(len(observed))-mean(want)), 1.5, "otherwise the gaps do not matter here")
	require.GreaterOrEqual(t, f.Likelihood, meanLogDensity(want, table, table.AllRows()))
}

func TestNumberOfComponents(t *testing.T) {
	table := clusters(t, 250, stream.New(6))
	f, err := Fit(t.Context(), table, Config{Seed: 1, Workers: 2})
	require.NoError(t, err)
	require.Contains(t, []int{3, 4}, len(f.Model.Weights))
	require.Equal(t, 1, f.Tried[0].Components)
	again, err := Fit(t.Context(), table, Config{Seed: 1})
	require.NoError(t, err)
	require.Equal(t, f, again, "results do not depend on the number of workers")
}

// Any small change of a parameter lowers the expected log posterior.
func TestStepMaximises(t *testing.T) {
	table := clusters(t, 120, stream.New(2))
	p, _ := newProblem(table)
	rows, k := table.AllRows(), 3
	p.pooled = []float64{1, 0.3, 0.3, 1}
	from := p.scattered(rows, k, stream.New(3))
	e, at := p.expect(from, rows)
	m := e.solve(from)
	r := make([]float64, k)
	// Missing numbers add ½ tr(Σ⁻¹ left) to the expected log density.
	expected := func(to *mixture.Mixture) (sum float64) {
		filled := make([]float64, 2)
		for _, i := range rows {
			row, observed := slices.Clone(p.Values[i*p.D:(i+1)*p.D]), p.Observed[i*p.D:(i+1)*p.D]
			given, joint := from.Given(observed), make([]float64, k)
			given.Posterior(row, r)
			for c, v := range r {
				given.Means(c, row, filled)
				row[0], row[2] = filled[0], filled[1]
				left := mat.NewDense(2, 2, nil)
				given.AddLeft(c, 1, left.RawMatrix().Data)
				to.Given([]bool{true, observed[1], true, observed[3]}).Joint(row, joint)
				var solved mat.Dense
				require.NoError(t, solved.Solve(mat.NewDense(2, 2, to.Covariances[c]), left))
				sum += v * (joint[c] - mat.Trace(&solved)/2)
			}
		}
		return sum + p.logPrior(to, from)
	}
	best := expected(m)
	lower := func(what string, change func(to *mixture.Mixture, by float64)) {
		t.Helper()
		for _, by := range []float64{-1e-3, 1e-3} {
			to := p.scattered(rows, k, stream.New(3))
			require.NoError(t, model.NewMixed(to).SetQuantities(model.NewMixed(m).Quantities()))
			change(to, by)
			require.Less(t, expected(to), best, "%s by %g", what, by)
		}
	}
	for c := range k {
		lower("weight", func(to *mixture.Mixture, by float64) {
			to.Weights[c] *= 1 + by
			floats.Scale(1/floats.Sum(to.Weights), to.Weights)
		})
		for j := range 2 {
			lower("mean", func(to *mixture.Mixture, by float64) { to.Means[c][j] += by })
			lower("variance", func(to *mixture.Mixture, by float64) { to.Covariances[c][3*j] *= 1 + by })
		}
		lower("covariance", func(to *mixture.Mixture, by float64) {
			to.Covariances[c][1] += by
			to.Covariances[c][2] += by
		})
		for l := range 5 {
			lower("share", func(to *mixture.Mixture, by float64) {
				shares := to.Shares[c][:3]
				if l >= 3 {
					shares = to.Shares[c][3:]
				}
				to.Shares[c][l] *= 1 + by
				floats.Scale(1/floats.Sum(shares), shares)
			})
		}
	}
	prior, size := p.prior(from)
	mean := 0.
	for c, w := range from.Weights {
		mean += w * from.Covariances[c][0]
	}
	require.InDelta(t, (120*mean+2./3)/122, prior[0], 1e-12)
	require.Equal(t, 4., size)
	require.InDelta(t, meanLogDensity(from, p.Table, rows), at.Likelihood, 1e-12)
	require.InDelta(t, at.Likelihood+p.logPrior(from, from)/float64(table.N), at.Posterior, 1e-12)
	_, path, converged := fitOn(t.Context(), p, rows, Config{Tolerance: 1e-9}, from, 500, nil)
	require.True(t, converged)
	require.Greater(t, path[len(path)-1].Likelihood, path[0].Likelihood+0.1)
}

func TestWeights(t *testing.T) {
	table := clusters(t, 200, stream.New(5))
	table.Levels[1] = append(table.Levels[1], "Bonn")
	weighted, repeated := *table, *table
	weighted.Weights = slices.Repeat([]float64{1}, 200)
	for i := range 50 {
		weighted.Weights[i] = 2
	}
	repeated.N = 250
	repeated.Values = slices.Concat(table.Values, table.Values[:50*4])
	repeated.Observed = slices.Concat(table.Observed, table.Observed[:50*4])
	sums := func(t *data.Table) *emStep {
		p, _ := newProblem(t)
		e := newStep(p, 1)
		for _, group := range p.Patterns(t.AllRows()) {
			e.add(p.start.Given(p.Observed[group[0]*p.D:(group[0]+1)*p.D]), group, func(int) []float64 { return []float64{1} })
		}
		return e
	}
	a, b := sums(&weighted), sums(&repeated)
	require.InDelta(t, b.rows[0], a.rows[0], 1e-9)
	require.InDeltaSlice(t, b.levels[0], a.levels[0], 1e-9)
	require.InDeltaSlice(t, b.count[0], a.count[0], 1e-9)
	require.InDeltaSlice(t, b.p.start.Shares[0], a.p.start.Shares[0], 1e-12)
	require.InDelta(t, 0.5/(b.levels[0][0]+b.levels[0][1]+b.levels[0][2]+2), a.p.start.Shares[0][3], 1e-12)
	require.Greater(t, a.solve(a.p.start).Shares[0][3], 0.)
}

func TestCutAndResumed(t *testing.T) {
	table := clusters(t, 200, stream.New(4))
	whole, err := Fit(t.Context(), table, Config{Seed: 1})
	require.NoError(t, err)
	state := &State{}
	var resumed any
	testtables.Resumed(t, func(ctx context.Context, save func() error) (err error) {
		state = testtables.Saved(t, state)
		resumed, err = Fit(ctx, table, Config{Seed: 1, State: state, Save: save})
		return err
	})
	require.Equal(t, whole, resumed)
}
