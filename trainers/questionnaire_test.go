package trainers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
)

// questionnaire has ten items of five categories, most cells the lowest, of two factors with
// correlation 0.4; where gaps depend on the first item, which is complete, about a fifth of the
// others' cells are missing. It comes with the correlations of the latent numbers.
func questionnaire(t *testing.T, n int) (*data.Table, *mat.SymDense) {
	t.Helper()
	loadings := []float64{.8, .7, .7, .6, .6, .8, .7, .7, .6, .6}
	truth := mat.NewSymDense(10, nil)
	for j, a := range loadings {
		for k, b := range loadings {
			switch {
			case j == k:
				truth.SetSym(j, k, 1)
			case j/5 == k/5:
				truth.SetSym(j, k, a*b)
			default:
				truth.SetSym(j, k, .4*a*b)
			}
		}
	}
	rng := stream.New(9, stream.Simulate)
	table := &data.Table{N: n, D: 10}
	for j := range 10 {
		table.Names = append(table.Names, "q"+string(rune('a'+j)))
	}
	for range n {
		first := rng.NormFloat64()
		factors, lowest := [2]float64{first, .4*first + math.Sqrt(1-.16)*rng.NormFloat64()}, 0.
		for j, a := range loadings {
			z, v := a*factors[j/5]+math.Sqrt(1-a*a)*rng.NormFloat64(), 1.
			for _, cut := range []float64{.2, .9, 1.4, 1.9} {
				if z > cut {
					v++
				}
			}
			if j == 0 {
				lowest = v
			}
			table.Values = append(table.Values, v)
			table.Observed = append(table.Observed, j == 0 || rng.Float64() > 1/(1+math.Exp(2.3-.9*(lowest-1))))
		}
	}
	return table, truth
}

// Right where numbers are not: of 3000 rows the latent normal's correlations are nearer to the
// truth than a normal's of the codes, whose correlations are too small, in each of the 45 pairs on
// average.
func TestQuestionnaire(t *testing.T) {
	table, truth := questionnaire(t, 3000)
	errors := func(s trainers.Spec) (mean, size float64) {
		s.Steps = engine.Config{Workers: 2}
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		g, ok := model.AsNormal(r.Model.Model)
		require.True(t, ok)
		var c mat.Cholesky
		require.True(t, c.Factorize(g.Precision()))
		var cov mat.SymDense
		require.NoError(t, c.InverseTo(&cov))
		for j := range 10 {
			for k := range j {
				far := cov.At(j, k)/math.Sqrt(cov.At(j, j)*cov.At(k, k)) - truth.At(j, k)
				mean += far / 45
				size += far * far / 45
			}
		}
		return mean, math.Sqrt(size)
	}
	latent, latentSize := errors(trainers.Spec{Transform: transform.Spec{Others: transform.OrdinalKind}})
	numbers, numbersSize := errors(trainers.Spec{})
	t.Logf("mean error, root mean square: latent %+.4f, %.4f; numbers %+.4f, %.4f", latent, latentSize, numbers, numbersSize)
	require.InDelta(t, 0, latent, 0.02)
	require.Less(t, latentSize, 0.035)
	require.Less(t, numbers, -0.04)
	require.Less(t, latentSize, 0.6*numbersSize)
}
