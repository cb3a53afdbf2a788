package nets_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"

	"missingscore/data/noise"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/stream"
	"missingscore/nets"
)

var activations = []string{"softplus", "tanh", "silu"}

func newEnergy(t testing.TB, d int, o nets.NetworkOptions) model.Model {
	t.Helper()
	m, err := nets.NewEnergy(d, o, stream.New(7, uint64(d)))
	require.NoError(t, err)
	return m
}

// atLevels is a noise-conditional model with levels of its own for each row.
type atLevels struct {
	model.NoiseConditional
	signal, noise []float64
}

func (m atLevels) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	return m.AtNoise(b.Constant(n, 1, m.signal[:n]), b.Constant(n, 1, m.noise[:n])).Evaluate(b, x)
}

func TestEnergies(t *testing.T) {
	for _, activation := range activations {
		for _, hidden := range [][]int{{6}, {5, 4}, {4, 5, 3}} {
			for _, noiseConditional := range []bool{false, true} {
				t.Run(fmt.Sprint(activation, hidden, noiseConditional), func(t *testing.T) {
					modeltest.Run(t, func(d int) model.Model {
						m := newEnergy(t, d, nets.NetworkOptions{Hidden: hidden, Activation: activation, NoiseConditional: noiseConditional})
						if noiseConditional {
							return atLevels{m.(model.NoiseConditional), []float64{1, 0.9, 0.5, 0.05}, []float64{0.3, 0.5, 0.8, 1}}
						}
						return m
					})
				})
			}
		}
	}
}

// Evaluate without a level are those at the level Clean.
func TestCleanLevel(t *testing.T) {
	const d, n = 2, 3
	o := nets.NetworkOptions{Hidden: []int{5, 4}, NoiseConditional: true}
	for _, clean := range []nets.Level{{Signal: 1, Noise: 0.01}, {Signal: 0.8, Noise: 0.6}} {
		if o.Clean = (nets.Level{}); clean.Signal < 1 { // else by default
			o.Clean = clean
		}
		network, err := nets.NewScoreNetwork(d, o, stream.New(1, 1))
		require.NoError(t, err)
		for _, m := range []model.NoiseConditional{newEnergy(t, d, o).(model.NoiseConditional), network.(model.NoiseConditional)} {
			p, err := graph.Build(func(b *graph.Builder) {
				x := b.Input("x", n, d)
				level := func(v float64) graph.Node { return b.Constant(n, 1, []float64{v, v, v}) }
				b.Output("clean", m.Evaluate(b, x).Score)
				b.Output("at", m.AtNoise(level(clean.Signal), level(clean.Noise)).Evaluate(b, x).Score)
				b.Output("noisier", m.AtNoise(level(1), level(2)).Evaluate(b, x).Score)
			})
			require.NoError(t, err)
			copy(p.Input("x"), []float64{0.3, 1, -1, 0.5, 2, -0.2})
			require.NoError(t, p.Run())
			require.Equal(t, p.Output("at"), p.Output("clean"))
			require.NotEqual(t, p.Output("noisier"), p.Output("clean"))
		}
	}
}

// Where the noise drowns the signal, x(t) is N(0, a²+σ²) whatever the data.
func TestMuchNoiseIsNormal(t *testing.T) {
	const d = 3
	for _, m := range []model.Model{
		newEnergy(t, d, nets.NetworkOptions{NoiseConditional: true}),
		newScoreNetwork(t, d, nets.NetworkOptions{NoiseConditional: true}),
	} {
		p, err := graph.Build(func(b *graph.Builder) {
			at := m.(model.NoiseConditional).AtNoise(b.Constant(1, 1, []float64{1}), b.Constant(1, 1, []float64{1e4}))
			b.Output("score", at.Evaluate(b, b.Input("x", 1, d)).Score)
		})
		require.NoError(t, err)
		copy(p.Input("x"), []float64{1e4, -2e4, 3e3})
		require.NoError(t, p.Run())
		require.InDeltaSlice(t, []float64{-1e-4, 2e-4, -3e-5}, p.Output("score"), 2e-8)
	}
}

