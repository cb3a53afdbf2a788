package losses_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
)

// scaled is a normal of x/c, c = √(a² + σ²): a model that knows its level of noise.
type scaled struct {
	*model.Gaussian
	signal, noise graph.Node
}

func (s scaled) AtNoise(signal, noise graph.Node) model.Model {
	return scaled{s.Gaussian, signal, noise}
}

func (s scaled) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	reciprocal := &graph.Function{Name: "1/c", F: func(v float64) float64 { return 1 / math.Sqrt(v) }}
	inverse := b.Columns(b.Map(reciprocal, b.Add(b.Map(graph.Square, s.signal), b.Map(graph.Square, s.noise))), d)
	t := s.Gaussian.Evaluate(b, b.Prod(x, inverse))
	return model.Evaluation{LogDensity: t.LogDensity, Score: b.Prod(t.Score, inverse)}
}

var ladder = losses.Denoising{Noise: noise.Schedule{Kind: noise.Preserving, Least: 0.1, Most: 20}, Weight: "variance"}

func TestNoiseConditionalGradients(t *testing.T) {
	p := newProblem(t, 6, 0.4, model.CholeskyFactor, 31)
	const r = 4
	for _, l := range []way{byIW, byDirect} {
		prog, err := losses.New(graph.Float64, l.Loss, l.weighting, scaled{Gaussian: p.model}, ladder, p.n, r)
		require.NoError(t, err)
		b := p.batch()
		ladder.AddNoise(b, stream.New(32))
		for i := range p.n * r {
			copy(prog.Input(losses.InputX)[i*d:], b.X[i/r*d:i/r*d+d])
		}
		p.propose(prog, r, 1, stream.New(33))
		losses.Bind(prog, l, ladder, b, nil)
		diff, err := gradcheck.Params(prog, p.model.Params(), gradcheck.Step, func() (float64, error) {
			err := prog.Run()
			return prog.Output(losses.OutputReported)[0], err
		})
		require.NoError(t, err)
		require.Less(t, diff.Error, 1e-8, "%+v", diff)
	}
}

func TestNoiseConditionalImputer(t *testing.T) {
	for _, kind := range []losses.ImputerLoss{losses.KL, losses.Fisher} {
		for _, options := range []nets.NormalOptions{{Hidden: 6, NoiseConditional: true}, {Hidden: 6, NoiseConditional: true, MaskInput: true, DiagonalSD: true}} {
			t.Run(fmt.Sprint(kind, options), func(t *testing.T) { noiseConditionalImputer(t, kind, options) })
		}
	}
}

func noiseConditionalImputer(t *testing.T, kind losses.ImputerLoss, options nets.NormalOptions) {
	p := newProblem(t, 6, 0.5, model.CholeskyFactor, 34)
	imp := nets.NewNormalImputer(d, options, stream.New(35))
	imp.LogSD.Value[0], imp.Slope.Value[0], imp.Slope.Value[1] = -0.2, 0.4, -0.7
	prog, err := losses.NewImputer(graph.Float64, kind, imp, scaled{Gaussian: p.model}, ladder, nil, p.n)
	require.NoError(t, err)
	b := p.batch()
	ladder.AddNoise(b, stream.New(36))
	losses.BindImputer(prog, nil, b)
	eps, rng := prog.Input(losses.InputNoise), stream.New(37)
	for i := range eps {
		eps[i] = rng.NormFloat64()
	}
	diff, err := gradcheck.Params(prog, imp.Params(), gradcheck.Step, func() (float64, error) {
		err := prog.Run()
		return prog.Output(losses.OutputReported)[0], err
	})
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-7, "%v: %+v", kind, diff)

	forward, err := losses.NewForward(graph.Float64, imp, d, p.n)
	require.NoError(t, err)
	copy(forward.Input(losses.InputX), b.X)
	if options.MaskInput {
		copy(forward.Input(losses.InputMask), b.Mask)
	}
	copy(forward.Input(losses.InputSignal), b.Signal)
	copy(forward.Input(losses.InputNoiseLevel), b.Noise)
	require.NoError(t, forward.Run())
	want := 0.0
	for i, w := range b.Weight {
		a, sigma := b.Signal[i], b.Noise[i]
		size, level := math.Hypot(a, sigma), 0.25*math.Log(sigma/a)
		logScale := math.Log(size) + 0.4*level - 0.7*level*level
		require.InDelta(t, logScale, forward.Output(losses.OutputLevelLogSD)[i], 1e-12)
		x, logQ := make([]float64, d), 0.0
		for j := range d {
			at := i*d + j
			if x[j] = b.X[at]; b.Mask[at] == 0 {
				logSD := imp.LogSD.Value[min(j, len(imp.LogSD.Value)-1)] + logScale
				x[j] = forward.Output(losses.OutputMean)[at] + math.Exp(logSD)*eps[at]
				logQ -= 0.5*eps[at]*eps[at] + logSD
			}
		}
		mu, pr, logP, score := p.model.Mean(), p.model.Precision(), 0.0, make([]float64, d)
		for j := range d {
			for k := range d {
				score[j] -= pr.At(j, k) * (x[k]/size - mu[k])
			}
			logP += 0.5 * (x[j]/size - mu[j]) * score[j]
			score[j] /= size
		}
		if kind == losses.KL {
			want += w * (logQ - logP)
			continue
		}
		for j := range d {
			if at := i*d + j; b.Mask[at] == 0 {
				logSD := imp.LogSD.Value[min(j, len(imp.LogSD.Value)-1)] + logScale
				gap := eps[at]/math.Exp(logSD) + score[j]
				want += w * gap * gap
			}
		}
	}
	require.NoError(t, prog.Run())
	require.InDelta(t, want, prog.Output(losses.OutputReported)[0], 1e-9)
}
