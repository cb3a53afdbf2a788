package picture

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/data/network"
)

// Network draws the nodes at their places in the scene and a line for each of the 1500
// strongest edges: width ∝ |partial correlation|, positive solid blue, negative dashed red, weak
// ones paler. Names stand inside the circles if all fit, else beside them; of more than 100
// nodes those that have an edge are drawn, and the strongest named.
// It fails without nodes, if an edge joins unknown nodes or is not finite, or if the scene is of
// other nodes.
func Network(n *network.Network, s *Scene) (*plot.Plot, error) {
	c, err := newChart(n, s)
	if err != nil {
		return nil, err
	}
	return onPaper("Partial correlation network", c), nil
}

// onPaper is a plot without axes.
func onPaper(title string, drawn plot.Plotter) *plot.Plot {
	p := blank(title, "", "")
	p.HideAxes()
	p.X.Padding, p.Y.Padding = 0, 0
	p.Add(drawn)
	return p
}

// chart is a network that is drawn when the size of the paper is known.
type chart struct {
	*Scene
	links     []link
	all       int       // edges of the network, drawn or not
	marked    [][2]int  // pairs with a halo, edge or not
	strength  []float64 // of each node, the sum of its drawn edges' sizes
	strongest float64
	of        string // what a link's size is; empty: the partial correlation's
}

func newChart(n *network.Network, s *Scene) (*chart, error) {
	links, err := strongest(n)
	if err != nil {
		return nil, err
	}
	if len(s.Places) != len(n.Nodes) {
		return nil, errors.New("picture: the places are not those of this network's nodes")
	}
	c := &chart{Scene: s, links: links, all: len(n.Edges), strength: make([]float64, len(n.Nodes))}
	for _, l := range links {
		size := math.Abs(l.pcor)
		c.strength[l.ends[0]] += size
		c.strength[l.ends[1]] += size
		c.strongest = max(c.strongest, size)
	}
	return c, nil
}

// legendHeight is the height of a row below the network.
const legendHeight vg.Length = 20

// Plot implements plot.Plotter.
func (c *chart) Plot(paper draw.Canvas, _ *plot.Plot) {
	rows := c.rows(paper)
	c.nodesAndLinks(draw.Crop(paper, 0, 0, vg.Length(len(rows))*legendHeight, 0))
	for i, row := range rows {
		row.draw(paper, vg.Point{X: paper.Center().X, Y: paper.Min.Y + (vg.Length(len(rows)-i)-0.5)*legendHeight})
	}
}

// nodesAndLinks draws on all of the paper.
func (c *chart) nodesAndLinks(paper draw.Canvas) {
	g := c.fit(paper)
	stroke := func(ends [2]int, style draw.LineStyle) {
		a, b := g.rims(ends)
		paper.StrokeLine2(style, a.X, a.Y, b.X, b.Y)
	}
	for _, ends := range c.marked {
		stroke(ends, draw.LineStyle{Color: halo, Width: g.widest + 5})
	}
	for _, l := range c.links {
		// Edges of exactly 0 have no strongest to be compared with.
		share := math.Abs(l.pcor) / max(c.strongest, math.SmallestNonzeroFloat64)
		style := signed(l.pcor, max(0.3, g.widest*vg.Length(share)))
		style.Color = pale(style.Color, share)
		stroke(l.ends, style)
	}
	for i, at := range g.at {
		if c.Shown[i] {
			disc(&paper, at, g.radius, c.colour(i))
		}
	}
	c.names(paper, g)
	if len(c.links) == 0 && !slices.Contains(c.Shown, true) {
		style := sans(11)
		style.XAlign, style.YAlign = draw.XCenter, middle
		paper.FillText(style, paper.Center(), fmt.Sprintf("no edges among %d nodes", len(c.Labels)))
	}
}

func (c *chart) colour(i int) color.Color {
	if g := c.Group[i]; g >= 0 {
		return c.Groups[g].Colour
	}
	return color.White
}

// placed is a chart on paper of a certain size, in points.
type placed struct {
	at     []vg.Point
	radius vg.Length // of circles
	widest vg.Length // of lines
	font   vg.Length
	inside bool // names stand in the circles
}

