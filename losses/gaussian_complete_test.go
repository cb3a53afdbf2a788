package losses_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/losses"
)

func gapsIn(t *testing.T, n int) *data.Table {
	t.Helper()
	g, err := simulate.Star(4, stream.New(3, stream.Simulate))
	require.NoError(t, err)
	complete, err := g.Sample(n, stream.New(3, 1))
	require.NoError(t, err)
	table, err := data.HideMCAR(complete, 0.4, stream.New(3, stream.Hide))
	require.NoError(t, err)
	return table
}

func completeLoss(t *testing.T, table *data.Table, g *model.Gaussian, l losses.Loss) *graph.Program {
	t.Helper()
	p, err := losses.New(graph.Float64, l, losses.Uniform, g, losses.Classical, table.N, 1)
	require.NoError(t, err)
	b := data.NewBatch(table.N, table.D)
	rows := make([]int, table.N)
	for i := range rows {
		rows[i] = i
	}
	b.Fill(table, rows, 1/float64(table.N))
	copy(p.Input(losses.InputX), b.X)
	losses.Bind(p, l, losses.Classical, b, nil)
	require.NoError(t, p.Run())
	return p
}

// Without missing cells it is ordinary score matching, in every parameterisation.
func TestGaussianCompleteWithoutGaps(t *testing.T) {
	table := gapsIn(t, 50)
	for i := range table.Observed {
		table.Observed[i] = true
	}
	p := mat.NewSymDense(4, []float64{1.5, 0.2, 0, -0.3, 0.2, 1, 0.1, 0, 0, 0.1, 0.8, 0.2, -0.3, 0, 0.2, 1.2})
	for _, kind := range []model.Parameterisation{model.CholeskyFactor, model.FreeSymmetric, model.Natural} {
		g := model.NewGaussian(4, kind)
		require.NoError(t, g.SetPrecision(p))
		g.SetMean([]float64{0.1, 0, -0.3, 0.2})
		a, b := completeLoss(t, table, g, losses.GaussianComplete), completeLoss(t, table, g, losses.Complete)
		require.InDelta(t, b.Output(losses.OutputReported)[0], a.Output(losses.OutputReported)[0], 1e-11)
		for _, q := range g.Params() {
			require.InDeltaSlice(t, b.Grad(q), a.Grad(q), 1e-11)
		}
	}
}
