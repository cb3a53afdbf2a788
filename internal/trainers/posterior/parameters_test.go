package posterior_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/posterior"
)

// Means m and −m, deviation 1, correlation 0.6.
func pair(m float64, cuts ...[]float64) *posterior.Parameters {
	const rho = 0.6
	own, off := 1/(1-rho*rho), -rho/(1-rho*rho)
	precision := []float64{own, off, off, own}
	return &posterior.Parameters{Cuts: cuts, Levels: []int{0, 0}, Draws: []posterior.Mixture{{
		LogWeights: []float64{-math.Ln2, -math.Ln2}, Means: []float64{m, m, -m, -m}, Precisions: append(precision, precision...)}}}
}

func logDensity(t *testing.T, p *posterior.Parameters, x ...float64) float64 {
	require.NoError(t, p.Check())
	log, err := p.LogDensity()
	require.NoError(t, err)
	observed := make([]bool, len(x))
	for j, v := range x {
		observed[j] = !math.IsNaN(v)
	}
	return log(x, observed, new(stream.Stream).At(1))
}

// A mixture of normals and its margins, ¼ + asin ρ/2π, a normal density times a probability,
// equally likely levels.
func TestLogDensity(t *testing.T) {
	nan := math.NaN()
	n := distuv.UnitNormal
	two := func(m, x, y float64) float64 {
		x, y = x-m, y-m
		return math.Exp(-(x*x-1.2*x*y+y*y)/(2*0.64)) / (2 * math.Pi * 0.8)
	}
	p := pair(1, nil, nil)
	require.InDelta(t, math.Log((two(1, 0.3, -0.4)+two(-1, 0.3, -0.4))/2), logDensity(t, p, 0.3, -0.4), 1e-10)
	require.InDelta(t, math.Log((n.Prob(0.3-1)+n.Prob(0.3+1))/2), logDensity(t, p, 0.3, nan), 1e-10)
	require.Zero(t, logDensity(t, p, nan, nan))

	p = pair(0, []float64{0}, []float64{0})
	require.InDelta(t, math.Log(0.25+math.Asin(0.6)/(2*math.Pi)), logDensity(t, p, 1, 1), 0.05)
	require.InDelta(t, math.Log(0.25-math.Asin(0.6)/(2*math.Pi)), logDensity(t, p, 1, -1), 0.05)
	p = pair(0, nil, []float64{0.5})
	require.InDelta(t, math.Log(n.Prob(-0.7)*n.CDF((0.5+0.6*0.7)/0.8)), logDensity(t, p, -0.7, 0), 1e-10)

	p = &posterior.Parameters{Cuts: make([][]float64, 1), Levels: []int{3}, Draws: []posterior.Mixture{
		{LogWeights: []float64{0}, Means: []float64{0, 0}, Precisions: []float64{1, 0, 0, 1}},
		{LogWeights: []float64{0}, Means: []float64{100, 0}, Precisions: []float64{1, 0, 0, 1}}}} // surely level 0
	require.InDelta(t, math.Log(1./6), logDensity(t, p, 2), 0.05)
	require.InDelta(t, math.Log(1./6+0.5), logDensity(t, p, 0), 0.05)
	p.Draws[0].LogWeights[0] = 1
	require.ErrorContains(t, p.Check(), "do not add up to 1")
}

// Given the first above 0 the second has the mean ρ√(2/π) and the variance 1 − 2ρ²/π; the
// correlation is (ρ + m²)/(1 + m²).
func TestParametersDraw(t *testing.T) {
	const n = 20000
	rows := &data.Table{N: n, D: 2, Values: make([]float64, 2*n), Observed: make([]bool, 2*n)}
	for i := range n {
		rows.Values[2*i], rows.Observed[2*i] = 1, true
	}
	drawn, err := pair(0, []float64{0}, nil).Complete(rows, 7, new(stream.Stream).At(1))
	require.NoError(t, err)
	mean, variance := stat.MeanVariance(drawn, nil)
	require.InDelta(t, 0.6*math.Sqrt(2/math.Pi), mean, 0.03)
	require.InDelta(t, 1-2*0.36/math.Pi, variance, 0.04)

	p := pair(2, nil, nil)
	p.Draws = append(p.Draws, p.Draws[0])
	values, err := p.Sample(n+1, new(stream.Stream).At(1))
	require.NoError(t, err)
	var x, y []float64
	for i := range n + 1 {
		x, y = append(x, values[2*i]), append(y, values[2*i+1])
	}
	require.InDelta(t, 4.6/5, stat.Correlation(x, y, nil), 0.005)
	require.InDelta(t, 5, stat.Variance(x, nil), 0.1)
}
