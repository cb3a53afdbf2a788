package nets_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
	"missingscore/nets"
)

func TestNetworksRefuse(t *testing.T) {
	for want, o := range map[string]nets.NetworkOptions{
		`no smooth activation "relu"; smooth activations are silu, softplus, tanh`: {Activation: "relu"},
		"hidden layer 2 has 0 units":                  {Hidden: []int{3, 0}},
		"1 to 10000 are possible":                     {Hidden: []int{nets.MostUnits + 1}},
		"signal 1 and noise 0: both must be positive": {Clean: nets.Level{Signal: 1}},
		"signal 0 and noise 1: both must be positive": {Clean: nets.Level{Noise: 1}},
		"2 columns with 0 hidden layers":              {Hidden: []int{}},
	} {
		_, err := nets.NewEnergy(2, o, stream.New(1, 1))
		require.ErrorContains(t, err, want)
		_, err = nets.NewScoreNetwork(2, o, stream.New(1, 1))
		require.ErrorContains(t, err, want)
	}
}

func TestImputersRefuse(t *testing.T) {
	for _, kind := range []string{"normal", "linear", "mixture"} {
		for options, want := range map[string]string{
			`{"hidden":-1}`:    "units: 1 to",
			`{"hidden":10001}`: "1 to 10000 are possible",
			`{"modes":2}`:      `"modes"`,
		} {
			_, err := nets.NewImputer(kind, 4, []byte(options), stream.New(1))
			require.ErrorContains(t, err, "imputer "+kind+":")
			require.ErrorContains(t, err, want)
		}
		m, err := nets.NewImputer(kind, 4, nil, stream.New(1))
		require.NoError(t, err)
		_, err = graph.Build(func(b *graph.Builder) {
			m.Draw(b, nets.ImputerRows{X: b.Input("x", 2, 5), Mask: b.Input("mask", 2, 5)}, b.Input("noise", 2, 5))
		})
		require.ErrorContains(t, err, "an imputer for 4 columns got rows of 5")
	}
	most := fmt.Sprintf("1 to %d are possible", nets.MostComponents)
	options := fmt.Appendf(nil, `{"hidden":2,"components":%d}`, nets.MostComponents+1)
	_, err := nets.NewImputer("mixture", 1, options, stream.New(1))
	require.ErrorContains(t, err, most)
	_, err = nets.NewImputer("gan", 2, nil, stream.New(1))
	require.ErrorContains(t, err, `there is no imputer "gan"; imputers are linear, mixture, normal`)
	_, err = nets.ImputerAtLevels("mixture", nil)
	require.ErrorContains(t, err, "imputer mixture does not support noise levels")
}

// A network of exactly the memory that is allowed is made; with a byte less it is refused.
func TestSizesThatAreChecked(t *testing.T) {
	const d = 5
	for _, c := range []struct {
		imputer       bool
		name, options string
		apart         int // parameters that are not counted
	}{
		{true, "normal", `{}`, 1}, // the paper's: d→200→200→d and one σ
		{true, "normal", `{"hidden":11,"mask_input":true,"diagonal_sd":true}`, d},
		{true, "normal", `{"hidden":11,"noise_conditional":true}`, 3},
		{true, "linear", `{"hidden":11}`, 0},
		{true, "mixture", `{}`, 0},
		{true, "mixture", `{"hidden":11,"components":1}`, 0},
		{true, "mixture", `{"hidden":11,"components":2}`, 0},
		{false, "energy", `{}`, 2 * d},
		{false, "energy", `{"hidden":[7,11,3],"noise_conditional":true}`, 0},
		{false, "score-network", `{"hidden":[7,11,3]}`, d},
	} {
		make := func(allowed string) ([]*graph.Param, error) {
			t.Setenv(memory.Variable, allowed)
			if c.imputer {
				m, err := nets.NewImputer(c.name, d, []byte(c.options), stream.New(1))
				if err != nil {
					return nil, err
				}
				return m.Params(), nil
			}
			m, err := model.New(c.name, d, []byte(c.options), stream.New(1))
			if err != nil {
				return nil, err
			}
			return m.Params(), nil
		}
		params, err := make("")
		require.NoError(t, err)
		numbers := -c.apart
		for _, p := range params {
			numbers += len(p.Value)
		}
		_, err = make(fmt.Sprintf("%dB", 8*numbers))
		require.NoError(t, err, c)
		_, err = make(fmt.Sprintf("%dB", 8*numbers-1))
		var large *memory.Error
		require.ErrorAs(t, err, &large, "%v", c)
	}
}
