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

func TestSizesThatAreChecked(t *testing.T) {
	const d = 5
	makers := map[string]func(name string, options []byte) ([]*graph.Param, error){
		"imputer": func(name string, options []byte) ([]*graph.Param, error) {
			m, err := nets.NewImputer(name, d, options, stream.New(1))
			if err != nil {
				return nil, err
			}
			return m.Params(), nil
		},
		"model": func(name string, options []byte) ([]*graph.Param, error) {
			m, err := model.New(name, d, options, stream.New(1))
			if err != nil {
				return nil, err
			}
			return m.Params(), nil
		},
	}
	for _, c := range []struct {
		kind, name, options string
		apart               int // parameters that are not counted
	}{
		{"imputer", "normal", `{}`, 1},
		{"imputer", "normal", `{"hidden":11,"mask_input":true,"diagonal_sd":true}`, d},
		{"imputer", "normal", `{"hidden":11,"noise_conditional":true}`, 3},
		{"imputer", "linear", `{}`, 0},
		{"imputer", "linear", `{"hidden":11}`, 0},
		{"imputer", "mixture", `{}`, 0},
		{"imputer", "mixture", `{"hidden":11,"components":1}`, 0},
		{"imputer", "mixture", `{"hidden":11,"components":2}`, 0},
		{"model", "energy", `{}`, 2 * d},
		{"model", "energy", `{"hidden":[7,11,3],"noise_conditional":true}`, 0},
		{"model", "score-network", `{}`, d},
		{"model", "score-network", `{"hidden":[7,11,3]}`, d},
	} {
		t.Setenv(memory.Variable, "")
		params, err := makers[c.kind](c.name, []byte(c.options))
		require.NoError(t, err)
		numbers := -c.apart
		for _, p := range params {
			numbers += len(p.Value)
		}
		t.Setenv(memory.Variable, fmt.Sprintf("%dB", 8*numbers))
		_, err = makers[c.kind](c.name, []byte(c.options))
		require.NoError(t, err, c)
		t.Setenv(memory.Variable, fmt.Sprintf("%dB", 8*numbers-1))
		_, err = makers[c.kind](c.name, []byte(c.options))
		var large *memory.Error
		require.ErrorAs(t, err, &large, "%v", c)
	}
}

func TestLargestOptions(t *testing.T) {
	for _, c := range []struct{ imputer, options string }{
		{"normal", `{"hidden":%d}`}, {"linear", `{"hidden":%d}`}, {"mixture", `{"hidden":%d}`},
		{"mixture", `{"hidden":2,"components":%d}`},
	} {
		most := map[string]int{`{"hidden":%d}`: nets.MostUnits, `{"hidden":2,"components":%d}`: nets.MostComponents}[c.options]
		t.Setenv(memory.Variable, "1kB") // what is refused for its size is not made
		_, err := nets.NewImputer(c.imputer, 1, fmt.Appendf(nil, c.options, most+1), stream.New(1))
		require.ErrorContains(t, err, fmt.Sprintf("1 to %d are possible", most))
		_, err = nets.NewImputer(c.imputer, 1, fmt.Appendf(nil, c.options, most), stream.New(1))
		var large *memory.Error
		if err != nil {
			require.ErrorAs(t, err, &large, "%v", c)
		}
	}
	_, err := nets.NewEnergy(1, nets.NetworkOptions{Hidden: []int{1}}, stream.New(1))
	require.NoError(t, err, "the least")
	t.Setenv(memory.Variable, "1kB")
	for units, want := range map[int]string{nets.MostUnits + 1: "1 to 10000 are possible", 0: "has 0 units", nets.MostUnits: "of memory"} {
		_, err := nets.NewEnergy(1, nets.NetworkOptions{Hidden: []int{units}}, stream.New(1))
		require.ErrorContains(t, err, want)
	}
}
