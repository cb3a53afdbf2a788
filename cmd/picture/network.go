package picture

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/data/network"
)

// Network draws the nodes at their places in the scene and a line for each of the 1500
// strongest edges: width ∝ |partial correlation|, positive solid blue, negative dashed red, without a sign grey, weak
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
	of        string    // what a link's size is; empty: the partial correlation's
	signs     [2]string // what positive and negative ones mean; empty: positive, negative
	levels    string    // of which levels signs are; empty for none
}

func newChart(n *network.Network, s *Scene) (*chart, error) {
	links, err := strongest(n)
	if err != nil {
		return nil, err
	}
	if len(s.Places) != len(n.Nodes) {
		return nil, errors.New("picture: the places are not those of this network's nodes")
	}
	c := &chart{Scene: s, links: links, all: len(n.Edges), strength: make([]float64, len(n.Nodes)), levels: LevelsText(n)}
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

func (c *chart) Plot(paper draw.Canvas, _ *plot.Plot) {
	rows := c.rows(paper)
	c.nodesAndLinks(draw.Crop(paper, 0, 0, vg.Length(len(rows))*legendHeight, 0))
	for i, row := range rows {
		row.draw(paper, vg.Point{X: paper.Center().X, Y: paper.Min.Y + (vg.Length(len(rows)-i)-0.5)*legendHeight})
	}
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
	for _, l := range c.links {
		// Edges of exactly 0 have no strongest to be compared with.
		share := math.Abs(l.pcor) / max(c.strongest, math.SmallestNonzeroFloat64)
		style := l.style(max(0.3, g.widest*vg.Length(share)))
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

const (
	// MostLinks is how many edges a picture has, the strongest.
	MostLinks = 1500
	// mostNamed is the number of nodes up to which all are drawn and named.
	mostNamed = 100
)

// Scene is what pictures of one network, or of two with the same nodes, have in common, on
// paper and on a page: where nodes are, what they are called, how they are coloured.
type Scene struct {
	Labels []string // of nodes, made fit to be drawn
	Places []r2.Vec // the y axis points up
	Group  []int    // of each node, in Groups, −1 for none
	Groups []Group
	Found  bool   // the groups are modules, found from the network
	Shown  []bool // false: in a network of many nodes, without one of the edges by which they are placed
	Weaker int    // edges by which nodes are not placed, for there are MostLinks stronger ones
}

// Group is nodes of one colour. A module that was found has no name.
type Group struct {
	Name   string
	Colour color.NRGBA
}

// NewScene lays out the network by the sizes of its strongest edges (placesOf).
// Nodes that have a label are shown by it. groups names the group of nodes; where it is nil,
// modules are found from the sizes of edges (modules).
// It fails without nodes, or if an edge joins unknown nodes or is not finite.
func NewScene(n *network.Network, groups map[string]string) (*Scene, error) {
	links, err := strongest(n)
	if err != nil {
		return nil, err
	}
	s := &Scene{Shown: make([]bool, len(n.Nodes)), Weaker: len(n.Edges) - len(links)}
	for i, name := range n.Nodes {
		s.Labels = append(s.Labels, short(n.Label(name), 24))
		s.Shown[i] = len(n.Nodes) <= mostNamed
	}
	var edges []Edge
	for _, l := range links {
		edges = append(edges, Edge{From: l.ends[0], To: l.ends[1], Weight: math.Abs(l.pcor)})
		s.Shown[l.ends[0]], s.Shown[l.ends[1]] = true, true
	}
	s.place(n.Nodes, edges)
	if s.Found = groups == nil; s.Found {
		s.Group, s.Groups = modules(len(n.Nodes), links)
	} else {
		s.Group, s.Groups = named(n.Nodes, groups)
	}
	return s, nil
}

// place lays out the nodes that are shown, and no others.
func (s *Scene) place(names []string, edges []Edge) {
	var shown []string
	var nodes []int // that are shown
	rank := make([]int, len(names))
	for i, name := range names {
		if s.Shown[i] {
			rank[i] = len(shown)
			shown, nodes = append(shown, name), append(nodes, i)
		}
	}
	for i, e := range edges {
		edges[i].From, edges[i].To = rank[e.From], rank[e.To]
	}
	s.Places = make([]r2.Vec, len(names))
	for i, at := range Places(shown, edges) {
		s.Places[nodes[i]] = at
	}
}

// named are the groups of nodes in the order of their first nodes.
func named(nodes []string, groups map[string]string) (of []int, out []Group) {
	known := map[string]int{}
	for _, node := range nodes {
		name := groups[node]
		if name == "" {
			of = append(of, -1)
			continue
		}
		if _, ok := known[name]; !ok {
			known[name] = len(out)
			out = append(out, Group{short(name, 24), groupColour(len(out))})
		}
		of = append(of, known[name])
	}
	return of, out
}

type link struct {
	ends     [2]int
	pcor     float64
	unsigned bool // pcor has no sign
}

func (l link) style(width vg.Length) draw.LineStyle {
	if l.unsigned {
		return unsigned(width)
	}
	return signed(l.pcor, width)
}

// strongest are the MostLinks strongest edges, the strongest last, to be drawn on top.
func strongest(n *network.Network) ([]link, error) {
	if len(n.Nodes) == 0 {
		return nil, fmt.Errorf("picture: the network has no nodes")
	}
	ends, err := n.Places()
	if err != nil {
		return nil, err
	}
	var links []link
	for i, e := range n.Edges {
		r := e.PartialCorrelation
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return nil, fmt.Errorf("picture: the partial correlation of %q – %q is %v", e.From, e.To, r)
		}
		links = append(links, link{ends[i], r, e.Unsigned})
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(math.Abs(a.pcor), math.Abs(b.pcor)) })
	return links[max(0, len(links)-MostLinks):], nil
}

// TitledNetwork is a network with what stands above it.
type TitledNetwork struct {
	Title   string
	Network *network.Network
}

// Pair draws two networks of the same variables side by side, each as Network does, every
// variable at the same place and widths on one scale. Pairs of variables that are marked,
// by their places, have a halo in both, edge or not. It fails where Network does, and if
// the variables are not the same.
func Pair(title string, networks [2]TitledNetwork, marked [][2]int, s *Scene) (*plot.Plot, error) {
	if !slices.Equal(networks[0].Network.Nodes, networks[1].Network.Nodes) {
		return nil, errors.New("picture: the two networks are not of the same variables")
	}
	p := &pair{}
	for i, n := range networks {
		var err error
		if p.charts[i], err = newChart(n.Network, s); err != nil {
			return nil, err
		}
		p.titles[i], p.charts[i].marked = short(n.Title, 40), marked
	}
	strongest := max(p.charts[0].strongest, p.charts[1].strongest)
	p.charts[0].strongest, p.charts[1].strongest = strongest, strongest
	return onPaper(title, p), nil
}

// Between is the network of the mean sizes of partial correlations in two networks of the same
// variables, by whose scene both are drawn.
func Between(a, b *network.Network) *network.Network {
	out := &network.Network{Nodes: a.Nodes, Labels: a.Labels}
	known := map[[2]string]int{}
	for _, n := range []*network.Network{a, b} {
		for _, e := range n.Edges {
			pair := [2]string{e.From, e.To}
			i, ok := known[pair]
			if !ok {
				i = len(out.Edges)
				known[pair] = i
				out.Edges = append(out.Edges, network.Edge{From: e.From, To: e.To})
			}
			out.Edges[i].PartialCorrelation += e.Weight() / 2
		}
	}
	return out
}

// Differences draws the differences of partial correlations as Network does edges: each edge's
// PartialCorrelation is one, of the first of two groups less the second. It fails where Network does.
func Differences(title string, groups [2]string, n *network.Network, s *Scene) (*plot.Plot, error) {
	c, err := newChart(n, s)
	if err != nil {
		return nil, err
	}
	c.of, c.signs = "|difference|", [2]string{"larger in " + short(groups[0], 24), "larger in " + short(groups[1], 24)}
	return onPaper(title, c), nil
}

// pair is drawn when the size of the paper is known.
type pair struct {
	titles [2]string
	charts [2]*chart
}

// titleHeight is the strip above each network.
const titleHeight vg.Length = 16

func (p *pair) Plot(c draw.Canvas, _ *plot.Plot) {
	const gap vg.Length = 12 // between the two
	half := (c.Max.X - c.Min.X - gap) / 2
	with := p.charts[0] // the one whose legend is that of both
	if len(with.links) == 0 {
		with = p.charts[1]
	}
	rows := with.rows(c)
	below := vg.Length(len(rows)) * legendHeight
	for i, chart := range p.charts {
		paper := draw.Crop(c, vg.Length(i)*(half+gap), -vg.Length(1-i)*(half+gap), below, -titleHeight)
		chart.nodesAndLinks(paper)
		style := sans(11)
		style.XAlign, style.YAlign = draw.XCenter, middle
		c.FillText(style, vg.Point{X: paper.Center().X, Y: paper.Max.Y + titleHeight/2}, p.titles[i])
	}
	for i, row := range rows {
		row.draw(c, vg.Point{X: c.Center().X, Y: c.Min.Y + (vg.Length(len(rows)-i)-0.5)*legendHeight})
	}
}

// mostNames is how many nodes are named in a network of more than mostNamed.
const mostNames = 40

func (g placed) style() text.Style {
	style := sans(g.font)
	style.XAlign, style.YAlign = draw.XCenter, middle
	return style
}

// upright is how many of a name's anchors, below and above its circle, the scale of the network has
// to leave room for.
const upright = 2

// anchors are where the middle of node i's name can be: in the circle, or below, above, right and
// left of it.
func (g placed) anchors(i int, name string) []vg.Point {
	if g.inside {
		return []vg.Point{g.at[i]}
	}
	away := vg.Point{Y: g.radius + 0.75*g.font}
	beside := vg.Point{X: g.radius + 0.3*g.font + g.style().Width(name)/2}
	return []vg.Point{g.at[i].Sub(away), g.at[i].Add(away), g.at[i].Add(beside), g.at[i].Sub(beside)}
}

// boxes are the rectangles around node i's name at its anchors.
func (g placed) boxes(i int, name string) (out []vg.Rectangle) {
	style := g.style()
	for _, at := range g.anchors(i, name) {
		out = append(out, style.Rectangle(name).Add(at))
	}
	return out
}

// nameAt is where a node's name stands, with the rectangle around it.
type nameAt struct {
	node int
	at   vg.Point
	box  vg.Rectangle
}

// placeNames places the names of nodes, strongest first; in a large network only names that find room
// are shown. A name stands where it covers the least of other names and circles.
func (c *chart) placeNames(paper draw.Canvas, g placed) (names []nameAt) {
	nodes, few := c.byStrength(), len(c.Labels) <= mostNamed
	var taken []vg.Rectangle
	if !g.inside {
		for _, i := range nodes {
			r := vg.Point{X: g.radius, Y: g.radius}
			taken = append(taken, vg.Rectangle{Min: g.at[i].Sub(r), Max: g.at[i].Add(r)})
		}
	}
	if !few {
		nodes = nodes[:min(len(nodes), mostNames)]
	}
	for _, i := range nodes {
		anchors, boxes, best, least := g.anchors(i, c.Labels[i]), g.boxes(i, c.Labels[i]), 0, vg.Length(math.Inf(1))
		for k, box := range boxes {
			if k >= upright && (box.Min.X < paper.Min.X || box.Max.X > paper.Max.X) {
				continue
			}
			covered := vg.Length(0)
			for _, r := range taken {
				covered += overlap(r, box)
			}
			if covered < least {
				best, least = k, covered
			}
		}
		if few || least == 0 {
			taken, names = append(taken, boxes[best]), append(names, nameAt{i, anchors[best], boxes[best]})
		}
	}
	return names
}

// names writes the names of nodes.
func (c *chart) names(paper draw.Canvas, g placed) {
	for _, n := range c.placeNames(paper, g) {
		if !g.inside { // lines below the name
			paper.SetColor(color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xB0})
			paper.Fill(n.box.Path())
		}
		paper.FillText(g.style(), n.at, c.Labels[n.node])
	}
}

