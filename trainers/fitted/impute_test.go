package fitted_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

// N(μ, P⁻¹), as a model of z = (x − 10)/(1, 2, 5).
func scaledNormal(t testing.TB) (*fitted.Model, *distmv.Normal) {
	p := mat.NewSymDense(3, []float64{2, 0.5, -0.3, 0.5, 1, 0.2, -0.3, 0.2, 0.4})
	mean := []float64{11, 7, 9}
	m := model.NewGaussian(3, model.CholeskyFactor)
	require.NoError(t, m.SetPrecision(p))
	m.SetMean(mean)
	scale := data.Scale{Mean: []float64{10, 10, 10}, Deviation: []float64{1, 2, 5}}
	back, unit := make([]float64, 3), make([]float64, 3)
	for j := range back {
		back[j], unit[j] = -scale.Mean[j]/scale.Deviation[j], 1/scale.Deviation[j]
	}
	require.NoError(t, m.Rescale(back, unit))
	normal, ok := distmv.NewNormalPrecision(mean, p, nil)
	require.True(t, ok)
	return &fitted.Model{Names: []string{"a", "b", "c"}, Model: m, Scale: scale}, normal
}

// NaN where missing.
func table(names []string, rows ...[]float64) *data.Table {
	t := &data.Table{Names: names, N: len(rows), D: len(names)}
	for _, row := range rows {
		for _, v := range row {
			t.Values, t.Observed = append(t.Values, v), append(t.Observed, !math.IsNaN(v))
		}
	}
	return t
}

var nan = math.NaN()

func given(t testing.TB, normal *distmv.Normal, row []float64) *distmv.Normal {
	t.Helper()
	_, observed, values := split(row)
	if len(observed) == 0 {
		return normal
	}
	c, ok := normal.ConditionNormal(observed, values, nil)
	require.True(t, ok)
	return c
}

// Missing columns of a row, and its observed ones with their values.
func split(row []float64) (gaps, observed []int, values []float64) {
	for j, v := range row {
		if math.IsNaN(v) {
			gaps = append(gaps, j)
		} else {
			observed, values = append(observed, j), append(values, v)
		}
	}
	return gaps, observed, values
}

// Draws and conditional means, by gonum.
func TestImputeNormal(t *testing.T) {
	f, normal := scaledNormal(t)
	rows := [][]float64{{12, nan, nan}, {11, 6, 12}, {nan, 8, 3}, {nan, nan, nan}, {10, 9, nan}}
	point, err := fitted.Point(t.Context(), f, table(f.Names, rows...), fitted.ImputeConfig{})
	require.NoError(t, err)
	require.Equal(t, "closed form", point.Sampler)
	require.Zero(t, floats.Norm(point.Error, 1))
	const draws = 1500
	for _, by := range []string{"auto", "mcmc"} {
		r, err := fitted.Impute(context.Background(), f, table(f.Names, rows...), fitted.ImputeConfig{Sampler: by, Draws: draws, Seed: 3, Workers: 2})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"auto": "exact", "mcmc": "mcmc"}[by], r.Sampler)
		require.Equal(t, by == "mcmc", r.Mixing != nil)
		if r.Mixing != nil {
			require.True(t, r.Mixing.Converged())
			require.True(t, math.IsInf(r.Mixing.Size[1], 1))
		}
		for i, row := range rows {
			own := mat.NewDense(draws, 3, r.Values[i*draws*3:(i+1)*draws*3])
			gaps, observed, values := split(row)
			for k, j := range observed {
				require.Equal(t, values[k], own.At(draws/2, j))
				require.Equal(t, values[k], point.Values[i*3+j])
			}
			if len(gaps) == 0 {
				continue
			}
			truth := given(t, normal, row)
			for a, j := range gaps {
				require.InDelta(t, truth.Mean(nil)[a], point.Values[i*3+j], 1e-9)
			}
			testtables.RequireNormal(t, truth, own, gaps)
		}
	}
}

