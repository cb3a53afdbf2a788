package picture

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/spatial/r2"
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
				n.Edges = append(n.Edges, network.Edge{From: n.Nodes[i], To: n.Nodes[j], PartialCorrelation: r})
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
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return v
	}
	given, scaled := map[string]r2.Vec{}, map[string]r2.Vec{}
	for _, line := range lines[1:] {
		at := r2.Vec{X: number(line[1]), Y: number(line[2])}
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
	words := []string{"Find it difficult to approach others.", "Make friends easily.", "Systolic.blood.pressure.of.the.right.arm",
		"household income before tax", "Am exacting in my work."}
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
					n.Edges = append(n.Edges, network.Edge{From: n.Nodes[j], To: name, PartialCorrelation: 0.2 + 0.01*float64(i%17)})
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
				require.Greater(t, math.Hypot(float64(gap.X), float64(gap.Y)), float64(g.radius[k]+g.radius[j]), "circles overlap")
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
		t.Logf("%d nodes: %d pairs of labels overlap, %d cover a circle, %.1f %% of lines", c.nodes, labels, covers, 100*hidden/length)
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