// overlap is the area that two rectangles have in common.
func overlap(a, b vg.Rectangle) vg.Length {
	return max(0, min(a.Max.X, b.Max.X)-max(a.Min.X, b.Min.X)) * max(0, min(a.Max.Y, b.Max.Y)-max(a.Min.Y, b.Min.Y))
}

// LevelsText says which level a binary node has more of where an edge is positive, of at most six nodes
// with such edges; "" for none.
func LevelsText(n *network.Network) string {
	const most = 6
	var words []string
	for i, name := range n.Nodes {
		signed := func(e network.Edge) bool { return !e.Unsigned && (e.From == name || e.To == name) }
		if n.Levels == nil || len(n.Levels[i]) != 2 || slices.Equal(n.Levels[i], []string{"0", "1"}) || !slices.ContainsFunc(n.Edges, signed) {
			continue
		}
		if len(words) == most {
			words = append(words, "…")
			break
		}
		words = append(words, short(n.Label(name), 24)+" = "+short(n.Levels[i][1], 16))
	}
	if words == nil {
		return ""
	}
	return "positive: more of " + strings.Join(words, ", ")
}

// entry of a legend: a line, a circle of a colour, or words alone.
type entry struct {
	line   draw.LineStyle // of no width: none
	colour color.Color
	text   string
}

