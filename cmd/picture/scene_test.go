package picture

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"missingscore/internal/data/network"
)

func numbered(nodes, m int) *network.Network {
	n := &network.Network{}
	for i := range nodes {
		n.Nodes = append(n.Nodes, fmt.Sprint("v", i))
	}
	for j := range nodes {
		for i := range j {
			if k := len(n.Edges) + 1; k <= m {
				r := math.Round(1e3*(0.01+0.6*float64(k*37%101)/101)) / 1e3
				n.Edges = append(n.Edges, n.Edge(i, j, 0, r))
			}
		}
	}
	return n
}

// qgraph 1.9.3: widths as (width − 1)/(esize − 1), colours as shares of black in steps of 1/255.
func TestLimitsOfQgraph(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		nodes, edges int
		given, want  Limits
		wide, black  []float64
	}{
		{10, 20, Limits{0, nan, nan}, Limits{0, 0, 0.586}, []float64{0.3924915, 0.7679181, 0.1177474, 0.4931741, 0.8686007, 0.2201365}, []float64{0.392, 0.769, 0.118, 0.494, 0.867, 0.220}},
		{20, 40, Limits{0, nan, nan}, Limits{0, 0.45425, 0.604}, []float64{0, 0, 0, 0, 0.3656093, 0}, []float64{0.506, 0.992, 0.153, 0.635, 1, 0.282}},
		{25, 90, Limits{0, nan, nan}, Limits{0, 0.45975, 0.604}, []float64{0, 0, 0, 0, 0.3414211, 0}, []float64{0.502, 0.980, 0.149, 0.627, 1, 0.282}},
		{20, 190, Limits{0, nan, nan}, Limits{0, 0.479, 0.604}, []float64{0, 0, 0, 0, 0.24, 0}, []float64{0.478, 0.941, 0.145, 0.604, 1, 0.271}},
		{25, 90, Limits{0.1, 0.3, 1}, Limits{0.1, 0.3, 1}, []float64{0, 0.2142857, 0, 0, 0.2985714, 0}, []float64{0.651, 1, 0, 0.945, 1, 0.145}},
		{10, 20, Limits{0.1, nan, 0.8}, Limits{0.1, 0, 0.8}, []float64{0.1857143, 0.5, 0, 0.27, 0.5842857, 0.0414286}, []float64{0.184, 0.498, 0, 0.271, 0.584, 0.043}},
	} {
		n := numbered(c.nodes, c.edges)
		got, hairball := c.given.Of(n)
		require.False(t, hairball)
		require.InDeltaSlice(t, []float64{c.want.Minimum, c.want.Cut, c.want.Maximum}, []float64{got.Minimum, got.Cut, got.Maximum}, 1e-12)
		for k, e := range n.Edges[:6] {
			wide, coloured := got.share(e.PartialCorrelation)
			require.InDelta(t, c.wide[k], wide, 1e-7, e)
			require.InDelta(t, c.black[k], coloured, 0.004, e)
		}
	}
}

func TestHairballsHaveAMinimum(t *testing.T) {
	_, hairball := Usual().Of(numbered(25, 100))
	require.False(t, hairball)
	n := numbered(25, 101)
	limits, hairball := Usual().Of(n)
	require.True(t, hairball)
	drawn := 0
	for _, e := range n.Edges {
		if e.PartialCorrelation >= limits.Minimum {
			drawn++
		}
	}
	require.InDelta(t, 75, drawn, 2, "3 for each node, to two digits")
	s := NewScene(n, Style{Limits: Usual()})
	p := Network(n, nil, s)
	all := leaves(t, p)
	require.Contains(t, texts(all), fmt.Sprintf("minimum %.2g: %d of 101 edges drawn", limits.Minimum, drawn))
	require.Len(t, strokes(all, svgBlue), drawn+1, "and the legend's")
}

func TestLayoutIsShared(t *testing.T) {
	n := numbered(12, 20)
	s := scene(n)
	var file bytes.Buffer
	require.NoError(t, s.WriteLayout(&file, n.Nodes))
	lines, err := csv.NewReader(&file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"name", "x", "y"}, lines[0])
	given, scaled := map[string]r2.Vec{}, map[string]r2.Vec{}
	for _, line := range lines[1:] {
		var at r2.Vec
		_, err := fmt.Sscan(line[1], &at.X)
		require.NoError(t, err)
		_, err = fmt.Sscan(line[2], &at.Y)
		require.NoError(t, err)
		given[line[0]], scaled[line[0]] = at, r2.Scale(100, at)
	}
	fit := func(layout map[string]r2.Vec) placed {
		s := NewScene(n, Style{Layout: layout})
		c := newChart(n, nil, s)
		return c.fit(draw.NewCanvas(vgsvg.New(400, 400), 400, 400))
	}
	own := fit(nil)
	for _, layout := range []map[string]r2.Vec{given, scaled} {
		again := fit(layout)
		for i, at := range own.at {
			require.InDelta(t, 0, float64(at.Sub(again.at[i]).X), 0.1)
			require.InDelta(t, 0, float64(at.Sub(again.at[i]).Y), 0.1)
			require.InDelta(t, float64(own.radius[i]), float64(again.radius[i]), 0.05)
		}
	}
	delete(given, "v0")
	s = NewScene(n, Style{Layout: given})
	require.Equal(t, given["v1"], s.Places[1])
	var mean r2.Vec
	weight := 0.0
	for _, e := range n.Edges {
		if e.From == "v0" {
			mean, weight = r2.Add(mean, r2.Scale(e.PartialCorrelation, given[e.To])), weight+e.PartialCorrelation
		}
	}
	require.Less(t, r2.Norm(r2.Sub(s.Places[0], r2.Scale(1/weight, mean))), 1.5)
	for i, at := range s.Places[1:] {
		require.Greater(t, r2.Norm(r2.Sub(at, s.Places[0])), 0.5, i)
	}
}

