package nets_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/data/noise"
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

type atLevels struct {
	model.NoiseConditional
	signal, noise []float64
}

func (m atLevels) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	return m.AtNoise(b.Constant(n, 1, m.signal[:n]), b.Constant(n, 1, m.noise[:n])).Evaluate(b, x)
}

func TestEnergies(t *testing.T) { runNetworks(t, newEnergy) }

func runNetworks(t *testing.T, make func(testing.TB, int, nets.NetworkOptions) model.Model) {
	for _, activation := range activations {
		for _, hidden := range [][]int{{6}, {5, 4}, {4, 5, 3}} {
			for _, noiseConditional := range []bool{false, true} {
				t.Run(fmt.Sprint(activation, hidden, noiseConditional), func(t *testing.T) {
					modeltest.Run(t, func(d int) model.Model {
						m := make(t, d, nets.NetworkOptions{Hidden: hidden, Activation: activation, NoiseConditional: noiseConditional})
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

// Far out the score points inwards and nothing overflows.
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

func newScoreNetwork(t testing.TB, d int, o nets.NetworkOptions) model.Model {
	t.Helper()
	m, err := nets.NewScoreNetwork(d, o, stream.New(8, uint64(d)))
	require.NoError(t, err)
	return m
}

func TestScoreNetworksAreModels(t *testing.T) {
	runNetworks(t, newScoreNetwork)
}

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