// On the line, normalised by quadrature: the density is integrable, and E[s] = 0,
// E[sx] = −1 and E[D + s²] = 0 (Stein), whatever the parameters. A wrong sign or factor
// in the score or the diagonal breaks one of them.
func TestEnergyAgainstQuadrature(t *testing.T) {
	for _, activation := range activations {
		for _, o := range []nets.NetworkOptions{
			{Hidden: []int{6}, Activation: activation},
			{Hidden: []int{5, 4}, Activation: activation},
			{Hidden: []int{4, 5, 3}, Activation: activation, NoiseConditional: true, Clean: nets.Level{Signal: 0.8, Noise: 0.5}},
		} {
			t.Run(fmt.Sprint(o), func(t *testing.T) {
				m := newEnergy(t, 1, o)
				rng := stream.New(2, 2)
				for _, p := range m.Params() {
					for i := range p.Value {
						p.Value[i] += 0.7 * rng.NormFloat64()
					}
				}
				const n = 2000
				x, w := make([]float64, n), make([]float64, n)
				quad.Legendre{}.FixedLocations(x, w, -30, 30)
				p, err := graph.Build(func(b *graph.Builder) {
					terms := m.Evaluate(b, b.Input("x", n, 1))
					b.Output("log", terms.LogDensity)
					b.Output("score", terms.Score)
					b.Output("diagonal", terms.Diagonal)
					b.Output("product", terms.HessianProduct(b.Constant(n, 1, constant(n, 2))))
				})
				require.NoError(t, err)
				copy(p.Input("x"), x)
				require.NoError(t, p.Run())
				log, s, d := p.Output("log"), p.Output("score"), p.Output("diagonal")
				var z, mean, stein, second, product float64
				for i := range n {
					q := w[i] * math.Exp(log[i]-log[n/2])
					z += q
					mean += q * s[i]
					stein += q * s[i] * x[i]
					second += q * (d[i] + s[i]*s[i])
					product += q * (p.Output("product")[i]/2 + s[i]*s[i])
				}
				require.InDelta(t, 0, mean/z, 1e-9)
				require.InDelta(t, -1, stein/z, 1e-9)
				require.InDelta(t, 0, second/z, 1e-9)
				require.InDelta(t, 0, product/z, 1e-9)
			})
		}
	}
}

func constant(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// Far out the quadratic term wins, along every direction and for large weights: the
// score points inwards and nothing overflows.
func TestEnergyIsIntegrable(t *testing.T) {
	const d, n = 3, 50
	for _, activation := range activations {
		for _, noiseConditional := range []bool{false, true} {
			m := newEnergy(t, d, nets.NetworkOptions{Hidden: []int{8, 8}, Activation: activation, NoiseConditional: noiseConditional})
			rng := stream.New(3, 3)
			for _, p := range m.Params() {
				for i := range p.Value {
					p.Value[i] += 2 * rng.NormFloat64()
				}
			}
			p, err := graph.Build(func(b *graph.Builder) {
				x := b.Input("x", n, d)
				terms := m.Evaluate(b, x)
				b.Output("inwards", b.RowDot(x, terms.Score))
				b.Output("log", terms.LogDensity)
			})
			require.NoError(t, err)
			for i := range p.Input("x") {
				p.Input("x")[i] = 1e7 * rng.NormFloat64()
			}
			require.NoError(t, p.Run())
			for i := range n {
				require.Negative(t, p.Output("inwards")[i])
				require.Less(t, p.Output("log")[i], -1e9)
			}
		}
	}
}

// A float32 program gives the same numbers to its precision.
func TestEnergyInFloat32(t *testing.T) {
	const d, n = 4, 20
	m := newEnergy(t, d, nets.NetworkOptions{Hidden: []int{8, 8}, NoiseConditional: true, Clean: nets.Level{Signal: 1, Noise: 0.5}})
	var results [2]map[string][]float64
	for k, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		p, err := graph.BuildAs(dtype, func(b *graph.Builder) {
			x := b.Input("x", n, d)
			terms := m.Evaluate(b, x)
			b.Output("log", terms.LogDensity)
			b.Output("score", terms.Score)
			b.Output("diagonal", terms.Diagonal)
			b.Output("product", terms.HessianProduct(x))
			b.Minimise(matching(b, terms), m.Params()...)
		})
		require.NoError(t, err)
		rng := stream.New(4, 4)
		for i := range p.Input("x") {
			p.Input("x")[i] = rng.NormFloat64()
		}
		require.NoError(t, p.Run())
		results[k] = map[string][]float64{}
		for _, name := range []string{"log", "score", "diagonal", "product"} {
			results[k][name] = append([]float64(nil), p.Output(name)...)
		}
		for _, q := range m.Params() {
			results[k][q.Name] = append([]float64(nil), p.Grad(q)...)
		}
	}
	for name, want := range results[0] {
		largest := 1.0
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		require.InDeltaSlice(t, want, results[1][name], 2e-5*largest, name)
	}
}

