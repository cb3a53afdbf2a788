package nets_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/nets"
)

const columns = 3

func newImputer(t testing.TB, kind, options string) nets.Imputer {
	t.Helper()
	m, err := nets.NewImputer(kind, columns, []byte(options), stream.New(2, 1))
	require.NoError(t, err)
	rng := stream.New(7, 9)
	for _, p := range m.Params() { // far from where it starts
		for i := range p.Value {
			p.Value[i] += 0.4 * rng.NormFloat64()
		}
	}
	return m
}

// drawn has draws, log densities and weights as outputs, and a loss that takes in all of them.
func drawn(t testing.TB, m nets.Imputer, n int) (p *graph.Program, components int) {
	t.Helper()
	rng := stream.New(8, 1)
	p, err := graph.Build(func(b *graph.Builder) {
		mask := b.Input("mask", n, columns)
		s := m.Draw(b, nets.ImputerRows{X: b.Input("x", n, columns), Mask: mask}, b.Input("noise", n, columns))
		components = s.K
		weights := make([]float64, n*s.K*columns)
		for i := range weights {
			weights[i] = rng.NormFloat64()
		}
		gaps := b.Prod(b.GroupRepeat(b.Map(graph.Complement, mask), s.K), s.X)
		loss := b.Sum(b.Prod(b.Constant(n*s.K, columns, weights), gaps))
		loss = b.Add(loss, b.Sum(b.Map(graph.Square, s.LogDensity)))
		b.Output("draw", s.X)
		b.Output("density", s.LogDensity)
		if s.LogWeight != nil {
			loss = b.Add(loss, b.Sum(b.Map(graph.Square, s.LogWeight)))
			b.Output("weight", s.LogWeight)
		}
		b.Minimise(loss, m.Params()...)
	})
	require.NoError(t, err)
	for i := range n { // row i has pattern i
		for j := range columns {
			if at := i*columns + j; i>>j&1 == 1 {
				p.Input("x")[at], p.Input("mask")[at] = rng.NormFloat64(), 1
			}
		}
	}
	return p, components
}

func gapsOf(mask []float64) (gaps []int) {
	for j, m := range mask {
		if m == 0 {
			gaps = append(gaps, j)
		}
	}
	return gaps
}

// In all patterns: gradients by differences, and the log density log Σ_k π_k N(x; μ_k, J_k J_kᵀ)
// where draws are μ_k + J_k ε.
func TestImputers(t *testing.T) {
	const n, d = 1 << columns, columns
	for _, c := range [][2]string{
		{"normal", `{"hidden":5}`}, {"normal", `{"hidden":5,"mask_input":true,"diagonal_sd":true}`},
		{"linear", `{"hidden":5}`},
		{"mixture", `{"hidden":5,"components":1}`}, {"mixture", `{"hidden":5,"components":3}`},
	} {
		t.Run(c[0]+c[1], func(t *testing.T) {
			m := newImputer(t, c[0], c[1])
			p, components := drawn(t, m, n)
			at := func(noise func(j int) float64) []float64 {
				for i := range n * d {
					p.Input("noise")[i] = noise(i % d)
				}
				require.NoError(t, p.Run())
				return slices.Clone(p.Output("draw"))
			}
			centre, moved := at(func(int) float64 { return 0 }), make([][]float64, d)
			for by := range moved {
				moved[by] = at(func(j int) float64 { return map[bool]float64{true: 1}[j == by] })
			}
			rng := stream.New(9, 1)
			x := at(func(int) float64 { return rng.NormFloat64() })
			logWeight := make([]float64, n)
			if components > 1 {
				logWeight = p.Output("weight")
			}
			for i := range n {
				gaps, each := gapsOf(p.Input("mask")[i*d:i*d+d]), i*components
				require.InDelta(t, 0, floats.LogSumExp(logWeight[each:each+components]), 1e-12)
				for k := range components {
					logs := slices.Clone(logWeight[each : each+components])
					for l := range logs {
						if len(gaps) > 0 {
							logs[l] += logNormal(gaps, x[(each+k)*d:], centre[(each+l)*d:], func(by int) []float64 {
								return moved[by][(each+l)*d:]
							})
						}
					}
					require.InDelta(t, floats.LogSumExp(logs), p.Output("density")[each+k], 1e-9, "%v", gaps)
				}
			}
			testtables.Gradient(t, p, m.Params(), 1e-7, nil)
		})
	}
}

