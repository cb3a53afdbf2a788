package trainers_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
)

// On a ring, of which no normal knows anything, score matching brings an energy and a
// score network near the truth: their Fisher divergence is a small part of what the
// best normal leaves, that with the truth's mean and covariance.
func TestNeuralModelsFitARing(t *testing.T) {
	of := data.SimulateRing()
	truth, err := graph.NewMixture(of)
	require.NoError(t, err)
	table, err := of.Sample(1000, stream.New(1, 1))
	require.NoError(t, err)
	sample := truth.Sample(2000, stream.New(1, 2))
	divergence := func(m graph.Model) float64 {
		f, err := trainers.NewFisherDivergence(m, truth, sample)
		require.NoError(t, err)
		v, _, err := f.Value()
		require.NoError(t, err)
		return v
	}

	var covariance, precision mat.SymDense
	stat.CovarianceMatrix(&covariance, mat.NewDense(2000, 2, sample), nil)
	var c mat.Cholesky
	require.True(t, c.Factorize(&covariance))
	require.NoError(t, c.InverseTo(&precision))
	best := graph.NewGaussian(2, graph.CholeskyFactor)
	require.NoError(t, best.SetPrecision(&precision))
	normal := divergence(best)

	o := nets.NetworkOptions{Hidden: []int{32, 32}}
	energy, err := nets.NewEnergy(2, o, stream.New(1, 3))
	require.NoError(t, err)
	network, err := nets.NewScoreNetwork(2, o, stream.New(1, 4))
	require.NoError(t, err)
	for name, m := range map[string]graph.Model{"energy": energy, "score network": network} {
		before := divergence(m)
		_, err := trainers.Fit(context.Background(), table, m, losses.Classical{},
			trainers.FitConfig{Config: trainers.Config{Method: "full"}, Epochs: 200, Rate: 0.005}, &trainers.State{}, nil)
		require.NoError(t, err)
		after := divergence(m)
		t.Logf("%s: %.3g before, %.3g after, best normal %.3g", name, before, after, normal)
		require.Less(t, after, normal/5, name)
	}
	// Pseudo-losses need a log density.
	_, err = trainers.Fit(context.Background(), table, network, losses.Classical{},
		trainers.FitConfig{Config: trainers.Config{Method: "var"}, Epochs: 1}, &trainers.State{}, nil)
	require.ErrorContains(t, err, "no log density")
}
