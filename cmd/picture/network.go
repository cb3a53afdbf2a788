package picture

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/data/network"
)

// Network draws the MostLinks strongest edges within the scene's limits: positive solid blue, negative
// dashed red, unsigned grey. sizes are values of NodeSize, NaN for unknown, nil for equal nodes.
func Network(n *network.Network, sizes []float64, s *Scene) *plot.Plot {
	return onPaper("Partial correlation network", newChart(n, sizes, s))
}

func onPaper(title string, drawn plot.Plotter) *plot.Plot {
	p := blank(title, "", "")
	p.HideAxes()
	p.X.Padding, p.Y.Padding = 0, 0
	p.Add(drawn)
	return p
}

type chart struct {
	*Scene
	links    []link
	all      int // edges of the network, drawn or not
	limits   Limits
	other    *chart      // whose edges the legend counts, too; nil for none
	marked   [][2]int    // pairs with a halo, edge or not
	strength []float64   // of each node, the sum of its drawn edges' sizes
	sizes    []float64   // of nodes, as given
	radii    []float64   // of nodes, from 0.5 to 1
	unit     float64     // of places
	ways     [][]wrapped // to break labels, the usual one first
	of       string      // the name of a link's size; empty: the partial correlation's
	signs    [2]string   // the meanings of positive and negative ones; empty: positive, negative
	none     string      // what the legend says without edges; empty: no edges
	levels   string      // the levels that signs go by; empty for none
}

func newChart(n *network.Network, sizes []float64, s *Scene) *chart {
	c := &chart{Scene: s, links: strongest(n), all: len(n.Edges), strength: make([]float64, len(n.Nodes)), levels: LevelsText(n), sizes: sizes}
	c.limits, _ = s.Limits.Of(n)
	for _, l := range c.links {
		c.strength[l.ends[0]] += math.Abs(l.pcor)
		c.strength[l.ends[1]] += math.Abs(l.pcor)
	}
	var shown []r2.Vec
	c.ways, c.radii = make([][]wrapped, len(n.Nodes)), Radii(sizes, len(n.Nodes))
	for i, label := range s.Labels {
		if !s.Shown[i] {
			continue
		}
		shown = append(shown, s.Places[i])
		c.ways[i] = broken(label)
	}
	c.unit = unit(shown)
	return c
}

// Radii returns 1 for the largest size, 0.5 for the smallest and for NaN, all 1 if sizes do not differ.
func Radii(sizes []float64, nodes int) []float64 {
	radii := slices.Repeat([]float64{1}, nodes)
	low, high := extremes(sizes)
	for i := range sizes {
		if high > low {
			radii[i] = 0.5
			if sizes[i] > low { // not NaN
				radii[i] += 0.5 * (sizes[i] - low) / (high - low)
			}
		}
	}
	return radii
}

