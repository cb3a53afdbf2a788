package source_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/optim"
	"missingscore/trainers/source"
)

// A cell that is near −1.5 or near 1.5 whatever the other is. A mixture learns the
// conditional distribution: all of its draws count alike, and their mean is that of the cell.
// A normal sits on one of the two.
func TestMixtureLearnsTwoModes(t *testing.T) {
	const d, n, r = 2, 100, 200
	truth, err := model.NewMixture(simulate.Mixture{Weights: []float64{1, 2}, Means: [][]float64{{0, 1.5}, {0.5, -1.5}}, Deviations: [][]float64{{1, 0.4}, {1, 0.6}}})
	require.NoError(t, err)
	b := data.NewBatch(n, d)
	rng := stream.New(4)
	for i := range n {
		b.Rows = append(b.Rows, i)
		b.X[i*d], b.Mask[i*d], b.Weight[i] = rng.NormFloat64(), 1, 1./n
	}
	learned := func(imp nets.Imputer) (effective, off float64) {
		prog, err := losses.NewImputer(graph.Float64, losses.KL, imp, truth, losses.Classical{}, nil, n)
		require.NoError(t, err)
		losses.BindImputer(prog, nil, b)
		adam, grads := optim.Adam{Rate: 0.01}, [][]float64{}
		for _, p := range imp.Params() {
			grads = append(grads, prog.Grad(p))
		}
		for range 400 {
			for i := range prog.Input(losses.InputNoise) {
				prog.Input(losses.InputNoise)[i] = rng.NormFloat64()
			}
			require.NoError(t, prog.Run())
			adam.Step(imp.Params(), grads)
		}
		s, err := source.Imputer.New(source.Setting{Model: truth, Imputer: imp, Batch: n, Draws: r})
		require.NoError(t, err)
		x, log := make([]float64, n*r*d), make([]float64, n*r)
		require.NoError(t, s.Complete(b, x, log, new(source.Stream).At(1, stream.Impute)))
		for i := range n {
			var sum, squares, mean float64
			for k := i * r; k < (i+1)*r; k++ {
				w := math.Exp(density(x[k*d], x[k*d+1]) - log[k])
				sum, squares, mean = sum+w, squares+w*w, mean+x[k*d+1]/r
			}
			v := b.X[i*d]
			up, down := math.Exp(-v*v/2), 2*math.Exp(-(v-0.5)*(v-0.5)/2)
			effective, off = effective+sum*sum/squares/r/n, off+math.Abs(mean-1.5*(up-down)/(up+down))/n
		}
		return effective, off
	}
	effective, off := learned(nets.NewMixtureImputer(d, nets.MixtureOptions{Components: 3, Hidden: 20}, stream.New(5)))
	require.Greater(t, effective, 0.9)
	require.Less(t, off, 0.25) // of 200 draws the mean itself is off by 0.08 on average
	_, off = learned(nets.NewNormalImputer(d, nets.NormalOptions{Hidden: 20}, stream.New(5)))
	require.Greater(t, off, 0.6)
}

// density is the log density of the test's truth, up to a constant.
func density(x, y float64) float64 {
	return math.Log(math.Exp(-x*x/2-math.Pow((y-1.5)/0.4, 2)/2)/0.4 + 2*math.Exp(-(x-0.5)*(x-0.5)/2-math.Pow((y+1.5)/0.6, 2)/2)/0.6)
}
