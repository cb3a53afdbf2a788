package diffusion_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/fitted/diffusion"
	"missingscore/internal/trainers/mcmc"
)

// normals is N(μ, Σ) in two columns; rows a x + σ ε are N(a μ, a²Σ + σ²I).
type normals struct {
	model.Model
	part
	watch func(i int, x, y, a, sigma float64) // called for each row i with a computed score; may be nil
}

type part struct {
	mean       [2]float64
	xx, xy, yy float64 // Σ
}

func normal(p part) normals {
	return normals{Model: model.NewGaussian(2, model.CholeskyFactor), part: p}
}

func (m normals) AtNoise(signal, noise graph.Node) model.Model { return atLevel{m, signal, noise} }

type atLevel struct {
	normals
	signal, noise graph.Node
}

func (m normals) value(x, y, a, sigma float64) (log float64, score [2]float64) {
	xx, xy, yy := a*a*m.xx+sigma*sigma, a*a*m.xy, a*a*m.yy+sigma*sigma
	u, v := x-a*m.mean[0], y-a*m.mean[1]
	det := xx*yy - xy*xy
	score = [2]float64{-(yy*u - xy*v) / det, -(xx*v - xy*u) / det}
	return 0.5 * (u*score[0] + v*score[1]), score
}

func (m atLevel) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	apply := func(cols int, fill func(out []float64, log float64, score [2]float64)) graph.Node {
		return b.Apply(graph.Op{Name: "normal", Rows: n, Cols: cols, Kernel: func(out []float64, in [][]float64) error {
			for i := range n {
				x, y, a, sigma := in[0][2*i], in[0][2*i+1], in[1][i], in[2][i]
				if m.watch != nil {
					m.watch(i, x, y, a, sigma)
				}
				log, score := m.value(x, y, a, sigma)
				fill(out[i*cols:(i+1)*cols], log, score)
			}
			return nil
		}}, x, m.signal, m.noise)
	}
	return model.Evaluation{
		LogDensity: apply(1, func(out []float64, log float64, _ [2]float64) { out[0] = log }),
		Score:      apply(2, func(out []float64, _ float64, s [2]float64) { out[0], out[1] = s[0], s[1] }),
	}
}

var (
	exploding  = noise.Schedule{Kind: noise.Exploding, Least: 0.01, Most: 100}
	preserving = noise.Schedule{Kind: noise.Preserving, Least: 0.1, Most: 20}
	samplers   = map[string]struct {
		draw  func(s *diffusion.Sampler, ctx context.Context, steps int, rng *rand.Rand) ([]float64, error)
		steps int
	}{"langevin": {(*diffusion.Sampler).Langevin, 50}, "sde": {(*diffusion.Sampler).Reverse, 400}}
)

// Allowed discretisation error beyond the tolerances, in standard deviations of a column.
const allowed = 0.03

func requireMoments(t *testing.T, x []float64, mean, variance float64) {
	t.Helper()
	n := float64(len(x))
	require.InDelta(t, mean, stat.Mean(x, nil), math.Sqrt(variance)*(4.5/math.Sqrt(n)+allowed))
	require.InEpsilon(t, variance, stat.Variance(x, nil), 4.5*math.Sqrt(2/n)+2*allowed)
}

func TestNormal(t *testing.T) {
	const n = 1000
	truth := part{mean: [2]float64{0.7, -0.4}, xx: 1.5, xy: -0.6, yy: 0.5}
	for name, c := range samplers {
		for _, s := range []noise.Schedule{exploding, preserving} {
			t.Run(name+" "+string(s.Kind), func(t *testing.T) {
				sampler, err := diffusion.New(normal(truth), s, n)
				require.NoError(t, err)
				x, err := c.draw(sampler, t.Context(), c.steps, stream.New(1, 2))
				require.NoError(t, err)
				draws := mat.NewDense(n, 2, x)
				u, v := mat.Col(nil, 0, draws), mat.Col(nil, 1, draws)
				requireMoments(t, u, truth.mean[0], truth.xx)
				requireMoments(t, v, truth.mean[1], truth.yy)
				se := math.Sqrt((truth.xx*truth.yy + truth.xy*truth.xy) / n)
				require.InDelta(t, truth.xy, stat.Covariance(u, v, nil), 4.5*se+2*allowed*math.Sqrt(truth.xx*truth.yy))
			})
		}
	}
}

