package mcmc_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/mcmc"
)

// Chains that all start in one of two wells are in both with their right shares, by
// independent proposals that favour one of them.
func TestJumpsBetweenModes(t *testing.T) {
	m := wells{model.NewGaussian(2, model.CholeskyFactor)}
	start := make([]float64, 2*chains)
	for c := range chains {
		start[2*c+1] = 6
	}
	o := mcmc.Options{Travel: math.Pi / 2, Draws: 400, Scale: []float64{1.5, 5}}
	share := func() (share, square float64) {
		r, err := mcmc.HMC(context.Background(), m, nil, start, o, stream.New(6, 1))
		require.NoError(t, err)
		for c := range chains {
			y := r.Last[2*c+1]
			square += y * y / chains
			if y < 0 {
				share += 1. / chains
			}
		}
		return share, square
	}
	stuck, _ := share()
	require.Less(t, stuck, 0.1)
	o.Centre = []float64{0.5, 3}
	met, square := share()
	require.InDelta(t, 0.5, met, 4.5*0.5/math.Sqrt(chains))
	require.InDelta(t, 37, square, 4.5*math.Sqrt((4*36+2.)/chains)) // y² has variance 4·36 + 2 in either well
}

// evaluations counts how often a model is evaluated.
type evaluations struct {
	model.Model
	n *int
}

func (e evaluations) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, d := graph.Shape(x)
	same := b.Apply(graph.Op{Name: "counted", Rows: n, Cols: d, Kernel: func(out []float64, in [][]float64) error {
		*e.n++
		copy(out, in[0])
		return nil
	}}, x)
	return e.Model.Evaluate(b, same)
}

// An iteration goes as far as is asked, by as few steps as that needs.
func TestTravel(t *testing.T) {
	n := 0
	normal := model.NewGaussian(2, model.CholeskyFactor)
	m := evaluations{normal, &n}
	run := func(o mcmc.Options) (perIteration float64) {
		n, o.WarmUp, o.Draws = 0, 200, 200
		r, err := mcmc.HMC(context.Background(), m, nil, make([]float64, 200), o, stream.New(7, 1))
		require.NoError(t, err)
		require.Less(t, r.WorstRHat(), 1.05)
		return float64(n-1) / 400
	}
	require.Equal(t, 12., run(mcmc.Options{}))
	short, long := run(mcmc.Options{Travel: math.Pi / 2}), run(mcmc.Options{Travel: 2 * math.Pi})
	require.Less(t, short, 3.)
	require.InDelta(t, 4, long/short, 1.5)
	require.Equal(t, 2., run(mcmc.Options{Travel: 100, Leapfrog: 2}))

	require.NoError(t, normal.SetPrecision(mat.NewSymDense(2, []float64{1, -0.98, -0.98, 1}))) // steps of about √0.02 deviations
	require.InDelta(t, 8, run(mcmc.Options{Travel: math.Pi / 2}), 3)
}