type row []entry

const (
	sample  vg.Length = 26 // length of a line
	beside  vg.Length = 5  // between a sample and its words
	between vg.Length = 18 // entries
	bead    vg.Length = 4  // radius of a circle
)

// rows are those of the legend: signs, groups by name, and what is not drawn.
func (c *chart) rows(paper draw.Canvas) (rows []row) {
	if len(c.links) > 0 {
		of := cmp.Or(c.of, "|partial correlation|")
		key := row{{line: signed(1, 2), text: cmp.Or(c.signs[0], "positive")}, {line: signed(-1, 2), text: cmp.Or(c.signs[1], "negative")}}
		if slices.ContainsFunc(c.links, func(l link) bool { return l.unsigned }) {
			key, of = append(key, entry{line: unsigned(2), text: "nominal: no sign"}), "size"
		}
		widest := entry{text: fmt.Sprintf("widest line: %s = %.2g", of, c.strongest)}
		if whole := append(key, widest); whole.width() <= paper.Max.X-paper.Min.X {
			rows = append(rows, whole)
		} else {
			rows = append(rows, key, row{widest})
		}
	}
	if c.levels != "" {
		rows = append(rows, row{{text: c.levels}})
	}
	if !c.Found {
		var groups row
		for _, g := range c.Groups {
			e := entry{colour: g.Colour, text: g.Name}
			if len(groups) > 0 && append(groups, e).width() > paper.Max.X-paper.Min.X {
				rows, groups = append(rows, groups), nil
			}
			groups = append(groups, e)
		}
		if len(groups) > 0 {
			rows = append(rows, groups)
		}
	}
	if words := c.left(); words != "" {
		rows = append(rows, row{{text: words}})
	}
	return rows
}

