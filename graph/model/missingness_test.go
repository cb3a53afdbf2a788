package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/stream"
)

// The last of several columns has no regression.
func logisticOn(d int) *missingness.Logistic {
	rng := stream.New(4, uint64(d))
	l := missingness.NewLogistic(d)
	for j := range max(1, d-1) {
		l.Intercept[j] = rng.NormFloat64()
		for k := range d {
			l.Slope.Set(j, k, 1.5*rng.NormFloat64())
		}
	}
	return l
}

var masks = []float64{1, 0, 0, 1, 1, 0, 1} // repeated over rows of any length

func onlyPhi(t *testing.T, dtype graph.DType, l *missingness.Logistic, x, mask []float64) (log, score, diagonal []float64) {
	t.Helper()
	d := len(l.Intercept)
	n := len(x) / d
	p, err := graph.BuildAs(dtype, func(b *graph.Builder) {
		terms := model.NewLogisticMissingness(l).Evaluate(b, b.Input("x", n, d), b.Input("mask", n, d))
		b.Output("log", terms.LogDensity)
		b.Output("score", terms.Score)
		b.Output("diagonal", terms.Diagonal)
	})
	require.NoError(t, err)
	copy(p.Input("x"), x)
	copy(p.Input("mask"), mask)
	require.NoError(t, p.Run())
	return p.Output("log"), p.Output("score"), p.Output("diagonal")
}

// log φ equals the simulator's, with a fair coin for a column without a regression.
func TestLogisticMissingnessIsTheSimulators(t *testing.T) {
	const d, n = 4, 50
	l := logisticOn(d)
	rng := stream.New(5, 5)
	x, mask, want := make([]float64, n*d), make([]float64, n*d), make([]float64, n)
	p := make([]float64, d)
	for i := range n {
		for j := range d {
			x[i*d+j], mask[i*d+j] = rng.NormFloat64(), float64(rng.IntN(2))
		}
		l.Observed(p, x[i*d:i*d+d])
		want[i] = math.Log(0.5)
		for j := range d - 1 {
			q := p[j]
			if mask[i*d+j] == 0 {
				q = 1 - q
			}
			want[i] += math.Log(q)
		}
	}
	log, score, diagonal := onlyPhi(t, graph.Float64, l, x, mask)
	require.InDeltaSlice(t, want, log, 1e-10)
	single, singleScore, singleDiagonal := onlyPhi(t, graph.Float32, l, x, mask)
	require.InDeltaSlice(t, log, single, 1e-4)
	require.InDeltaSlice(t, score, singleScore, 1e-4)
	require.InDeltaSlice(t, diagonal, singleDiagonal, 1e-4)
}

// In the tails log φ is linear in η, and its score is the slope or 0.
func TestLogisticMissingnessFarOut(t *testing.T) {
	l := missingness.NewLogistic(1)
	l.Intercept[0] = 0
	l.Slope.Set(0, 0, 2)
	log, score, diagonal := onlyPhi(t, graph.Float64, l, []float64{400, 400, -400, -400, 15, 15}, []float64{1, 0, 1, 0, 1, 0})
	small := math.Exp(-30)
	require.InDeltaSlice(t, []float64{0, -800, -800, 0, -small, -30}, log, 1e-12)
	require.InDeltaSlice(t, []float64{0, -2, 2, 0, 2 * small, -2}, score, 1e-12)
	require.InDeltaSlice(t, []float64{0, 0, 0, 0, -4 * small, -4 * small}, diagonal, 1e-20)
	require.InEpsilon(t, 2*small, score[4], 1e-9, "small, not nothing")
}

// fading: a row enters the table with probability exp(−½ Σ_{j∈Λ} x_j²).
type fading struct{}

func (fading) Evaluate(b *graph.Builder, x, mask graph.Node) model.Evaluation {
	minus := b.Scale(-1, mask)
	return model.Evaluation{
		LogDensity:     b.Scale(-0.5, b.RowDot(mask, b.Map(graph.Square, x))),
		Score:          b.Prod(minus, x),
		Diagonal:       b.Scale(1, minus),
		HessianProduct: func(v graph.Node) graph.Node { return b.Prod(minus, v) },
	}
}

func TestJointsAreModels(t *testing.T) {
	for _, m := range []func(d int) model.Joint{
		func(d int) model.Joint { return model.Joint{Model: model.NewGaussian(d, model.CholeskyFactor)} },
		func(d int) model.Joint { // two reasons at once
			return model.Joint{Model: &model.Joint{Model: model.NewQuartic(d), Missingness: fading{}}}
		},
	} {
		modeltest.Run(t, func(d int) model.Model {
			joint := m(d)
			joint.Missingness = model.NewLogisticMissingness(logisticOn(d))
			return model.Observing(&joint, masks)
		})
	}
}
