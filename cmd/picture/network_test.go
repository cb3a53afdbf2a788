package picture

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"missingscore/internal/data/network"
)

func smallNetwork() *network.Network {
	return &network.Network{
		Nodes: []string{"Ozone", "a<b>&\"c\"", "Größe", "Temp"},
		Edges: []network.Edge{
			{From: "Ozone", To: "Temp", PartialCorrelation: 0.5},
			{From: "Temp", To: "Größe", PartialCorrelation: -0.25},
			{From: "Ozone", To: "Größe", PartialCorrelation: 0.125},
		},
	}
}

func scene(n *network.Network) *Scene { return NewScene(n, Style{}) }

func drawn(n *network.Network) *plot.Plot { return Network(n, nil, scene(n)) }

func width(t *testing.T, style string) float64 {
	found := regexp.MustCompile(`stroke-width:([0-9.]+)`).FindStringSubmatch(style)
	if found == nil {
		return 1
	}
	w, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return w
}

func TestNetwork(t *testing.T) {
	all := leaves(t, drawn(smallNetwork()))
	require.ElementsMatch(t, []string{"Partial correlation network", "Ozone", "a<b>&\"c\"", "Größe", "Temp",
		"positive", "negative", "widest line: |partial correlation| = 0.5"}, texts(all))

	blue, red := strokes(all, svgBlue), strokes(all, svgRed)
	require.Len(t, blue, 3)
	require.Len(t, red, 2)
	var widths []float64
	for _, e := range all {
		if strings.Contains(e.style, "stroke:") && len(widths) < 3 {
			widths = append(widths, width(t, e.style))
		}
	}
	require.InDelta(t, widths[1], 2*widths[0], 1e-9)
	require.InDelta(t, widths[2], 4*widths[0], 1e-9)
	for _, s := range red {
		require.Contains(t, s, "stroke-dasharray:")
	}
	for _, s := range blue {
		require.NotContains(t, s, "stroke-dasharray:")
	}
	require.NotContains(t, blue[1], "stroke-opacity")
	require.Contains(t, red[0], "stroke-opacity")
}

func TestLabelsAndGroups(t *testing.T) {
	n := smallNetwork()
	n.Labels = map[string]string{"Temp": "Temperature"}
	s := NewScene(n, Style{GroupOf: map[string]string{"Temp": "weather", "Größe": "me", "Ozone": "weather"}})
	require.Equal(t, []int{0, -1, 1, 0}, s.Group)
	require.Equal(t, []Group{{"weather", groupColour(0)}, {"me", groupColour(1)}}, s.Groups)
	p := Network(n, nil, s)
	found := texts(leaves(t, p))
	require.Subset(t, found, []string{"Temperature", "weather", "me"})
	require.NotContains(t, found, "Temp")
}

// cliques is a network of cliques with one weak edge between neighbours, and of nodes without an edge.
func cliques(groups, nodes int) *network.Network {
	n := &network.Network{}
	for i := range 2 * groups * nodes {
		n.Nodes = append(n.Nodes, fmt.Sprint("v", i))
	}
	join := func(j, k int, r float64) {
		n.Edges = append(n.Edges, network.Edge{From: n.Nodes[j], To: n.Nodes[k], PartialCorrelation: r})
	}
	for g := range groups {
		first := g * nodes
		for j := range nodes {
			for k := range j {
				join(first+k, first+j, 0.5)
			}
		}
		if g > 0 {
			join(first-1, first, -0.01)
		}
	}
	return n
}

func TestModulesOfCliques(t *testing.T) {
	s := scene(cliques(3, 6))
	require.True(t, s.Found)
	require.Len(t, s.Groups, 3)
	for g := range 3 {
		for i := range 6 {
			require.Equal(t, g, s.Group[6*g+i])
		}
	}
	require.Equal(t, -1, s.Group[20])
	require.NotEqual(t, s.Groups[0].Colour, s.Groups[1].Colour)
	require.Empty(t, scene(cliques(1, 6)).Groups, "one module says nothing")
	require.Empty(t, scene(smallNetwork()).Groups)
}

func TestLargeNetworks(t *testing.T) {
	svg := func(n *network.Network) string { return SVG(drawn(n), 10*vg.Centimeter, 10*vg.Centimeter, "") }
	first := svg(cliques(10, 6))
	require.Equal(t, first, svg(cliques(10, 6)), "equal input gives equal bytes")
	require.Contains(t, first, "the 60 of 120 nodes with edges")

	many := svg(cliques(2, 60)) // 2 · 1770 + 1 edges
	require.Contains(t, many, "the 1500 strongest of 3541 edges")
	require.NotContains(t, many, ">v239<", "without an edge it is not drawn")
}

const svgHalo = "#FDDB8A"

func TestPair(t *testing.T) {
	other := smallNetwork()
	other.Edges = other.Edges[:1]
	other.Edges[0].PartialCorrelation = 0.25
	both := [2]TitledNetwork{{"women", smallNetwork(), nil}, {"men <", other, nil}}
	p := Pair("Two", both, [][2]int{{0, 1}, {0, 3}}, scene(smallNetwork()))
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
}

func TestDifferences(t *testing.T) {
	small := smallNetwork()
	p := Differences([2]string{"sex f", "sex m"}, small, "none", scene(small))
	words := texts(leaves(t, p))
	require.Subset(t, words, []string{"Partial correlations of sex f minus sex m", "larger in sex f", "larger in sex m", "widest line: |difference| = 0.5"})
	require.NotContains(t, words, "positive")
	require.NotContains(t, words, "none")
	p = Differences([2]string{"f", "m"}, &network.Network{Nodes: small.Nodes}, "no pair differs", scene(small))
	require.Contains(t, texts(leaves(t, p)), "no pair differs")
}

func TestLevelsText(t *testing.T) {
	n := &network.Network{
		Nodes:  []string{"sex", "height", "hand", "site", "ill"},
		Levels: [][]string{{"f", "m"}, nil, {"left", "right"}, {"a", "b", "c"}, {"0", "1"}},
		Edges:  []network.Edge{{From: "sex", To: "height"}, {From: "hand", To: "site", Unsigned: true}, {From: "height", To: "ill"}},
	}
	require.Equal(t, "positive: more of sex = m", LevelsText(n))
	n.Edges = n.Edges[1:]
	require.Empty(t, LevelsText(n))
}
