package picture

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/data/network"
)

const (
	// mostLinks is how many edges a picture of modules has, the strongest.
	mostLinks = 1500
	// mostNames is how many nodes are named in it, those with the largest sums of sizes.
	mostNames = 40
	// leastModule is the number of nodes from which a module has a colour of its own.
	leastModule = 4
)

// palette are the colours of the largest modules, of Okabe & Ito (https://jfly.uni-koeln.de/color/),
// which are safe for colour blindness; smaller ones are grey.
var palette = []color.NRGBA{
	{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, {R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, {R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, {R: 0xF0, G: 0xE4, B: 0x42, A: 0xFF},
	{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, {R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, {R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, {R: 0x44, G: 0x44, B: 0x44, A: 0xFF},
}

// Modules draws what can be seen of a network with many nodes: its 1500 strongest edges, as
// Network draws them, and the nodes that have one, laid out by forces (Eades 1984), each
// connected part by itself. Nodes are coloured by modules, which Louvain's method finds from
// the sizes of edges (Blondel, Guillaume, Lambiotte & Lefebvre 2008); the strongest are named.
// It fails without nodes, if an edge joins unknown nodes or is not finite.
func Modules(n *network.Network) (*plot.Plot, error) {
	w, err := newWheel(n)
	if err != nil {
		return nil, err
	}
	m := &modules{wheel: w, of: len(w.spokes)}
	w.spokes = w.spokes[max(0, len(w.spokes)-mostLinks):]
	m.strength = make([]float64, len(w.names))
	for _, s := range w.spokes {
		m.strength[s.ends[0]] += math.Abs(s.pcor)
		m.strength[s.ends[1]] += math.Abs(s.pcor)
	}
	g := newLinks(w.spokes)
	m.places = arrangeParts(g)
	m.colours = moduleColours(g)
	return onPaper("Partial correlation network", m), nil
}

// modules is drawn when the size of the paper is known.
type modules struct {
	*wheel
	of       int              // edges of the network, drawn or not
	strength []float64        // of each node, the sum of its drawn edges' sizes
	places   map[int64]r2.Vec // of the nodes that have an edge
	colours  map[int64]color.Color
}

// Plot implements plot.Plotter.
func (m *modules) Plot(c draw.Canvas, _ *plot.Plot) {
	paper := draw.Crop(c, 12, -12, 2*legendHeight, -12)
	if len(m.spokes) == 0 {
		style := sans(11)
		style.XAlign, style.YAlign = draw.XCenter, middle
		c.FillText(style, paper.Center(), fmt.Sprintf("no edges among %d nodes", len(m.names)))
		return
	}
	at := m.onto(paper)
	for _, s := range m.spokes {
		share := math.Abs(s.pcor) / max(m.strongest, math.SmallestNonzeroFloat64)
		style := signed(s.pcor, max(0.3, 2.5*vg.Length(share)))
		style.Color = pale(style.Color, share)
		a, b := at[int64(s.ends[0])], at[int64(s.ends[1])]
		c.StrokeLine2(style, a.X, a.Y, b.X, b.Y)
	}
	radius := min(5, max(1.5, 60/vg.Length(math.Sqrt(float64(len(at))))))
	for _, id := range sortedIDs(m.places) {
		dot(&c, at[id], radius, m.colours[id])
	}
	m.nameStrongest(c, at, radius)
	m.legend(c, vg.Point{X: c.Center().X, Y: c.Min.Y + 1.4*legendHeight})
	style := sans(9)
	style.XAlign, style.YAlign = draw.XCenter, middle
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y + 0.5*legendHeight}, m.left())
}

// left says what of the network is drawn.
func (m *modules) left() string {
	edges := fmt.Sprintf("all %d edges", m.of)
	if m.of > len(m.spokes) {
		edges = fmt.Sprintf("the %d strongest of %d edges", len(m.spokes), m.of)
	}
	return fmt.Sprintf("%s, and the %d of %d nodes that they join; colours are modules", edges, len(m.places), len(m.names))
}

// onto are the nodes' places on the paper, the largest that keeps the sides' ratio.
func (m *modules) onto(paper draw.Canvas) map[int64]vg.Point {
	low, high := bounds(m.places)
	span := r2.Sub(high, low)
	size := paper.Size()
	scale := min(float64(size.X)/max(span.X, 1e-9), float64(size.Y)/max(span.Y, 1e-9))
	middle := r2.Scale(0.5, r2.Add(low, high))
	at := map[int64]vg.Point{}
	for id, p := range m.places {
		q := r2.Scale(scale, r2.Sub(p, middle))
		at[id] = paper.Center().Add(vg.Point{X: vg.Length(q.X), Y: vg.Length(q.Y)})
	}
	return at
}

// nameStrongest writes the names of the strongest nodes that find room.
func (m *modules) nameStrongest(c draw.Canvas, at map[int64]vg.Point, radius vg.Length) {
	ids := sortedIDs(m.places)
	slices.SortStableFunc(ids, func(a, b int64) int { return cmp.Compare(m.strength[b], m.strength[a]) })
	style := sans(7.5)
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	var taken []vg.Rectangle
	for _, id := range ids[:min(len(ids), mostNames)] {
		p := at[id].Add(vg.Point{Y: radius + 1})
		box := style.Rectangle(m.names[id]).Add(p)
		if slices.ContainsFunc(taken, func(r vg.Rectangle) bool { return overlap(r, box) }) {
			continue
		}
		taken = append(taken, box)
		c.SetColor(color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xB0}) // lines below the name
		c.Fill(vg.Path{{Type: vg.MoveComp, Pos: box.Min}, {Type: vg.LineComp, Pos: vg.Point{X: box.Max.X, Y: box.Min.Y}}, {Type: vg.LineComp, Pos: box.Max}, {Type: vg.LineComp, Pos: vg.Point{X: box.Min.X, Y: box.Max.Y}}, {Type: vg.CloseComp}})
		c.FillText(style, p, m.names[id])
	}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// dot is a coloured circle with a white rim.
func dot(c *draw.Canvas, at vg.Point, radius vg.Length, fill color.Color) {
	var round vg.Path
	round.Move(at.Add(vg.Point{X: radius}))
	round.Arc(at, radius, 0, 2*math.Pi)
	round.Close()
	c.SetColor(fill)
	c.Fill(round)
	c.SetLineStyle(draw.LineStyle{Color: color.White, Width: radius / 6})
	c.Stroke(round)
}

// moduleColours finds the modules and gives the largest a colour each.
func moduleColours(g *links) map[int64]color.Color {
	out := map[int64]color.Color{}
	if g.Edges().Len() == 0 {
		return out
	}
	found := community.Modularize(g, 1, rand.NewPCG(1, 1)).Communities()
	for _, m := range found {
		slices.SortFunc(m, byID)
	}
	slices.SortFunc(found, larger)
	for i, m := range found {
		shade := grey
		if i < len(palette) && len(m) >= leastModule {
			shade = palette[i]
		}
		for _, node := range m {
			out[node.ID()] = shade
		}
	}
	return out
}
