package nets_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/nets"
)

type maker func(testing.TB, int, nets.NetworkOptions) model.Model

func newEnergy(t testing.TB, d int, o nets.NetworkOptions) model.Model {
	t.Helper()
	m, err := nets.NewEnergy(d, o, stream.New(7, uint64(d)))
	require.NoError(t, err)
	return m
}

func newScoreNetwork(t testing.TB, d int, o nets.NetworkOptions) model.Model {
	t.Helper()
	m, err := nets.NewScoreNetwork(d, o, stream.New(8, uint64(d)))
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

func TestNetworksAreModels(t *testing.T) {
	signal, noise := []float64{1, 0.9, 0.5, 0.05}, []float64{0.3, 0.5, 0.8, 1}
	for name, make := range map[string]maker{"energy": newEnergy, "score network": newScoreNetwork} {
		for _, o := range []nets.NetworkOptions{
			{Hidden: []int{6}, Activation: "softplus"}, {Hidden: []int{5, 4}, Activation: "tanh"},
			{Hidden: []int{4, 5, 3}, Activation: "silu"},
			{Hidden: []int{6}, Activation: "silu", NoiseConditional: true},
			{Hidden: []int{5, 4}, Activation: "softplus", NoiseConditional: true},
			{Hidden: []int{4, 5, 3}, Activation: "tanh", NoiseConditional: true},
		} {
			t.Run(fmt.Sprint(name, o), func(t *testing.T) {
				modeltest.Run(t, func(d int) model.Model {
					m := make(t, d, o)
					if o.NoiseConditional {
						return atLevels{m.(model.NoiseConditional), signal, noise}
					}
					return m
				})
			})
		}
	}
}

// Two hidden layers of softplus; e are the features of the level, nil for none.
func bySoftplus(m model.Model, x, e []float64) []float64 {
	params := map[string]*graph.Param{}
	for _, p := range m.Params() {
		params[p.Name] = p
	}
	softplus := func(z []float64) []float64 {
		for k, v := range z {
			z[k] = math.Log1p(math.Exp(v))
		}
		return z
	}
	z := affine(x, params["weight 1"], params["bias 1"])
	if e != nil {
		floats.Add(z, affine(e, params["level weight"], nil))
	}
	z = softplus(affine(softplus(z), params["weight 2"], params["bias 2"]))
	out := params["output weight"] // (outputs, units)
	var f mat.VecDense
	f.MulVec(mat.NewDense(out.Rows, out.Cols, out.Value), mat.NewVecDense(len(z), z))
	if bias, ok := params["output bias"]; ok {
		f.AddVec(&f, mat.NewVecDense(out.Rows, bias.Value))
	}
	return f.RawVector().Data
}

func TestNetworksByTheirFormulas(t *testing.T) {
	const n, d = 3, 2
	x := []float64{0.7, -1.3, 0.3, -1, 1.4, 0.2}
	o := nets.NetworkOptions{Hidden: []int{4, 3}, Activation: "softplus"}
	plain, network := newEnergy(t, d, o), newScoreNetwork(t, d, o)
	params := plain.Params()
	centre, logStiffness := params[len(params)-2].Value, params[len(params)-1].Value
	rng := stream.New(9, 9)
	for j := range d {
		centre[j], logStiffness[j] = rng.NormFloat64(), rng.NormFloat64()
	}
	o.NoiseConditional = true
	for _, clean := range []nets.Level{{}, {Signal: 0.8, Noise: 0.6}} {
		o.Clean = clean
		if clean.Signal == 0 {
			clean = nets.Level{Signal: 1, Noise: 0.01}
		}
		signal, noise := []float64{clean.Signal, 0.6, 0.1}, []float64{clean.Noise, 0.5, 2}
		energy, conditional := newEnergy(t, d, o), newScoreNetwork(t, d, o)
		p, err := graph.Build(func(b *graph.Builder) {
			x := b.Input("x", n, d)
			b.Output("plain", plain.Evaluate(b, x).LogDensity)
			b.Output("network", network.Evaluate(b, x).Score)
			b.Output("energy", atLevels{energy.(model.NoiseConditional), signal, noise}.Evaluate(b, x).LogDensity)
			b.Output("conditional", atLevels{conditional.(model.NoiseConditional), signal, noise}.Evaluate(b, x).Score)
			b.Output("clean energy", energy.Evaluate(b, x).LogDensity)
			b.Output("clean", conditional.Evaluate(b, x).Score)
		})
		require.NoError(t, err)
		copy(p.Input("x"), x)
		require.NoError(t, p.Run())
		require.InDelta(t, p.Output("energy")[0], p.Output("clean energy")[0], 1e-12)
		require.InDeltaSlice(t, p.Output("conditional")[:d], p.Output("clean")[:d], 1e-12)
		for i := range n {
			x := x[i*d : i*d+d]
			spread := math.Hypot(signal[i], noise[i])
			c := math.Log(noise[i]/signal[i]) / 4
			e := []float64{c}
			for _, angle := range []float64{math.Pi * c, 2 * math.Pi * c} {
				e = append(e, math.Sin(angle), math.Cos(angle))
			}
			y := []float64{x[0] / spread, x[1] / spread}
			log := bySoftplus(plain, x, nil)[0]
			for j := range d {
				log -= math.Exp(logStiffness[j]) * math.Pow(x[j]-centre[j], 2) / 2
				require.InDelta(t, bySoftplus(network, x, nil)[j]-x[j], p.Output("network")[i*d+j], 1e-13)
				want := signal[i]/(noise[i]*spread)*bySoftplus(conditional, y, e)[j] - y[j]/spread
				require.InDelta(t, want, p.Output("conditional")[i*d+j], 1e-11)
			}
			require.InDelta(t, log, p.Output("plain")[i], 1e-13)
			want := signal[i]/noise[i]*bySoftplus(energy, y, e)[0] - (y[0]*y[0]+y[1]*y[1])/2
			require.InDelta(t, want, p.Output("energy")[i], 1e-11)
		}
	}
}

func atSchedule(t *testing.T, name string, gaps bool) model.Model {
	t.Helper()
	s := noise.Schedule{Kind: noise.Exploding, Least: 0.02, Most: 10}
	options, err := nets.AtLevels(name, []byte(`{"hidden":[5]}`), s, gaps)
	require.NoError(t, err)
	want := `{"hidden":[5],"activation":"","noise_conditional":true,"clean":{"signal":1,"noise":0.02}}`
	if !gaps {
		require.JSONEq(t, want, string(options))
	}
	m, err := model.New(name, 2, options, stream.New(1))
	require.NoError(t, err)
	has, err := model.CapabilitiesOf(m)
	require.NoError(t, err)
	require.True(t, has.NoiseConditional)
	return m
}

// A score network takes the mask as input where rows have gaps; without gaps nothing changes.
func TestGapConditional(t *testing.T) {
	for name, gaps := range map[string]bool{"score-network": false, "energy": true} {
		_, told := atSchedule(t, name, gaps).(model.GapConditional)
		require.False(t, told, name)
	}
	told, ok := atSchedule(t, "score-network", true).(model.GapConditional)
	require.True(t, ok)
	p, err := graph.Build(func(b *graph.Builder) {
		x, a := b.Input("x", 3, 2), b.Constant(3, 1, []float64{1, 1, 1})
		sigma := b.Scale(0.3, a)
		b.Output("complete", told.AtNoise(a, sigma).Evaluate(b, x).Score)
		b.Output("gaps", told.AtGaps(a, sigma, b.Input("mask", 3, 2)).Evaluate(b, x).Score)
	})
	require.NoError(t, err)
	copy(p.Input("x"), []float64{0.5, 0, 0.5, 0, 0.5, 0})
	copy(p.Input("mask"), []float64{1, 1, 1, 0, 0, 1})
	require.NoError(t, p.Run())
	complete, gaps := p.Output("complete"), p.Output("gaps")
	require.Equal(t, complete[:2], gaps[:2])
	require.NotEqual(t, complete[2:4], gaps[2:4])
	require.NotEqual(t, gaps[2:4], gaps[4:])
}