// left says what of the network is drawn, where it is not all, and what colours are.
func (c *chart) left() string {
	drawn := 0
	for _, shown := range c.Shown {
		if shown {
			drawn++
		}
	}
	words := ""
	switch {
	case len(c.links) == 0:
		words = "no edges"
	case drawn < len(c.Labels) || c.all > len(c.links):
		words = fmt.Sprintf("all %d edges", c.all)
		if c.all > len(c.links) {
			words = fmt.Sprintf("the %d strongest of %d edges", len(c.links), c.all)
		}
		words += fmt.Sprintf(", and the %d of %d nodes that they join", drawn, len(c.Labels))
	}
	if c.Found && len(c.Groups) > 0 {
		if words != "" {
			words += "; "
		}
		words += "colours are modules"
	}
	return words
}

func (e entry) width() vg.Length {
	style := sans(9)
	width := style.Width(e.text)
	switch {
	case e.line.Width > 0:
		width += sample + beside
	case e.colour != nil:
		width += 2*bead + beside
	}
	return width
}

func (r row) width() vg.Length {
	width := -between
	for _, e := range r {
		width += e.width() + between
	}
	return width
}

func (r row) draw(c draw.Canvas, at vg.Point) {
	style := sans(9)
	style.YAlign = middle
	x := at.X - r.width()/2
	for _, e := range r {
		text := x
		switch {
		case e.line.Width > 0:
			c.StrokeLine2(e.line, x, at.Y, x+sample, at.Y)
			text += sample + beside
		case e.colour != nil:
			disc(&c, vg.Point{X: x + bead, Y: at.Y}, bead, e.colour)
			text += 2*bead + beside
		}
		c.FillText(style, vg.Point{X: text, Y: at.Y}, e.text)
		x += e.width() + between
	}
}