func TestSizesOfNodes(t *testing.T) {
	n := smallNetwork()
	s := scene(n)
	s.NodeSize = "expected_influence"
	sizes := []float64{-1, math.NaN(), 1, 3}
	c := newChart(n, sizes, s)
	require.Equal(t, []float64{0.5, 0.5, 0.75, 1}, c.radii)
	p := Network(n, sizes, s)
	require.Contains(t, texts(leaves(t, p)), "size of nodes: expected influence, -1 to 3")
}

// Names lie on the paper, circles apart; few labels overlap or cover circles and lines.
func TestNamesCoverLittle(t *testing.T) {
	words := []string{"Find it difficult to approach others.", "Make friends easily.",
		"Systolic.blood.pressure.of.the.right.arm", "household income before tax", "Am exacting in my work."}
	for _, c := range []struct {
		format         string
		nodes          int
		inside         bool
		labels, covers int     // at most: pairs of overlapping labels, labels over other circles
		lines          float64 // at most: share of the lines' length under labels
	}{
		{"V%d", 4, true, 0, 0, 0}, {"V%d", 20, true, 0, 0, 0}, {"gene%03d", 100, false, 0, 0, 0.03},
		{"", 4, false, 0, 0, 0.01}, {"", 25, false, 0, 0, 0.06}, {"", 60, false, 0, 0, 0.05}, {"", 100, false, 0, 5, 0.15},
	} {
		n := &network.Network{Labels: map[string]string{}}
		for i := range c.nodes {
			name := fmt.Sprint("v", i)
			n.Nodes, n.Labels[name] = append(n.Nodes, name), words[i%len(words)]
			if c.format != "" {
				n.Labels[name] = fmt.Sprintf(c.format, i+1)
			}
			for _, j := range []int{i / 2, i * 7 % (i + 1)} {
				if j < i {
					n.Edges = append(n.Edges, n.Edge(j, i, 0, 0.2+0.01*float64(i%17)))
				}
			}
		}
		s := scene(n)
		chart := newChart(n, nil, s)
		paper := draw.NewCanvas(vgsvg.New(s.Side(), s.Side()), s.Side(), s.Side())
		g := chart.fit(paper)
		names := chart.placeNames(paper, g)
		require.Len(t, names, c.nodes)
		labels, covers, length, hidden := 0, 0, 0.0, 0.0
		for k, a := range names {
			name, box := chart.Labels[a.node], a.box()
			require.Equal(t, c.inside, a.inside, name)
			require.GreaterOrEqual(t, a.size, vg.Length(7))
			require.GreaterOrEqual(t, float64(min(box.Min.X, box.Min.Y)), -1e-6, name)
			require.LessOrEqual(t, float64(max(box.Max.X, box.Max.Y)), float64(s.Side())+1e-6, name)
			for j, b := range names[:k] {
				if overlap(box, b.box()) > 1 {
					labels++
				}
				gap := g.at[k].Sub(g.at[j])
				apart := math.Hypot(float64(gap.X), float64(gap.Y))
				require.Greater(t, apart, float64(g.radius[k]+g.radius[j]), "circles overlap")
			}
			if !a.inside && chart.discsUnder(g, a) > 2 {
				covers++
			}
			for _, l := range chart.links {
				if !a.inside {
					hidden += within(box, g.at[l.ends[0]], g.at[l.ends[1]])
				}
			}
		}
		for _, l := range chart.links {
			length += math.Hypot(float64(g.at[l.ends[0]].X-g.at[l.ends[1]].X), float64(g.at[l.ends[0]].Y-g.at[l.ends[1]].Y))
		}
		require.LessOrEqual(t, labels, c.labels, c)
		require.LessOrEqual(t, covers, c.covers, c)
		require.LessOrEqual(t, hidden, c.lines*length, c)
	}
}

func TestWrap(t *testing.T) {
	for label, want := range map[string][]string{
		"Ozone":                                 {"Ozone"},
		"":                                      {""},
		"Make friends easily.":                  {"Make friends", "easily."},
		"Find it difficult to approach others.": {"Find it", "difficult to", "approach others."},
		"a_name-of.parts/without spaces":        {"a_name-of.", "parts/without", "spaces"},
		"x123456789012345678901234567890":       {"x12345678901234567890123", "4567890"},
		"one two three four five six seven eight nine ten eleven twelve thirteen fourteen": {"one two three four five", "six seven eight nine ten", "eleven twelve thirteen…"},
	} {
		require.Equal(t, want, Wrap(label), label)
	}
}

func smallNetwork() *network.Network {
	return &network.Network{
		Nodes: []string{"Ozone", "a<b>&\"c\"", "Größe", "Temp"},
		Edges: []network.Edge{
			{Ends: [2]int{0, 3}, PartialCorrelation: 0.5},
			{Ends: [2]int{3, 2}, PartialCorrelation: -0.25},
			{Ends: [2]int{0, 2}, PartialCorrelation: 0.125},
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
		n.Edges = append(n.Edges, n.Edge(j, k, 0, r))
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
		Edges:  []network.Edge{{Ends: [2]int{0, 1}}, {Ends: [2]int{2, 3}, Unsigned: true}, {Ends: [2]int{1, 4}}},
	}
	require.Equal(t, "positive: more of sex = m", LevelsText(n))
	n.Edges = n.Edges[1:]
	require.Empty(t, LevelsText(n))
}