// matching is score matching's loss, Σ 2D_j + s_j².
func matching(b *graph.Builder, t model.Evaluation) graph.Node {
	return b.Add(b.Scale(2, b.Sum(t.Diagonal)), b.Sum(b.Square(t.Score)))
}

func TestNetworksRefuse(t *testing.T) {
	for want, o := range map[string]nets.NetworkOptions{
		`no smooth activation "relu"; smooth activations are silu, softplus, tanh`: {Activation: "relu"},
		"hidden layer 2 has 0 units":                  {Hidden: []int{3, 0}},
		"signal 1 and noise 0: both must be positive": {Clean: nets.Level{Signal: 1}},
		"signal 0 and noise 1: both must be positive": {Clean: nets.Level{Noise: 1}},
		"2 columns with 0 hidden layers":              {Hidden: []int{}},
	} {
		_, err := nets.NewEnergy(2, o, stream.New(1, 1))
		require.ErrorContains(t, err, want)
		_, err = nets.NewScoreNetwork(2, o, stream.New(1, 1))
		require.ErrorContains(t, err, want)
	}
	a, b := newEnergy(t, 2, nets.NetworkOptions{}), newEnergy(t, 2, nets.NetworkOptions{})
	for i, p := range a.Params() {
		require.Equal(t, p.Value, b.Params()[i].Value, "a seed gives one network")
	}
}

// Another energy takes the quantities over; rescaled it is the density of x = m + s z.
func TestEnergyDescribed(t *testing.T) {
	const d, n = 3, 5
	o := nets.NetworkOptions{Hidden: []int{5, 4}}
	m := newEnergy(t, d, o).(model.Parametric)
	second, err := nets.NewEnergy(d, o, stream.New(99, 1))
	require.NoError(t, err)
	other := second.(model.Parametric)
	for _, p := range m.Params() {
		for i := range p.Value {
			p.Value[i] += 0.1 * float64(i%3)
		}
	}
	require.NoError(t, other.SetQuantities(m.Quantities()))
	require.Equal(t, m.Quantities(), other.Quantities())
	mean, sd := []float64{1, -2, 3}, []float64{2, 0.5, 1.5}
	require.NoError(t, other.Rescale(mean, sd))
	rescaled := model.Rescaled{Model: m, Mean: mean, Deviation: sd}
	p, err := graph.Build(func(b *graph.Builder) {
		x := b.Input("x", n, d)
		for name, terms := range map[string]model.Evaluation{"got": other.Evaluate(b, x), "want": rescaled.Evaluate(b, x)} {
			b.Output(name+" log", terms.LogDensity)
			b.Output(name+" score", terms.Score)
			b.Output(name+" diagonal", terms.Diagonal)
		}
	})
	require.NoError(t, err)
	rng := stream.New(6, 6)
	for i := range p.Input("x") {
		p.Input("x")[i] = 3 * rng.NormFloat64()
	}
	require.NoError(t, p.Run())
	for _, name := range []string{" log", " score", " diagonal"} {
		require.InDeltaSlice(t, p.Output("want"+name), p.Output("got"+name), 1e-11, name)
	}
	require.ErrorContains(t, other.SetQuantities(nil), "0 quantities for a network of 7 parameters")
	bad := m.Quantities()
	bad[2].Rows++
	require.ErrorContains(t, other.SetQuantities(bad), "is needed")
}

// One iteration's work: value, score, diagonal, gradient by the parameters.
func BenchmarkEnergy(b *testing.B) {
	const n, d = 1000, 10
	for _, activation := range activations {
		for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
			b.Run(fmt.Sprintf("%s/%v", activation, dtype), func(b *testing.B) {
				m := newEnergy(b, d, nets.NetworkOptions{Activation: activation})
				p, err := graph.BuildAs(dtype, func(b *graph.Builder) {
					terms := m.Evaluate(b, b.Input("x", n, d))
					b.Minimise(b.Add(matching(b, terms), b.Sum(terms.LogDensity)), m.Params()...)
				})
				require.NoError(b, err)
				rng := stream.New(1, 1)
				for i := range p.Input("x") {
					p.Input("x")[i] = rng.NormFloat64()
				}
				for b.Loop() {
					require.NoError(b, p.Run())
				}
			})
		}
	}
}

func newScoreNetwork(t testing.TB, d int, o nets.NetworkOptions) model.Model {
	t.Helper()
	m, err := nets.NewScoreNetwork(d, o, stream.New(8, uint64(d)))
	require.NoError(t, err)
	return m
}

