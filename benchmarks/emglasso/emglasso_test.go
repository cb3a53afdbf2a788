package emglasso

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

func sample(t *testing.T, n int, missing float64) *data.Table {
	truth, err := simulate.Star(7, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err := truth.Sample(n, stream.New(1, stream.Simulate, 1))
	require.NoError(t, err)
	table, err = data.HideMCAR(table, missing, stream.New(1, stream.Hide))
	require.NoError(t, err)
	return table
}

func second(t *data.Table) *mat.SymDense {
	var s mat.SymDense
	s.SymOuterK(1/float64(t.N), mat.NewDense(t.N, t.D, t.Values).T())
	return &s
}

// R 4.2, glasso 1.11: glasso(s, 0.15, penalize.diagonal = FALSE, thr = 1e-12)$wi.
func TestGlassoAgreesWithR(t *testing.T) {
	s := mat.NewSymDense(4, []float64{1, .5, .3, -.2, .5, 1.2, .4, .1, .3, .4, .9, 0, -.2, .1, 0, 1.1})
	want := mat.NewSymDense(4, []float64{
		1.124726884, -0.306122449, -0.102040816, 0.045558087,
		-0.306122449, 0.96800883, -0.21787093, 0,
		-0.102040816, -0.21787093, 1.18863762, 0,
		0.045558087, 0, 0, 0.911161731,
	})
	require.True(t, mat.EqualApprox(Glasso(s, 0.15), want, 1e-5))
}

// W = P⁻¹ is S + λ sign P where P ≠ 0, within λ of S where P = 0, and S on the diagonal.
func TestGlassoOptimality(t *testing.T) {
	s := second(sample(t, 300, 0))
	for _, lambda := range []float64{0.3, 0.1, 0.02, 1e-4} {
		p := Glasso(s, lambda)
		var w mat.Dense
		require.NoError(t, w.Inverse(p))
		for j := range 7 {
			require.InDelta(t, s.At(j, j), w.At(j, j), 1e-4)
			for k := range j {
				if p.At(j, k) == 0 {
					require.LessOrEqual(t, math.Abs(w.At(j, k)-s.At(j, k)), lambda+1e-4)
				} else {
					require.InDelta(t, s.At(j, k)+math.Copysign(lambda, p.At(j, k)), w.At(j, k), 1e-4)
				}
			}
		}
	}
}

func objective(t *testing.T, table *data.Table, g simulate.Gaussian, lambda float64) (value float64) {
	normal, ok := distmv.NewNormalPrecision(g.Mean, g.Precision, nil)
	require.True(t, ok)
	for i := range table.N {
		var at []int
		var x []float64
		for j := range table.D {
			if table.Observed[i*table.D+j] {
				at, x = append(at, j), append(x, table.Values[i*table.D+j])
			}
		}
		if len(at) == 0 {
			continue
		}
		m, ok := normal.MarginalNormal(at, nil)
		require.True(t, ok)
		value += m.LogProb(x) / float64(table.N)
	}
	for j := range table.D {
		for k := range j {
			value -= lambda * math.Abs(g.Precision.At(j, k))
		}
	}
	return value
}

func TestPathMaximisesTheObservedLikelihood(t *testing.T) {
	table := sample(t, 200, 0.4)
	path, err := Path(t.Context(), table, Options{Lambdas: 6, Ratio: 10, Iterations: 300, Tolerance: 1e-8})
	require.NoError(t, err)
	require.Len(t, path, 6)
	edges := func(g simulate.Gaussian) int { return network.Threshold(g.Precision, 0).Count() }
	require.LessOrEqual(t, edges(path[0]), 1)
	require.Greater(t, edges(path[5]), edges(path[2]))
	_, _, top := start(table)
	g, lambda := path[5], top/10
	best := objective(t, table, g, lambda)
	rng := stream.New(1, stream.Simulate, 2)
	for range 60 {
		p := mat.NewSymDense(7, nil)
		p.CopySym(g.Precision)
		mean := slices.Clone(g.Mean)
		step := 0.01 * (2*rng.Float64() - 1)
		if j, k := rng.IntN(8), rng.IntN(7); j == 7 {
			mean[k] += step
		} else {
			p.SetSym(j, k, p.At(j, k)+step)
		}
		require.Less(t, objective(t, table, simulate.Gaussian{Mean: mean, Precision: p}, lambda), best+1e-9)
	}
}

// R 4.2, lavaan 0.6.14: sampstat under missing = "fiml", em.h1.iter.max = 100000, em.h1.tol =
// 1e-14.
func TestSaturatedAgreesWithR(t *testing.T) {
	const na = math.MaxFloat64
	values := []float64{
		1.2, 0.8, na, 0.4, na, 0.5, -0.7, -1.1, 0.6, 2.1, 1.7, -1.2, na, 0.3, 0.4, -1.3, -0.6, na, 0.2, na, -0.3,
		na, -0.9, 1.1, 1.5, 1.9, -0.8, -0.4, 0.1, 0.2, 0.9, na, -0.5, -2, -1.4, na, 0.6, 0.2, 0.7, na, 0.7, -0.1,
	}
	observed := make([]bool, len(values))
	for k, v := range values {
		if observed[k] = v != na; !observed[k] {
			values[k] = 0
		}
	}
	table, err := data.NewTable([]string{"a", "b", "c"}, values, observed)
	require.NoError(t, err)
	g, err := Saturated(t.Context(), table, 10000, 1e-12)
	require.NoError(t, err)
	want := mat.NewSymDense(3, []float64{
		5.080853298, -4.437479474, 1.494369056,
		-4.437479474, 9.719395288, 5.667195460,
		1.494369056, 5.667195460, 10.659251659,
	})
	require.True(t, mat.EqualApprox(g.Precision, want, 1e-5), mat.Formatted(g.Precision))
	require.InDeltaSlice(t, []float64{0.1545693282, 0.2421358106, 0.1803299400}, g.Mean, 1e-6)
	few, err := data.NewTable([]string{"a", "b", "c"}, []float64{1, 2, 4, 2, 3, 1}, nil)
	require.NoError(t, err)
	_, err = Saturated(t.Context(), few, 10, 1e-6)
	require.ErrorContains(t, err, "2 rows of 3 columns are too few")
}

// Without edges P holds the inverse variances; for a complete table P⁻¹ equals S on the network.
func TestRefit(t *testing.T) {
	table := sample(t, 300, 0.3)
	o := Options{Iterations: 5000, Tolerance: 1e-9}
	saturated, err := Saturated(t.Context(), table, o.Iterations, o.Tolerance)
	require.NoError(t, err)
	refit, ok, err := Refit(t.Context(), table, saturated, 0, o)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, mat.EqualApprox(saturated.Precision, refit.Precision, 1e-6))
	require.InDeltaSlice(t, saturated.Mean, refit.Mean, 1e-6)
	refit, ok, err = Refit(t.Context(), table, saturated, 100, o)
	require.NoError(t, err)
	require.True(t, ok)
	for j := range 7 {
		var x []float64
		for i := j; i < len(table.Values); i += 7 {
			if table.Observed[i] {
				x = append(x, table.Values[i])
			}
		}
		mean, variance := stat.PopMeanVariance(x, nil)
		require.InDelta(t, 1/variance, refit.Precision.At(j, j), 1e-5)
		require.InDelta(t, mean, refit.Mean[j], 1e-5)
	}
	table = sample(t, 300, 0)
	from := simulate.Gaussian{Mean: make([]float64, 7), Precision: Glasso(second(table), 0.1)}
	refit, ok, err = Refit(t.Context(), table, from, 0.002, o)
	require.NoError(t, err)
	require.True(t, ok)
	var w, s mat.SymDense
	stat.CovarianceMatrix(&s, mat.NewDense(table.N, 7, table.Values), nil)
	s.ScaleSym(299./300, &s)
	var chol mat.Cholesky
	require.True(t, chol.Factorize(refit.Precision))
	require.NoError(t, chol.InverseTo(&w))
	for j := range 7 {
		for k := range j + 1 {
			if j == k || math.Abs(from.Precision.At(j, k)) > 0.002 {
				require.InDelta(t, s.At(j, k), w.At(j, k), 1e-6)
			} else {
				require.Zero(t, refit.Precision.At(j, k))
			}
		}
	}
}