func extremes(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

func (c *chart) Plot(paper draw.Canvas, _ *plot.Plot) {
	rows := c.rows(paper)
	c.nodesAndLinks(draw.Crop(paper, 0, 0, vg.Length(len(rows))*legendHeight+legendGap, 0))
	drawRows(paper, rows)
}

func (c *chart) nodesAndLinks(paper draw.Canvas) {
	g := c.fit(paper)
	stroke := func(ends [2]int, style draw.LineStyle) {
		a, b := g.rims(ends)
		paper.StrokeLine2(style, a.X, a.Y, b.X, b.Y)
	}
	for _, ends := range c.marked {
		stroke(ends, draw.LineStyle{Color: halo, Width: g.widest + 5})
	}
	for _, l := range c.drawn() {
		size := math.Abs(l.pcor)
		wide, coloured := c.limits.share(size)
		width := max(thinnest, g.widest*vg.Length(wide))
		if c.limits.Cut > 0 && size >= c.limits.Cut {
			width = g.widest * (0.2 + 0.8*vg.Length(wide))
		}
		style := l.style(width)
		style.Color = pale(style.Color, coloured)
		stroke(l.ends, style)
	}
	for i, at := range g.at {
		if c.Shown[i] {
			disc(&paper, at, g.radius[i], c.colour(i))
		}
	}
	for _, n := range c.placeNames(paper, g) {
		n.draw(paper)
	}
	if len(c.links) == 0 && !slices.Contains(c.Shown, true) {
		style := sans(axisSize)
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

const thinnest vg.Length = 0.5

type placed struct {
	at         []vg.Point
	radius     []vg.Length     // of circles
	widest     vg.Length       // of lines
	inside     map[int]wrapped // labels in circles
	insideFont vg.Length       // of labels in circles
	font       vg.Length       // of labels beside them
}

// rims are the ends of an edge at the rims of its nodes.
func (g placed) rims(ends [2]int) (a, b vg.Point) {
	a, b = g.at[ends[0]], g.at[ends[1]]
	apart := b.Sub(a)
	far := vg.Length(math.Hypot(float64(apart.X), float64(apart.Y)))
	r, s := g.radius[ends[0]], g.radius[ends[1]]
	if far <= r+s {
		return a, b
	}
	return a.Add(apart.Scale(r / far)), b.Sub(apart.Scale(s / far))
}

// fit finds the largest scale at which circles and labels fit on the paper.
func (c *chart) fit(paper draw.Canvas) placed {
	size := paper.Size()
	low, high := 0.0, 1000/c.unit
	for range 60 {
		scale := (low + high) / 2
		if a, b := c.corners(c.at(scale)); b.X-a.X <= size.X && b.Y-a.Y <= size.Y {
			low = scale
		} else {
			high = scale
		}
	}
	g := c.at(low)
	a, b := c.corners(g)
	shift := paper.Center().Sub(a.Add(b).Scale(0.5))
	for i := range g.at {
		g.at[i] = g.at[i].Add(shift)
	}
	return g
}

func (c *chart) at(scale float64) placed {
	step := vg.Length(scale * c.unit)
	radius := max(1.5, min(24, 0.24*step))
	g := placed{at: make([]vg.Point, len(c.Places)), font: max(besideLeast, min(besideMost, 0.16*step))}
	if g.inside, g.insideFont = c.insides(radius, g.font); g.inside == nil {
		radius = max(1.5, 0.7*radius)
	}
	g.widest = max(2, min(7, 0.45*radius))
	for i, p := range c.Places {
		q := r2.Scale(scale, p)
		g.at[i] = vg.Point{X: vg.Length(q.X), Y: vg.Length(q.Y)}
		g.radius = append(g.radius, max(1.5, radius*vg.Length(c.radii[i])))
	}
	return g
}

func (c *chart) corners(g placed) (low, high vg.Point) {
	low, high = vg.Point{X: vg.Length(math.Inf(1)), Y: vg.Length(math.Inf(1))}, vg.Point{X: vg.Length(math.Inf(-1)), Y: vg.Length(math.Inf(-1))}
	add := func(box vg.Rectangle) {
		low = vg.Point{X: min(low.X, box.Min.X), Y: min(low.Y, box.Min.Y)}
		high = vg.Point{X: max(high.X, box.Max.X), Y: max(high.Y, box.Max.Y)}
	}
	for i, at := range g.at {
		if !c.Shown[i] {
			continue
		}
		r := vg.Point{X: g.radius[i] + 1, Y: g.radius[i] + 1}
		add(vg.Rectangle{Min: at.Sub(r), Max: at.Add(r)})
		if len(c.Labels) <= mostNamed && g.inside[i].lines == nil {
			for side := range upright {
				add(c.beside(g, i, c.ways[i][0], side).box())
			}
		}
	}
	if low.X > high.X { // nothing is shown
		return vg.Point{}, vg.Point{}
	}
	return low, high
}

func pale(c color.Color, share float64) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = uint8(255 * (0.35 + 0.65*share))
	return n
}

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

// TitledNetwork is a network with the title above it, and the sizes of its nodes as in Network.
type TitledNetwork struct {
	Title   string
	Network *network.Network
	Sizes   []float64
}

// Pair draws two networks side by side with the same places and limits. marked pairs have a halo.
func Pair(title string, networks [2]TitledNetwork, marked [][2]int, s *Scene) *plot.Plot {
	p := &pair{}
	for i, n := range networks {
		p.charts[i] = newChart(n.Network, n.Sizes, s)
		p.titles[i], p.charts[i].marked = Short(n.Title, 40), marked
	}
	a, b := p.charts[0].limits, p.charts[1].limits
	common := Limits{max(a.Minimum, b.Minimum), max(a.Cut, b.Cut), max(a.Maximum, b.Maximum)}
	p.charts[0].limits, p.charts[1].limits = common, common
	p.charts[0].other = p.charts[1]
	return onPaper(title, p)
}

// Between is the network of the mean sizes of partial correlations, for a common scene.
func Between(a, b *network.Network) *network.Network {
	out := &network.Network{Nodes: a.Nodes, Labels: a.Labels}
	known := map[[2]int]int{}
	for _, n := range []*network.Network{a, b} {
		for _, e := range n.Edges {
			i, ok := known[e.Ends]
			if !ok {
				i = len(out.Edges)
				known[e.Ends] = i
				out.Edges = append(out.Edges, out.Edge(e.Ends[0], e.Ends[1], 0, 0))
			}
			out.Edges[i].PartialCorrelation += e.Weight() / 2
		}
	}
	return out
}

// Differences draws differences of partial correlations, the first group's minus the second's.
// Without edges the picture says none.
func Differences(groups [2]string, n *network.Network, none string, s *Scene) *plot.Plot {
	c := newChart(n, nil, s)
	c.limits, _ = Limits{}.Of(n)
	c.of, c.none = "|difference|", none
	for i := range groups {
		groups[i] = Short(groups[i], 24)
		c.signs[i] = "larger in " + groups[i]
	}
	return onPaper("Partial correlations of "+groups[0]+" minus "+groups[1], c)
}

// The paper's size is known when it is drawn.
type pair struct {
	titles [2]string
	charts [2]*chart
}

const titleHeight vg.Length = 16

func (p *pair) Plot(c draw.Canvas, _ *plot.Plot) {
	const gap vg.Length = 12 // between the two
	half := (c.Max.X - c.Min.X - gap) / 2
	with := p.charts[0] // the one whose legend is that of both
	if len(with.links) == 0 {
		with = p.charts[1]
	}
	rows := with.rows(c)
	below := vg.Length(len(rows))*legendHeight + legendGap
	for i, chart := range p.charts {
		paper := draw.Crop(c, vg.Length(i)*(half+gap), -vg.Length(1-i)*(half+gap), below, -titleHeight)
		chart.nodesAndLinks(paper)
		style := sans(titleSize - 1)
		style.XAlign, style.YAlign = draw.XCenter, middle
		c.FillText(style, vg.Point{X: paper.Center().X, Y: paper.Max.Y + titleHeight/2}, p.titles[i])
	}
	drawRows(c, rows)
}