func constant(d int, o nets.NormalOptions, sd float64) nets.Imputer {
	m := nets.NewNormalImputer(d, o, stream.New(1))
	for _, p := range m.Params() {
		clear(p.Value)
	}
	m.Params()[6].Value[0] = math.Log(sd)
	return m
}

func TestImputeByImputer(t *testing.T) {
	f, _ := scaledNormal(t)
	f.Imputer = constant(3, nets.NormalOptions{Hidden: 3}, 0.5)
	const draws = 2000
	rows := table(f.Names, []float64{12, nan, nan})
	r, err := fitted.Impute(context.Background(), f, rows, fitted.ImputeConfig{Sampler: "imputer", Draws: draws})
	require.NoError(t, err)
	x := mat.Col(nil, 2, mat.NewDense(draws, 3, r.Values))
	require.InDelta(t, 10, stat.Mean(x, nil), 4.5*2.5/math.Sqrt(draws))
	require.InEpsilon(t, 2.5, stat.StdDev(x, nil), 4.5/math.Sqrt(2*draws))

	f.Noise = &noise.Schedule{Kind: noise.Preserving, Least: 200, Most: 300}
	f.Imputer = constant(3, nets.NormalOptions{Hidden: 3, NoiseConditional: true}, 0.5)
	r, err = fitted.Impute(context.Background(), f, rows, fitted.ImputeConfig{Sampler: "imputer", Draws: draws})
	require.NoError(t, err)
	a, _ := f.Noise.At(0) // a² + σ² = 1: of a z + σ ε it is N(0, 0.25)
	require.InEpsilon(t, 2.5/a, stat.StdDev(mat.Col(nil, 2, mat.NewDense(draws, 3, r.Values)), nil), 4.5/math.Sqrt(2*draws))
}

// N(μ_j, 1/4) in each column, by its score alone or with its density.
type noiseConditionalNormal struct {
	*model.Gaussian
	mean          float64
	density       bool
	signal, sigma graph.Node
}

func (m noiseConditionalNormal) AtNoise(signal, sigma graph.Node) model.Model {
	m.signal, m.sigma = signal, sigma
	return m
}

func (m noiseConditionalNormal) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	if m.signal == nil {
		return model.Evaluation{Score: x}
	}
	_, d := graph.Shape(x)
	variance := b.Add(b.Scale(0.25, b.Map(graph.Square, m.signal)), b.Map(graph.Square, m.sigma))
	inverse := b.Columns(b.Map(&graph.Function{Name: "reciprocal", F: func(v float64) float64 { return 1 / v }}, variance), d)
	r := b.Sub(x, b.Columns(b.Scale(m.mean, m.signal), d))
	t := model.Evaluation{Score: b.Scale(-1, b.Prod(inverse, r))}
	if m.density {
		t.LogDensity = b.Scale(0.5, b.RowDot(r, t.Score))
	}
	return t
}

// That model of z = (x − 5)/3.
func noiseConditional(density bool) *fitted.Model {
	return &fitted.Model{
		Names: []string{"a", "b"}, Model: noiseConditionalNormal{model.NewGaussian(2, model.CholeskyFactor), 0.5, density, nil, nil},
		Scale: data.Scale{Mean: []float64{5, 5}, Deviation: []float64{3, 3}},
		Noise: &noise.Schedule{Kind: noise.Preserving, Least: 0.1, Most: 20},
	}
}