// logNormal is log N(x; μ, JJᵀ) without ½ log 2π, column j of J by moved(j) − μ.
func logNormal(gaps []int, x, mean []float64, moved func(j int) []float64) float64 {
	j, gap := mat.NewDense(len(gaps), len(gaps), nil), mat.NewVecDense(len(gaps), nil)
	for a, row := range gaps {
		gap.SetVec(a, x[row]-mean[row])
		for c, column := range gaps {
			j.Set(a, c, moved(column)[row]-mean[row])
		}
	}
	var z mat.VecDense
	if err := z.SolveVec(j, gap); err != nil {
		return math.NaN()
	}
	stretch, _ := mat.LogDet(j)
	return -mat.Dot(&z, &z)/2 - stretch
}

// affine is xW + bias; nil is no bias.
func affine(x []float64, w, bias *graph.Param) []float64 {
	var y mat.VecDense
	y.MulVec(mat.NewDense(w.Rows, w.Cols, w.Value).T(), mat.NewVecDense(len(x), x))
	out := y.RawVector().Data
	if bias != nil {
		floats.Add(out, bias.Value)
	}
	return out
}

// byReLU are the outputs of a ReLU network with these weights and biases.
func byReLU(params []*graph.Param, x ...float64) []float64 {
	for len(params) > 2 {
		x = affine(x, params[0], params[1])
		for j, v := range x {
			x[j] = max(v, 0)
		}
		params = params[2:]
	}
	return affine(x, params[0], params[1])
}

// Mean and standard deviation of the second cell given the others, by loops.
func TestImputersAgainstLoops(t *testing.T) {
	x, mask := []float64{0.4, 0, -1.1}, []float64{1, 0, 1}
	row := slices.Concat(x, mask)
	type law struct{ mean, sd, logit float64 }
	for _, c := range []struct {
		kind, options string
		want          func(p []*graph.Param) []law
	}{
		{"normal", `{"hidden":5}`, func(p []*graph.Param) []law {
			return []law{{byReLU(p[:6], x...)[1], math.Exp(p[6].Value[0]), 0}}
		}},
		{"normal", `{"hidden":5,"mask_input":true,"diagonal_sd":true}`, func(p []*graph.Param) []law {
			return []law{{byReLU(p[:6], row...)[1], math.Exp(p[6].Value[1]), 0}}
		}},
		{"mixture", `{"hidden":5,"components":2}`, func(p []*graph.Param) (out []law) {
			by := func(layer, k int) float64 { return byReLU(slices.Concat(p[:4], p[layer:layer+2]), row...)[k] }
			for k := range 2 {
				at := k*columns + 1
				out = append(out, law{by(4, at), math.Exp(5 * math.Tanh(by(6, at)/5)), by(8, k)})
			}
			return out
		}},
		{"linear", `{"hidden":5}`, func(p []*graph.Param) []law {
			mu := p[0].Value
			l := mat.NewDense(columns, columns, nil)
			graph.FillCholeskyFactor(l.RawMatrix().Data, p[1].Value, columns)
			var omega mat.SymDense
			omega.SymOuterK(1, l)
			mean := mu[1] + byReLU(p[2:8], row...)[1]
			for _, j := range []int{0, 2} {
				mean -= omega.At(1, j) / omega.At(1, 1) * (x[j] - mu[j])
			}
			return []law{{mean, 1 / math.Sqrt(omega.At(1, 1)), 0}}
		}},
	} {
		m := newImputer(t, c.kind, c.options)
		p, components := drawn(t, m, 1)
		copy(p.Input("x"), x)
		copy(p.Input("mask"), mask)
		for _, noise := range []float64{0, 1.5} {
			p.Input("noise")[1] = noise
			require.NoError(t, p.Run())
			want := c.want(m.Params())
			require.Len(t, want, components)
			for k, law := range want {
				require.InDelta(t, law.mean+noise*law.sd, p.Output("draw")[k*columns+1], 1e-12, c.kind)
			}
			if components == 2 {
				got := p.Output("weight")
				require.InDelta(t, want[1].logit-want[0].logit, got[1]-got[0], 1e-12)
			}
		}
	}
}

