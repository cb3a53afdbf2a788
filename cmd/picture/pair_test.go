package picture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
)

const svgHalo = "#FDDB8A"

func TestPair(t *testing.T) {
	other := smallNetwork()
	other.Edges = other.Edges[:1]
	other.Edges[0].PartialCorrelation = 0.25
	both := [2]TitledNetwork{{"women", smallNetwork()}, {"men <", other}}
	p, err := Pair("Two", both, [][2]int{{0, 1}, {0, 3}}, scene(t, smallNetwork()))
	require.NoError(t, err)
	all := leaves(t, p)
	require.Subset(t, texts(all), []string{"Two", "women", "men <", "positive", "negative", "widest line: |partial correlation| = 0.5"})
	count := map[string]int{}
	for _, text := range texts(all) {
		count[text]++
	}
	require.Equal(t, 2, count["Ozone"])
	require.Equal(t, 1, count["positive"])
	require.Len(t, strokes(all, svgHalo), 4)
	require.Len(t, strokes(all, svgBlue), 4, "three edges and the legend")
	require.Len(t, strokes(all, svgRed), 2)
	widths := map[float64]int{} // one scale: an edge of half the strongest is half as wide, also where it is the strongest
	for _, s := range append(strokes(all, svgBlue), strokes(all, svgRed)...) {
		widths[width(t, s)]++
	}
	require.Greater(t, len(widths), 2)
	wide, half := 0.0, 0.0
	for w := range widths {
		wide = max(wide, w)
	}
	for w := range widths {
		if w == wide/2 {
			half = w
		}
	}
	require.NotZero(t, half)

	empty := [2]TitledNetwork{{"a", &network.Network{Nodes: other.Nodes}}, {"b", &network.Network{Nodes: other.Nodes}}}
	p, err = Pair("", empty, nil, scene(t, smallNetwork()))
	require.NoError(t, err)
	require.NotContains(t, strings.Join(texts(leaves(t, p)), " "), "positive")
	_, err = Pair("", [2]TitledNetwork{{"a", smallNetwork()}, {"b", &network.Network{Nodes: []string{"x"}}}}, nil, nil)
	require.ErrorContains(t, err, "not of the same variables")
	_, err = Pair("", [2]TitledNetwork{{"a", &network.Network{}}, {"b", &network.Network{}}}, nil, nil)
	require.ErrorContains(t, err, "no nodes")
}

func TestDifferences(t *testing.T) {
	p, err := Differences("Changes", smallNetwork(), scene(t, smallNetwork()))
	require.NoError(t, err)
	require.Contains(t, texts(leaves(t, p)), "widest line: |difference| = 0.5")
	_, err = Differences("Changes", &network.Network{}, nil)
	require.Error(t, err)
}