// keyAbove is a legend in a row above the plot area, from its left edge on, where it covers
// nothing.
type keyAbove struct{ row }

func (k keyAbove) Plot(c draw.Canvas, _ *plot.Plot) {
	k.draw(c, vg.Point{X: c.Min.X + k.width()/2, Y: c.Max.Y + legendHeight/2})
}

// GlyphBoxes keeps the room free.
func (keyAbove) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: legendHeight}}}}
}

// leastModule is the number of nodes from which a module has a colour of its own.
const leastModule = 3

// palette are the colours of groups, of Okabe & Ito (https://jfly.uni-koeln.de/color/), which
// are safe for colour blindness.
var palette = []color.NRGBA{
	{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, {R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, {R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, {R: 0xF0, G: 0xE4, B: 0x42, A: 0xFF},
	{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, {R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, {R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, {R: 0x66, G: 0x66, B: 0x66, A: 0xFF},
}

// groupColour is the colour of group i, half way to white so that a name can stand on it;
// beyond the palette groups are grey.
func groupColour(i int) color.NRGBA {
	if i >= len(palette) {
		return color.NRGBA{R: 0xDD, G: 0xDD, B: 0xDD, A: 0xFF}
	}
	lighter := func(c uint8) uint8 { return uint8((int(c) + 0xFF) / 2) }
	c := palette[i]
	return color.NRGBA{R: lighter(c.R), G: lighter(c.G), B: lighter(c.B), A: 0xFF}
}

// modules are groups of nodes with more and stronger edges within than between, found by
// Louvain's method from the sizes of edges (Blondel, Guillaume, Lambiotte & Lefebvre 2008): of
// each of n nodes its group, the largest first, −1 for none. Modules of fewer than leastModule
// nodes are none, and a single one says nothing and is none either.
func modules(n int, links []link) (of []int, groups []Group) {
	of = slices.Repeat([]int{-1}, n)
	if len(links) == 0 {
		return of, nil
	}
	g := weighted{simple.NewWeightedUndirectedGraph(0, 0)}
	for _, l := range links {
		if l.pcor != 0 && l.ends[0] != l.ends[1] {
			g.SetWeightedEdge(g.NewWeightedEdge(simple.Node(l.ends[0]), simple.Node(l.ends[1]), math.Abs(l.pcor)))
		}
	}
	if g.Edges().Len() == 0 {
		return of, nil
	}
	found := community.Modularize(g, 1, rand.NewPCG(1, 1)).Communities()
	found = slices.DeleteFunc(found, func(m []graph.Node) bool { return len(m) < leastModule })
	if len(found) < 2 {
		return of, nil
	}
	for _, m := range found {
		slices.SortFunc(m, byID)
	}
	slices.SortFunc(found, larger)
	for i, m := range found[:min(len(found), len(palette))] {
		groups = append(groups, Group{Colour: groupColour(i)})
		for _, node := range m {
			of[node.ID()] = i
		}
	}
	return of, groups
}

// weighted tells nodes in the order of their numbers, so that what is computed of it is the
// same every time; simple's order changes.
type weighted struct {
	*simple.WeightedUndirectedGraph
}

func (g weighted) Nodes() graph.Nodes { return inOrder(g.WeightedUndirectedGraph.Nodes()) }

func (g weighted) From(id int64) graph.Nodes { return inOrder(g.WeightedUndirectedGraph.From(id)) }

func inOrder(nodes graph.Nodes) graph.Nodes {
	all := graph.NodesOf(nodes)
	slices.SortFunc(all, byID)
	return iterator.NewOrderedNodes(all)
}

func byID(a, b graph.Node) int { return cmp.Compare(a.ID(), b.ID()) }

// larger sorts groups of nodes by size, of equal ones by their first node.
func larger(a, b []graph.Node) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), byID(a[0], b[0]))
}