// z ~ N(1/2, 1/4), x = 5 + 3z; with a density the chains run at the least noise level.
func TestAlongNoise(t *testing.T) {
	const draws = 700
	requireMoments := func(x []float64, tolerance float64) {
		t.Helper()
		n := float64(len(x))
		require.InDelta(t, 6.5, stat.Mean(x, nil), 4.5*1.5/math.Sqrt(n)+tolerance)
		require.InEpsilon(t, 1.5, stat.StdDev(x, nil), 4.5/math.Sqrt(2*n)+tolerance)
	}
	for density, by := range map[bool][2]string{false: {"auto", "sde"}, true: {"hmc", "hmc"}} {
		f := noiseConditional(density)
		c, err := fitted.ImputeConfig{}.For(f)
		require.NoError(t, err)
		require.Equal(t, "diffusion", c.Sampler)
		r, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{Sampler: by[0], N: draws, Steps: 300})
		require.NoError(t, err)
		require.Equal(t, by[1], r.Sampler)
		requireMoments(r.Values, 0.05)
		if density {
			continue
		}
		gaps := table(f.Names, []float64{7, nan})
		imputed, err := fitted.Impute(t.Context(), f, gaps, fitted.ImputeConfig{Draws: draws, Steps: 1800})
		require.NoError(t, err)
		require.Equal(t, 7., imputed.Values[2*draws-2])
		requireMoments(mat.Col(nil, 1, mat.NewDense(draws, 2, imputed.Values)), 0.05)
	}
}

// −Σ_ΛΛ⁻¹(x − μ)_Λ, of complete rows −P(x − μ).
func TestScoresNormal(t *testing.T) {
	f, normal := scaledNormal(t)
	rows := [][]float64{{12, nan, nan}, {11, 6, 12}, {nan, 8, 3}, {nan, nan, nan}, {10, 9, nan}, {9, 9, 9}}
	for _, by := range []string{"exact", "mcmc"} {
		r, err := fitted.Score(context.Background(), f, table(f.Names, rows...), fitted.ImputeConfig{Sampler: by, Draws: 400})
		require.NoError(t, err)
		peak := -math.Log(2 * 5) // of the model of z, 0, in the units of x
		require.InDelta(t, normal.LogProb(rows[1])-normal.LogProb(normal.Mean(nil)), r.LogDensity[1]-peak, 1e-9)
		for i, row := range rows {
			gaps, observed, values := split(row)
			require.Equal(t, len(gaps) > 0, math.IsNaN(r.LogDensity[i]))
			for _, j := range gaps {
				require.True(t, math.IsNaN(r.Score[i*3+j]) && math.IsNaN(r.Error[i*3+j]))
			}
			if len(observed) == 0 {
				continue
			}
			marginal, ok := normal.MarginalNormal(observed, nil)
			require.True(t, ok)
			want := marginal.ScoreInput(nil, values)
			for k, j := range observed {
				if len(gaps) == 0 {
					require.InDelta(t, want[k], r.Score[i*3+j], 1e-9)
					continue
				}
				require.InDelta(t, want[k], r.Score[i*3+j], 4.5*r.Error[i*3+j]+1e-9, "%s: row %d, column %d", by, i, j)
				require.Less(t, r.Error[i*3+j], 0.1)
			}
			if len(gaps) > 0 {
				require.Greater(t, r.Size[i], 100.)
			}
		}
	}
}

// The density of the first column is φ(x) Φ((b − a₁x)/a₂): its score needs the tangential
// correction.
func TestScoresHalfSpace(t *testing.T) {
	const x, a1, a2, bound = 0.4, 1, 0.8, 0.6
	f := &fitted.Model{Names: []string{"a", "b"}, Model: model.NewGaussian(2, model.CholeskyFactor), Scale: data.Scale{Mean: []float64{0, 0}, Deviation: []float64{1, 2}}, Domain: domain.All(2)}
	f.Domain.Half = []domain.HalfSpace{{A: []float64{a1, a2 / 2}, B: bound}} // in x; the second column is 2z
	z := (bound - a1*x) / a2
	want := -x - a1/a2*distuv.UnitNormal.Prob(z)/distuv.UnitNormal.CDF(z)
	r, err := fitted.Score(context.Background(), f, table(f.Names, []float64{x, nan}), fitted.ImputeConfig{Draws: 3000})
	require.NoError(t, err)
	require.InDelta(t, want, r.Score[0], 4.5*r.Error[0])
	require.Less(t, r.Error[0], 0.05)
}