// rims are where the line between two nodes leaves their circles, so that dashes begin there.
func (g placed) rims(ends [2]int) (a, b vg.Point) {
	a, b = g.at[ends[0]], g.at[ends[1]]
	apart := b.Sub(a)
	far := vg.Length(math.Hypot(float64(apart.X), float64(apart.Y)))
	if far <= 2*g.radius {
		return a, b
	}
	rim := apart.Scale(g.radius / far)
	return a.Add(rim), b.Sub(rim)
}

// fit finds the largest scale at which circles and names stay on the paper.
func (c *chart) fit(paper draw.Canvas) placed {
	var em vg.Length // the longest name in units of the font size
	for i, label := range c.Labels {
		if c.Shown[i] {
			em = max(em, sans(100).Width(label)/100)
		}
	}
	size := paper.Size()
	low, high := 0.0, 1000.0
	var g placed
	for range 60 {
		scale := (low + high) / 2
		if g = c.at(scale, em); c.within(g, size) {
			low = scale
		} else {
			high = scale
		}
	}
	g = c.at(low, em)
	a, b := c.corners(g)
	shift := paper.Center().Sub(a.Add(b).Scale(0.5))
	for i := range g.at {
		g.at[i] = g.at[i].Add(shift)
	}
	return g
}

// at is the chart with so many points to the unit of places.
func (c *chart) at(scale float64, em vg.Length) placed {
	g := placed{radius: max(1.5, min(24, vg.Length(0.24*scale))), at: make([]vg.Point, len(c.Places))}
	g.widest = max(2, min(6, 0.45*g.radius))
	g.font = min(11, 1.75*g.radius/max(em, 1e-9))
	if g.inside = g.font >= 7; !g.inside {
		g.radius = max(1.5, 0.7*g.radius)
		g.font = max(7, min(9.5, vg.Length(0.16*scale)))
	}
	for i, p := range c.Places {
		q := r2.Scale(scale, p)
		g.at[i] = vg.Point{X: vg.Length(q.X), Y: vg.Length(q.Y)}
	}
	return g
}

// within tells whether circles and names have room on paper of a size.
func (c *chart) within(g placed, size vg.Point) bool {
	low, high := c.corners(g)
	return high.X-low.X <= size.X && high.Y-low.Y <= size.Y
}

// corners are those of the rectangle around circles and names.
func (c *chart) corners(g placed) (low, high vg.Point) {
	first := true
	add := func(box vg.Rectangle) {
		if first {
			low, high, first = box.Min, box.Max, false
		}
		low = vg.Point{X: min(low.X, box.Min.X), Y: min(low.Y, box.Min.Y)}
		high = vg.Point{X: max(high.X, box.Max.X), Y: max(high.Y, box.Max.Y)}
	}
	for i, at := range g.at {
		if !c.Shown[i] {
			continue
		}
		r := g.radius + 1
		add(vg.Rectangle{Min: at.Sub(vg.Point{X: r, Y: r}), Max: at.Add(vg.Point{X: r, Y: r})})
		if len(c.Labels) <= mostNamed {
			boxes := g.boxes(i, c.Labels[i])
			for _, box := range boxes[:min(len(boxes), upright)] {
				add(box)
			}
		}
	}
	return low, high
}

// pale lets a weak line, of share 0 … 1, shine through.
func pale(c color.Color, share float64) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = uint8(255 * (0.35 + 0.65*share))
	return n
}

// disc is a filled circle with a dark rim.
func disc(c *draw.Canvas, at vg.Point, radius vg.Length, fill color.Color) {
	var round vg.Path
	round.Move(at.Add(vg.Point{X: radius}))
	round.Arc(at, radius, 0, 2*math.Pi)
	round.Close()
	c.SetColor(fill)
	c.Fill(round)
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: min(1, radius/5)})
	c.Stroke(round)
}

// byStrength are the nodes that are shown, the strongest first.
func (c *chart) byStrength() []int {
	var nodes []int
	for i, shown := range c.Shown {
		if shown {
			nodes = append(nodes, i)
		}
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(c.strength[b], c.strength[a]) })
	return nodes
}
