package nets_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/nets"
)

func drawn(t *testing.T, m nets.Imputer, n, d int) *graph.Program {
	t.Helper()
	p, err := graph.Build(func(b *graph.Builder) {
		s := m.Draw(b, nets.ImputerRows{X: b.Input("x", n, d), Mask: b.Input("mask", n, d)}, b.Input("noise", n, d))
		b.Output("draw", s.X)
		b.Output("density", s.LogDensity)
		if s.LogWeight != nil {
			b.Output("weight", s.LogWeight)
		}
	})
	require.NoError(t, err)
	return p
}

// One cell missing: ∫ q'(x) dx = 1 over a sweep of the noise.
func TestMixtureDensityIntegratesToOne(t *testing.T) {
	const n, d = 6001, 2
	for _, k := range []int{1, 2, 5} {
		m := nets.NewMixtureImputer(d, nets.MixtureOptions{Components: k, Hidden: 7}, stream.New(1, 1))
		for _, p := range m.Params() { // far from where it starts
			for i := range p.Value {
				p.Value[i] *= 2
			}
		}
		p := drawn(t, m, n, d)
		for i := range n {
			p.Input("x")[i*d], p.Input("mask")[i*d] = 0.6, 1
			p.Input("noise")[i*d+1] = 60 * (float64(i)/(n-1) - 0.5)
		}
		require.NoError(t, p.Run())
		x, log := p.Output("draw"), p.Output("density")
		for stratum := range k {
			sum := 0.0
			for i := 1; i < n-1; i++ {
				at := func(i int) float64 { return x[(i*k+stratum)*d+1] }
				sum += math.Exp(log[i*k+stratum]) / math.Sqrt(2*math.Pi) * (at(i+1) - at(i-1)) / 2
			}
			require.InDelta(t, 1, sum, 1e-3, "%d normals, number %d", k, stratum)
		}
		if k > 1 {
			total := 0.0
			for _, w := range p.Output("weight")[:k] {
				total += math.Exp(w)
			}
			require.InDelta(t, 1, total, 1e-12)
		}
	}
}

func TestMixtureDependsOnWhatIsObserved(t *testing.T) {
	const d = 3
	m := nets.NewMixtureImputer(d, nets.MixtureOptions{Components: 2, Hidden: 20}, stream.New(2, 1))
	at := func(x, mask, noise []float64) (draw, weight []float64) {
		p := drawn(t, m, 1, d)
		copy(p.Input("x"), x)
		copy(p.Input("mask"), mask)
		copy(p.Input("noise"), noise)
		require.NoError(t, p.Run())
		return append(draw, p.Output("draw")...), append(weight, p.Output("weight")...)
	}
	zero := make([]float64, d)
	mean, weight := at([]float64{0, 1, 0}, []float64{1, 1, 0}, zero)
	other, otherWeight := at([]float64{0, -1, 0}, []float64{1, 1, 0}, zero)
	masked, _ := at([]float64{0, 1, 0}, []float64{0, 1, 0}, zero)
	require.NotEqual(t, mean, other)
	require.NotEqual(t, mean, masked, "a zero that is missing is told from one that is observed")
	require.NotEqual(t, weight, otherWeight)
	wide, _ := at([]float64{0, 1, 0}, []float64{1, 1, 0}, []float64{1, 1, 1})
	narrow, _ := at([]float64{0, -1, 0}, []float64{1, 1, 0}, []float64{1, 1, 1})
	require.NotEqual(t, wide[2]-mean[2], narrow[2]-other[2], "its deviation")
	require.NotEqual(t, wide[2]-mean[2], wide[5]-mean[5], "each normal has its own")
}

func TestOptionsOfImputers(t *testing.T) {
	m, err := nets.NewImputer("mixture", 4, nil, stream.New(1))
	require.NoError(t, err)
	require.Equal(t, nets.MixtureOptions{Components: 5, Hidden: 100}, m.Options())
	size := 0
	for _, p := range m.Params() {
		size += len(p.Value)
	}
	require.Equal(t, 8*100+100+100*100+100+2*(100*20+20)+100*5+5, size)
	for _, kind := range []string{"normal", "linear", "mixture"} {
		for options, want := range map[string]string{`{"hidden":-1}`: "units: 1 to", `{"modes":2}`: `"modes"`} {
			_, err := nets.NewImputer(kind, 4, []byte(options), stream.New(1))
			require.ErrorContains(t, err, want)
		}
		m, err := nets.NewImputer(kind, 4, nil, stream.New(1))
		require.NoError(t, err)
		_, err = graph.Build(func(b *graph.Builder) {
			m.Draw(b, nets.ImputerRows{X: b.Input("x", 2, 5), Mask: b.Input("mask", 2, 5)}, b.Input("noise", 2, 5))
		})
		require.ErrorContains(t, err, "an imputer for 4 columns got rows of 5")
	}
}
