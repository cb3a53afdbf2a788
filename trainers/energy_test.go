package trainers_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/optim"
)

// On a ring, of which no normal knows anything, score matching brings an energy and a
// score network near the truth: their Fisher divergence is a small part of what the
// best normal leaves, that with the truth's mean and covariance.
func TestNeuralModelsFitARing(t *testing.T) {
	of := simulate.Ring()
	truth, err := model.NewMixture(of)
	require.NoError(t, err)
	table, err := of.Sample(1000, stream.New(1, 1))
	require.NoError(t, err)
	sample, err := truth.SampleRows(2000, nil, stream.New(1, 2))
	require.NoError(t, err)
	divergence := func(m model.Model) float64 {
		f, err := evaluate.NewFisherDivergence(m, truth, sample)
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
	best := model.NewGaussian(2, model.CholeskyFactor)
	require.NoError(t, best.SetPrecision(&precision))
	normal := divergence(best)

	o := nets.NetworkOptions{Hidden: []int{32, 32}}
	energy, err := nets.NewEnergy(2, o, stream.New(1, 3))
	require.NoError(t, err)
	network, err := nets.NewScoreNetwork(2, o, stream.New(1, 4))
	require.NoError(t, err)
	for name, m := range map[string]model.Model{"energy": energy, "score network": network} {
		before := divergence(m)
		_, err := trainers.Estimate(t.Context(), table, fitOf(m, engine.Config{Method: "full"}, descent.Passes(200, 0.005)), trainers.Run{})
		require.NoError(t, err)
		after := divergence(m)
		t.Logf("%s: %.3g before, %.3g after, best normal %.3g", name, before, after, normal)
		require.Less(t, after, normal/5, name)
	}
	// Pseudo-losses need a log density.
	_, err = trainers.Estimate(t.Context(), table, fitOf(network, engine.Config{Method: "var"}, descent.Passes(1, 0)), trainers.Run{})
	require.ErrorContains(t, err, "without a log density")
}

// Trained on a ring at all levels by denoising (Vincent 2011), one network's score at
// each level is near that of the ring blurred so much, which is known.
func TestNoiseConditionalModelsDenoiseARing(t *testing.T) {
	const d, batch, steps = 2, 200, 1500
	ring := noised(simulate.Ring(), math.Sqrt2, 0) // columns of variance 1
	o := nets.NetworkOptions{Hidden: []int{32, 32}, NoiseConditional: true}
	energy, err := nets.NewEnergy(d, o, stream.New(1, 3))
	require.NoError(t, err)
	network, err := nets.NewScoreNetwork(d, o, stream.New(1, 4))
	require.NoError(t, err)
	for name, m := range map[string]model.Model{"energy": energy, "score network": network} {
		at := m.(model.NoiseConditional).AtNoise
		p, err := graph.Build(func(b *graph.Builder) {
			score := at(b.Input("signal", batch, 1), b.Input("noise", batch, 1)).Evaluate(b, b.Input("x", batch, d)).Score
			gap := b.Sub(score, b.Input("target", batch, d))
			b.Minimise(b.Sum(b.Prod(b.Input("weight", batch, 1), b.RowSum(b.Square(gap)))), m.Params()...)
		})
		require.NoError(t, err)
		adam := optim.Adam{Rate: 0.003}
		rng := stream.New(1, 5)
		for range steps {
			x := p.Input("x")
			copy(x, ring.Draw(batch, rng))
			for i := range batch {
				signal, noise := 0.5+rng.Float64(), math.Exp(3*rng.Float64()-2)
				p.Input("signal")[i], p.Input("noise")[i] = signal, noise
				p.Input("weight")[i] = noise * noise * (signal*signal + noise*noise) / (signal * signal) / batch
				for j := i * d; j < i*d+d; j++ {
					e := rng.NormFloat64()
					x[j] = signal*x[j] + noise*e
					p.Input("target")[j] = -e / noise
				}
			}
			require.NoError(t, p.Run())
			var grads [][]float64
			for _, q := range m.Params() {
				grads = append(grads, p.Grad(q))
			}
			adam.Step(m.Params(), grads)
		}
		for _, level := range []nets.Level{{Signal: 1, Noise: 0.2}, {Signal: 0.7, Noise: 0.4}, {Signal: 1, Noise: 1}} {
			truth, err := model.NewMixture(noised(ring, level.Signal, level.Noise))
			require.NoError(t, err)
			sample, err := truth.SampleRows(2000, nil, stream.New(1, 6))
			require.NoError(t, err)
			divergence := func(m model.Model) float64 {
				f, err := evaluate.NewFisherDivergence(m, truth, sample)
				require.NoError(t, err)
				v, _, err := f.Value()
				require.NoError(t, err)
				return v
			}
			normal := model.NewGaussian(d, model.CholeskyFactor)
			variance := level.Signal*level.Signal + level.Noise*level.Noise
			require.NoError(t, normal.SetPrecision(mat.NewSymDense(d, []float64{1 / variance, 0, 0, 1 / variance})))
			got, want := divergence(atLevel{m.(model.NoiseConditional), level}), divergence(normal)
			t.Logf("%s at %v: %.3g, normal %.3g", name, level, got, want)
			require.Less(t, got, want/5, "%s at %v", name, level)
		}
	}
}

// noised is the distribution of a x + σ ε.
func noised(m simulate.Mixture, a, sigma float64) simulate.Mixture {
	out := simulate.Mixture{Weights: m.Weights}
	for k := range m.Weights {
		mean, sd := slices.Clone(m.Means[k]), slices.Clone(m.Deviations[k])
		for j := range mean {
			mean[j] *= a
			sd[j] = math.Hypot(a*sd[j], sigma)
		}
		out.Means, out.Deviations = append(out.Means, mean), append(out.Deviations, sd)
	}
	return out
}

// atLevel is a noise-conditional model with all rows at one level.
type atLevel struct {
	model.NoiseConditional
	level nets.Level
}

func (m atLevel) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	column := func(v float64) graph.Node { return b.Rows(b.Constant(1, 1, []float64{v}), n) }
	return m.AtNoise(column(m.level.Signal), column(m.level.Noise)).Evaluate(b, x)
}
