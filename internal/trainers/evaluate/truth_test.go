package evaluate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/evaluate"
)

func TestFisherDivergence(t *testing.T) {
	g := testtables.Must(simulate.Normal(5, stream.New(31, stream.Simulate)))
	truth, m := testtables.At(t, g), model.NewGaussian(5, model.Natural)
	sample := testtables.Must(g.Sample(40000, stream.New(32, stream.Simulate)))
	f := testtables.Must(evaluate.NewFisherDivergence(m, truth, sample.Values))
	for range 2 { // it follows the model
		want := testtables.Must(evaluate.GaussianFisher(m, truth))
		got, se, err := f.Value()
		require.NoError(t, err)
		require.InDelta(t, want, got, 4*se+1e-9)
		require.Less(t, se, 0.02*want+1e-9)
		require.NoError(t, m.SetPrecision(g.Precision))
		m.SetMean([]float64{0, 0.1, 0.2, 0.3, 0.9})
	}
	m.SetMean(g.Mean)
	got, _, err := f.Value()
	require.NoError(t, err)
	require.InDelta(t, 0, got, 1e-20)
	_, err = evaluate.NewFisherDivergence(m, truth, sample.Values[:7])
	require.ErrorContains(t, err, "do not fit")
}
