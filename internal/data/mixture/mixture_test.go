package mixture_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/data/mixture"
	"missingscore/internal/stream"
)

func example() *mixture.Mixture {
	m := mixture.New(2, []int{0, 3, 0, 2})
	m.Weights = []float64{0.7, 0.3}
	m.Means = [][]float64{{-1, 2}, {1.5, 0}}
	m.Covariances = [][]float64{{0.25, 0.2, 0.2, 1}, {1.44, -0.6, -0.6, 4}}
	m.Shares = [][]float64{{0.2, 0.5, 0.3, 0.9, 0.1}, {0.6, 0.1, 0.3, 0.25, 0.75}}
	return m
}

func TestDensity(t *testing.T) {
	m := example()
	normal := func(x, mean, variance float64) float64 {
		return distuv.Normal{Mu: mean, Sigma: math.Sqrt(variance)}.Prob(x)
	}
	row, joint := []float64{0.4, 1, -1, 1}, make([]float64, 2)
	// N(x, y) = N(x) N(y | x)
	first := 0.7 * normal(0.4, -1, 0.25) * 0.5 * normal(-1, 2+0.2/0.25*1.4, 1-0.2*0.2/0.25) * 0.1
	second := 0.3 * normal(0.4, 1.5, 1.44) * 0.1 * normal(-1, -0.6/1.44*(0.4-1.5), 4-0.36/1.44) * 0.75
	full := m.Given([]bool{true, true, true, true})
	require.InDelta(t, math.Log(first+second), full.Joint(row, joint), 1e-12)
	require.InDelta(t, first, math.Exp(joint[0]), 1e-12)

	some := 0.7*0.5*normal(-1, 2, 1) + 0.3*0.1*normal(-1, 0, 4)
	require.InDelta(t, math.Log(some), m.Given([]bool{false, true, true, false}).Posterior(row, joint), 1e-12)
	require.InDelta(t, 0.7*0.5*normal(-1, 2, 1)/some, joint[0], 1e-12)

	score, step := make([]float64, 4), 1e-5
	given := m.Given([]bool{true, true, true, false})
	given.Score(row, score)
	for _, j := range []int{0, 2} {
		at := func(x float64) float64 {
			moved := slices.Clone(row)
			moved[j] += x
			return given.Joint(moved, joint)
		}
		require.InDelta(t, (at(step)-at(-step))/(2*step), score[j], 1e-7)
	}
	require.True(t, math.IsNaN(score[1]) && math.IsNaN(score[3]))
}

// The mean of x in a level is Σ w_k π_k m_k / Σ w_k π_k.
func TestDraws(t *testing.T) {
	m, n := example(), 40000
	values := m.Draw(n, stream.New(1))
	for c, share := range []float64{0.7*0.2 + 0.3*0.6, 0.7*0.5 + 0.3*0.1, 0.3} {
		var x []float64
		for row := range slices.Chunk(values, 4) {
			if int(row[1]) == c {
				x = append(x, row[0])
			}
		}
		require.InDelta(t, share, float64(len(x))/float64(n), 4*math.Sqrt(share*(1-share)/float64(n)))
		first := 0.7 * m.Shares[0][c] / share
		mean, sd := stat.MeanStdDev(x, nil)
		require.InDelta(t, first*-1+(1-first)*1.5, mean, 4*sd/math.Sqrt(float64(len(x))))
		require.InDelta(t, first*(0.25+1)+(1-first)*(1.44+2.25)-math.Pow(first*-1+(1-first)*1.5, 2), sd*sd, 0.1)
	}
}

// The other cells are of a component with its posterior probability.
func TestConditional(t *testing.T) {
	m, n := example(), 20000
	observed, r := []bool{false, false, true, true}, make([]float64, 2)
	given := m.Given(observed)
	given.Posterior([]float64{0, 0, 0.5, 1}, r)
	means := []float64{-1 + 0.2*(0.5-2), 1.5 - 0.6/4*0.5} // of x given y
	levels, rng := make([]float64, 3), stream.New(2)
	var x []float64
	for range n {
		row := []float64{0, 0, 0.5, 1}
		given.Complete(row, rng)
		require.Equal(t, []float64{0.5, 1}, row[2:])
		x = append(x, row[0])
		levels[int(row[1])] += 1 / float64(n)
	}
	mean, sd := stat.MeanStdDev(x, nil)
	require.InDelta(t, r[0]*means[0]+r[1]*means[1], mean, 4*sd/math.Sqrt(float64(n)))
	spread := r[0]*(0.25-0.04+means[0]*means[0]) + r[1]*(1.44-0.09+means[1]*means[1]) - math.Pow(r[0]*means[0]+r[1]*means[1], 2)
	require.InDelta(t, spread, sd*sd, 0.06)
	for c, share := range levels {
		require.InDelta(t, r[0]*m.Shares[0][c]+r[1]*m.Shares[1][c], share, 4*0.5/math.Sqrt(float64(n)))
	}
	row := []float64{0, 0, 0.5, 1}
	given.Expect(row)
	require.InDelta(t, r[0]*means[0]+r[1]*means[1], row[0], 1e-12)
	require.Zero(t, row[1], "the second component is likelier, and its first level")
	require.Greater(t, r[1], 0.7)
}

func TestRescale(t *testing.T) {
	m := example()
	require.NoError(t, m.Rescale([]float64{10, 99, -1, 99}, []float64{2, 99, 3, 99}))
	require.Equal(t, [][]float64{{8, 5}, {13, -1}}, m.Means)
	require.InDeltaSlice(t, []float64{1.44 * 4, -0.6 * 6, -0.6 * 6, 4 * 9}, m.Covariances[1], 1e-12)
	require.InDelta(t, 6, m.Deviation(1, 2), 1e-12)
}