// The mean of the noise-conditional imputer, c f(x/c, mask, log(σ/a)/4) with c = √(a² + σ²).
func TestNoiseConditionalMean(t *testing.T) {
	const d, signal, noise = 2, 0.8, 2.5
	o := nets.NormalOptions{Hidden: 6, NoiseConditional: true, MaskInput: true}
	m := nets.NewNormalImputer(d, o, stream.New(4, 4))
	p, err := graph.Build(func(b *graph.Builder) {
		rows := nets.ImputerRows{X: b.Input("x", 1, d), Mask: b.Input("mask", 1, d)}
		rows.Signal, rows.Noise = b.Input("signal", 1, 1), b.Input("noise", 1, 1)
		b.Output("mean", m.Mean(b, rows))
	})
	require.NoError(t, err)
	p.Input("x")[0], p.Input("mask")[0] = 1.3, 1
	p.Input("signal")[0], p.Input("noise")[0] = signal, noise
	require.NoError(t, p.Run())
	c := math.Sqrt(signal*signal + noise*noise)
	for j, v := range byReLU(m.Params()[:6], 1.3/c, 0, 1, 0, math.Log(noise/signal)/4) {
		require.InDelta(t, c*v, p.Output("mean")[j], 1e-12)
	}
}

// Weights start as U(−1/√200, 1/√200), the standard deviation at 1; a seed gives one network.
func TestStartOfWeights(t *testing.T) {
	m := nets.NewNormalImputer(3, nets.NormalOptions{}, stream.New(1, 1))
	require.Equal(t, 1.0, m.Deviation(2))
	second, bound, square := m.Params()[2].Value, 1/math.Sqrt(200), 0.0
	require.LessOrEqual(t, slices.Max(second), bound)
	require.GreaterOrEqual(t, slices.Min(second), -bound)
	for _, v := range second {
		square += v * v / float64(len(second))
	}
	// the variance of U² is 4b⁴/45
	require.InDelta(t, bound*bound/3, square, 4*math.Sqrt(4./45/40000)*bound*bound)
	again := nets.NewNormalImputer(3, nets.NormalOptions{}, stream.New(1, 1))
	require.Equal(t, second, again.Params()[2].Value)
}

// Started at a normal, draws have the density of its conditionals.
func TestLinearStartsAtTheConditional(t *testing.T) {
	const d, n = columns, 1 << columns
	precision := mat.NewSymDense(d, []float64{2, -0.8, 0.3, -0.8, 1.5, 0.4, 0.3, 0.4, 1})
	mean := []float64{1, -0.5, 2}
	m := nets.NewLinearImputer(d, nets.LinearOptions{Hidden: 5}, stream.New(3, 1))
	start := m.(nets.NormalStart)
	require.NoError(t, start.StartAt(mean, precision))
	p, _ := drawn(t, m, n)
	rng := stream.New(3, 2)
	for i := range n * d {
		p.Input("noise")[i] = rng.NormFloat64()
	}
	require.NoError(t, p.Run())
	joint, ok := distmv.NewNormalPrecision(mean, precision, nil)
	require.True(t, ok)
	for i := range n - 1 {
		law := joint
		var observed []int
		var values, filled []float64
		for j := range d {
			if at := i*d + j; i>>j&1 == 1 {
				observed, values = append(observed, j), append(values, p.Input("x")[at])
			} else {
				filled = append(filled, p.Output("draw")[at])
			}
		}
		if i > 0 {
			law, ok = joint.ConditionNormal(observed, values, nil)
			require.True(t, ok)
		}
		want := law.LogProb(filled) + float64(len(filled))/2*math.Log(2*math.Pi)
		require.InDelta(t, want, p.Output("density")[i], 1e-9)
	}
	require.ErrorContains(t, start.StartAt(mean, mat.NewSymDense(d, nil)), "not positive definite")
}