// A score network is tested like any model in what it has, at its clean level.
func TestScoreNetworksAreModels(t *testing.T) {
	for _, noiseConditional := range []bool{false, true} {
		modeltest.Run(t, func(d int) model.Model {
			return newScoreNetwork(t, d, nets.NetworkOptions{Hidden: []int{5, 4}, NoiseConditional: noiseConditional, Clean: nets.Level{Signal: 0.9, Noise: 0.4}})
		})
	}
}

// The diagonal and Jv are those of the score's Jacobian by differences, and all gradients
// by θ agree with differences, at all levels.
func TestScoreNetworks(t *testing.T) {
	for _, activation := range activations {
		for _, hidden := range [][]int{{6}, {5, 4}, {4, 5, 3}} {
			for _, noiseConditional := range []bool{false, true} {
				t.Run(fmt.Sprint(activation, hidden, noiseConditional), func(t *testing.T) {
					scoreNetwork(t, nets.NetworkOptions{Hidden: hidden, Activation: activation, NoiseConditional: noiseConditional})
				})
			}
		}
	}
}

// Networks say how they are trained, and how they are made for all levels of noise.
func TestNetworksSayHowTheyAreTrained(t *testing.T) {
	for _, name := range []string{"energy", "score-network"} {
		m, err := model.New(name, 2, nil, stream.New(1))
		require.NoError(t, err)
		training := model.TrainingOf(m)
		require.Equal(t, []float64{300, 300, 200, 0.003, 0.001},
			[]float64{float64(training.Epochs(10, false)), float64(training.Epochs(1, false)), float64(training.Epochs(10, true)), training.Rate, training.ImputerRate})
		s := noise.Schedule{Kind: noise.Exploding, Least: 0.02, Most: 10}
		options, err := nets.AtLevels(name, []byte(`{"hidden":[5]}`), s, false)
		require.NoError(t, err)
		require.JSONEq(t, `{"hidden":[5],"activation":"","noise_conditional":true,"clean":{"signal":1,"noise":0.02}}`, string(options))
		m, err = model.New(name, 2, options, stream.New(1))
		require.NoError(t, err)
		has, err := model.CapabilitiesOf(m)
		require.NoError(t, err)
		require.True(t, has.NoiseConditional)
		require.Equal(t, name == "energy", has.Density)
	}
	options, err := nets.AtLevels("gaussian", nil, noise.Schedule{}, true)
	require.NoError(t, err)
	require.Empty(t, options)
}

func scoreNetwork(t *testing.T, o nets.NetworkOptions) {
	const d, n = 3, 4
	m := newScoreNetwork(t, d, o)
	if o.NoiseConditional {
		m = atLevels{m.(model.NoiseConditional), []float64{1, 0.9, 0.5, 0.05}, []float64{0.3, 0.5, 0.8, 1}}
	}
	rng := stream.New(5, 5)
	x, u, v := make([]float64, n*d), make([]float64, n*d), make([]float64, n*d)
	for i := range x {
		x[i], u[i], v[i] = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	}
	product, err := gradcheck.HessianProduct(m, x, v, gradcheck.Step)
	require.NoError(t, err)
	require.Less(t, product.Error, 1e-7)
	p, err := graph.Build(func(b *graph.Builder) {
		terms := m.Evaluate(b, b.Input("x", n, d))
		require.Nil(t, terms.LogDensity)
		u, v := b.Input("u", n, d), b.Input("v", n, d)
		b.Output("diagonal", terms.Diagonal)
		for j := range d {
			along := make([]float64, n*d)
			for i := range n {
				along[i*d+j] = 1
			}
			b.Output(fmt.Sprint("column ", j), terms.HessianProduct(b.Constant(n, d, along)))
		}
		b.Minimise(b.Add(b.Sum(b.Prod(u, terms.HessianProduct(v))), b.Add(
			b.Sum(b.Prod(u, b.Square(terms.Score))), b.Sum(b.Prod(v, terms.Diagonal)))), m.Params()...)
	})
	require.NoError(t, err)
	copy(p.Input("x"), x)
	copy(p.Input("u"), u)
	copy(p.Input("v"), v)
	require.NoError(t, p.Run())
	for i := range n {
		for j := range d { // J e_j is right by the differences above
			require.InDelta(t, p.Output(fmt.Sprint("column ", j))[i*d+j], p.Output("diagonal")[i*d+j], 1e-12)
		}
	}
	diff, err := gradcheck.Params(p, m.Params(), gradcheck.Step, func() (float64, error) { err := p.Run(); return p.Loss(), err })
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-7, "%+v", diff)
}