func TestComplete(t *testing.T) {
	const n, rho, seen = 800, 0.8, 1.5
	x, mask := make([]float64, 2*n), make([]float64, 2*n)
	for i := range n {
		x[2*i+i%2], mask[2*i+i%2] = seen, 1
		x[2*i+1-i%2] = math.NaN() // values under missing cells are not read
	}
	for _, s := range []noise.Schedule{exploding, preserving} {
		m := normal(part{xx: 1, xy: rho, yy: 1})
		var calls, sum, squares float64
		m.watch = func(i int, x, y, a, sigma float64) {
			z := ([]float64{x, y}[i%2] - a*seen) / sigma
			calls, sum, squares = calls+1, sum+z, squares+z*z
		}
		sampler, err := diffusion.New(m, s, n)
		require.NoError(t, err)
		y, err := sampler.Complete(context.Background(), x, mask, 7500, stream.New(1, 4))
		require.NoError(t, err)
		var drawn []float64
		for i := range n {
			require.Equal(t, seen, y[2*i+i%2])
			drawn = append(drawn, y[2*i+1-i%2])
		}
		requireMoments(t, drawn, rho*seen, 1-rho*rho)
		require.Equal(t, float64(7500*n), calls)
		require.InDelta(t, 0, sum/calls, 4.5/math.Sqrt(calls))
		require.InDelta(t, 1, squares/calls, 4.5*math.Sqrt(2/calls))
	}
}

func TestLevel(t *testing.T) {
	const chains, signal, sigma = 500, 0.8, 0.5
	m := diffusion.Level(normal(part{mean: [2]float64{0.7, -0.4}, xx: 1.5, xy: -0.6, yy: 0.5}), signal, sigma)
	rng := stream.New(1, 5)
	start := make([]float64, 2*chains)
	for i := range start {
		start[i] = rng.NormFloat64()
	}
	r, err := mcmc.HMC(context.Background(), m, nil, start, mcmc.Options{}, rng)
	require.NoError(t, err)
	variance := sigma * sigma / signal / signal
	truth, ok := distmv.NewNormal([]float64{0.7, -0.4}, mat.NewSymDense(2, []float64{1.5 + variance, -0.6, -0.6, 0.5 + variance}), nil)
	require.True(t, ok)
	testtables.RequireNormal(t, truth, mat.NewDense(chains, 2, r.Last), []int{0, 1})
	quartic := diffusion.Level(ignorant{model.NewQuartic(2)}, signal, sigma)
	score, diagonal, err := gradcheck.Model(quartic, []float64{0.3, -1, 0.8, 0.5}, gradcheck.Step)
	require.NoError(t, err)
	require.Less(t, score.Error, 1e-7)
	require.Less(t, diagonal.Error, 1e-7)
	product, err := gradcheck.HessianProduct(quartic, []float64{0.3, -1, 0.8, 0.5}, []float64{1, 2, -1, 0.5}, gradcheck.Step)
	require.NoError(t, err)
	require.Less(t, product.Error, 1e-7)
}

type ignorant struct{ model.Model }

func (i ignorant) AtNoise(_, _ graph.Node) model.Model { return i.Model }

func TestRefuses(t *testing.T) {
	of := func(s noise.Schedule) *diffusion.Sampler {
		sampler, err := diffusion.New(normal(part{xx: 1, yy: 1}), s, 3)
		require.NoError(t, err)
		return sampler
	}
	fixed, rng := of(noise.Schedule{Kind: noise.Fixed}), stream.New(1)
	ladder := of(noise.Schedule{Kind: noise.Exploding, Levels: 10})
	_, err := fixed.Reverse(t.Context(), 0, rng)
	require.ErrorContains(t, err, "only one noise level")
	_, err = fixed.Langevin(t.Context(), 0, rng)
	require.NoError(t, err)
	_, err = ladder.Langevin(t.Context(), 20, rng)
	require.ErrorContains(t, err, "the model's 10 noise levels need")
	_, err = ladder.Reverse(t.Context(), 10, rng)
	require.ErrorContains(t, err, "the model's 10 noise levels need 9")
	_, err = diffusion.New(normal(part{}), noise.Schedule{Kind: "pink"}, 3)
	require.ErrorContains(t, err, "pink")
	_, err = diffusion.New(normal(part{}), noise.Schedule{}, 0)
	require.ErrorContains(t, err, "at least one")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range samplers {
		_, err = c.draw(ladder, ctx, 0, stream.New(1))
		require.ErrorIs(t, err, context.Canceled)
	}
}
