package nets

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/stream"
)

func TestTilt(t *testing.T) {
	made, err := NewEnergy(2, NetworkOptions{Hidden: []int{5}}, stream.New(1))
	require.NoError(t, err)
	m := made.(*energy)
	of := mixture.New(2, []int{0, 0})
	of.Weights, of.Means = []float64{0.3, 0.7}, [][]float64{{-1, 0.5}, {2, 1}}
	of.Covariances = [][]float64{{1, 0.6, 0.6, 2}, {0.5, -0.2, -0.2, 1}}
	a := []float64{0.9, 0.1}
	points := []float64{0, 0, -1, 1, 2, 2, 5, -3}
	at := func(m model.Model, points ...float64) (log, score []float64) {
		e, err := model.NewEvaluator(m, len(points)/2, false)
		require.NoError(t, err)
		log, score, err = e.At(points)
		require.NoError(t, err)
		return log, score
	}
	plain, _ := at(m, points...)
	_, none, _ := m.Split()
	require.Nil(t, none)
	m = m.WithTilt(of, a).(*energy)
	from := *of
	from.Covariances = [][]float64{{0.25, 0.15, 0.15, 0.5}, {0.125, -0.05, -0.05, 0.25}}
	to := from
	to.Weights = a
	ratio := func(x []float64) float64 {
		part := make([]float64, 2)
		all := []bool{true, true}
		return to.Given(all).Joint(x, part) - from.Given(all).Joint(x, part)
	}
	tilted, _ := at(m, points...)
	for i := range plain {
		require.InDelta(t, ratio(points[2*i:2*i+2]), tilted[i]-plain[i], 1e-10)
	}
	const h = 1e-5
	up, _ := at(m, 1+h, 1, 1-h, 1)
	_, score := at(m, 1, 1)
	require.InDelta(t, (up[0]-up[1])/(2*h), score[0], 1e-6)

	untilted, got, factor := m.Split()
	log, _ := at(untilted, points...)
	require.InDeltaSlice(t, plain, log, 1e-12)
	all := of.Given([]bool{true, true})
	_, unit := factor(points[:2])
	for i := range plain {
		x := points[2*i : 2*i+2]
		by, density := factor(x)
		require.InDelta(t, ratio(x), by, 1e-10)
		part := make([]float64, 2)
		require.InDelta(t, all.Joint(x, part)-all.Joint(points[:2], part), density-unit, 1e-10)
	}

	require.InDeltaSlice(t, of.Weights, got.Weights, 1e-12)
	require.InDeltaSlice(t, of.Means[1], got.Means[1], 1e-12)
	require.InDeltaSlice(t, of.Covariances[0], got.Covariances[0], 1e-12)

	require.NoError(t, m.Rescale([]float64{3, -1}, []float64{2, 0.5}))
	units := []float64{}
	for i, v := range points {
		units = append(units, []float64{3, -1}[i%2]+[]float64{2, 0.5}[i%2]*v)
	}
	again, _ := at(m, units...)
	for i := range tilted {
		require.InDelta(t, tilted[i]-tilted[0], again[i]-again[0], 1e-9)
	}
	require.InDelta(t, 4*of.Covariances[0][0], m.mixture().Covariances[0][0], 1e-9)

	back, err := NewEnergy(2, m.options, stream.New(2))
	require.NoError(t, err)
	require.NoError(t, back.(*energy).SetQuantities(m.Quantities()))
	require.False(t, math.IsNaN(again[0]))
}
