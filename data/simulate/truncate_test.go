package simulate_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// The shares of the truncations, over many draws, within binomial error; what is
// sampled inside is inside, and has the mean of a truncated normal.
func TestTruncations(t *testing.T) {
	const n = 40000
	g, err := simulate.Normal(5, stream.New(1, 1))
	require.NoError(t, err)
	all, err := g.Sample(n, stream.New(2, 1))
	require.NoError(t, err)
	box, err := g.TruncateBelow(3, 0.1)
	require.NoError(t, err)
	for j := range 3 {
		below := 0.0
		for i := range n {
			if all.Values[i*5+j] < box.Lower[j] {
				below++
			}
		}
		require.InDelta(t, 0.1, below/n, 4.5*math.Sqrt(0.1*0.9/n))
	}
	require.False(t, box.BoundedColumn(3))
	half, err := g.TruncateAcross(0.2, stream.New(3, 1))
	require.NoError(t, err)
	require.InDelta(t, 1, floats.Norm(half.Half[0].A, 2), 1e-12)
	outside := 0.0
	for i := range n {
		if !half.Contains(all.Values[i*5 : i*5+5]) {
			outside++
		}
	}
	require.InDelta(t, 0.2, outside/n, 4.5*math.Sqrt(0.2*0.8/n))
	other, err := g.TruncateAcross(0.2, stream.New(4, 1))
	require.NoError(t, err)
	require.NotEqual(t, half.Half[0].A, other.Half[0].A)

	inside, err := g.SampleInside(half, n, stream.New(5, 1))
	require.NoError(t, err)
	require.Equal(t, n, inside.N)
	a := mat.NewVecDense(5, half.Half[0].A)
	var along []float64
	for i := range n {
		row := inside.Values[i*5 : i*5+5]
		require.True(t, half.Contains(row))
		along = append(along, mat.Dot(a, mat.NewVecDense(5, row)))
	}
	// E[z | z < Φ⁻¹(0.8)] = −φ(Φ⁻¹(0.8))/0.8 = −0.34995
	sd := math.Sqrt(mat.Inner(a, inverse(t, g.Precision), a))
	mean, variance := stat.MeanVariance(along, nil)
	require.InDelta(t, floats.Dot(half.Half[0].A, g.Mean)-0.34995*sd, mean, 4.5*math.Sqrt(variance/n))

	far := domain.All(5)
	far.Lower[0] = 40
	_, err = g.SampleInside(far, 10, stream.New(6, 1))
	require.ErrorContains(t, err, "fewer than one draw in 10000")
}

func TestSimulateQuartic(t *testing.T) {
	pairs, edges := 0, 0
	for seed := range uint64(30) {
		theta, err := simulate.Quartic(10, stream.New(seed, 1))
		require.NoError(t, err)
		var e mat.EigenSym
		require.True(t, e.Factorize(theta, false))
		require.LessOrEqual(t, e.Values(nil)[9], -0.1+1e-12)
		for j := range 10 {
			require.Equal(t, -1., theta.At(j, j))
			for k := j + 1; k < 10; k++ {
				pairs++
				if theta.At(j, k) != 0 {
					edges++
				}
				require.LessOrEqual(t, math.Abs(theta.At(j, k)), 0.4)
			}
		}
	}
	p := 2. / 9
	require.InDelta(t, p, float64(edges)/float64(pairs), 4.5*math.Sqrt(p*(1-p)/float64(pairs)))
	_, err := simulate.Quartic(1, stream.New(1))
	require.ErrorContains(t, err, "at least 2 columns")
}
