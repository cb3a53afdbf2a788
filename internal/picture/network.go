package picture

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/data/network"
)

// Network draws the variables on a circle, clockwise from the top in column
// order, and a line for each edge: width ∝ |partial correlation|, positive solid
// blue, negative dashed red, weak ones paler, bent where it would run through
// another circle. Names stand inside the circles if they fit, else beside them,
// and radially if there are many.
// It fails without nodes, if an edge joins unknown nodes or is not finite.
func Network(n *network.Network) (*plot.Plot, error) {
	w, err := newWheel(n)
	if err != nil {
		return nil, err
	}
	return onPaper("Partial correlation network", w), nil
}

// onPaper is a plot without axes.
func onPaper(title string, drawn plot.Plotter) *plot.Plot {
	p := blank(title, "", "")
	p.HideAxes()
	p.X.Padding, p.Y.Padding = 0, 0
	p.Add(drawn)
	return p
}

// newWheel takes a network apart.
func newWheel(n *network.Network) (*wheel, error) {
	if len(n.Nodes) == 0 {
		return nil, fmt.Errorf("picture: the network has no nodes")
	}
	ends, err := n.Places()
	if err != nil {
		return nil, err
	}
	w := &wheel{}
	for _, name := range n.Nodes {
		w.names = append(w.names, short(name, 24))
	}
	for i, e := range n.Edges {
		r := e.PartialCorrelation
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return nil, fmt.Errorf("picture: the partial correlation of %q – %q is %v", e.From, e.To, r)
		}
		w.spokes = append(w.spokes, spoke{ends[i], r})
		w.strongest = max(w.strongest, math.Abs(r))
	}
	slices.SortStableFunc(w.spokes, func(a, b spoke) int { // the strongest is drawn last, on top
		return cmp.Compare(math.Abs(a.pcor), math.Abs(b.pcor))
	})
	return w, nil
}

// wheel is drawn when the size of the paper is known.
type wheel struct {
	names     []string
	spokes    []spoke
	marked    [][2]int // pairs with a halo, edge or not
	strongest float64
	of        string // what a spoke's size is; empty: the partial correlation's
}

type spoke struct {
	ends [2]int
	pcor float64
}

// legendHeight is the strip below the circle.
const legendHeight vg.Length = 20

// Plot implements plot.Plotter.
func (w *wheel) Plot(c draw.Canvas, _ *plot.Plot) {
	w.ring(draw.Crop(c, 0, 0, legendHeight, 0))
	if len(w.spokes) > 0 {
		w.legend(c, vg.Point{X: c.Center().X, Y: c.Min.Y + legendHeight/2})
	}
}

// ring draws nodes and lines on all of the paper.
func (w *wheel) ring(paper draw.Canvas) {
	c := paper
	l := arrange(w.names, paper.Size().Scale(0.5))
	centre := paper.Center()
	stroke := func(ends [2]int, style draw.LineStyle) {
		c.SetLineStyle(style)
		var curve vg.Path
		curve.Move(centre.Add(l.at(ends[0], l.radius)))
		curve.QuadTo(centre.Add(l.control(ends[0], ends[1])), centre.Add(l.at(ends[1], l.radius)))
		c.Stroke(curve)
	}
	for _, ends := range w.marked {
		stroke(ends, draw.LineStyle{Color: halo, Width: l.widest + 5})
	}
	for _, s := range w.spokes {
		// Edges of exactly 0 have no strongest to be compared with.
		share := math.Abs(s.pcor) / max(w.strongest, math.SmallestNonzeroFloat64)
		style := signed(s.pcor, max(0.4, l.widest*vg.Length(share)))
		style.Color = pale(style.Color, share)
		stroke(s.ends, style)
	}
	for i, name := range w.names {
		disc(&c, centre.Add(l.at(i, l.radius)), l.node)
		style, distance := l.label(i)
		c.FillText(style, centre.Add(l.at(i, distance)), name)
	}
	if len(w.spokes) == 0 {
		style := sans(11)
		style.XAlign, style.YAlign = draw.XCenter, middle
		if len(w.names) == 1 { // the only node is at the centre
			centre.Y -= 3 * l.node
		}
		c.FillText(style, centre, "no edges")
	}
}

// legend is one row around the given point.
func (w *wheel) legend(c draw.Canvas, at vg.Point) {
	const sample, gap, between = 26, 5, 18
	of := cmp.Or(w.of, "|partial correlation|")
	entries := []struct {
		sign float64
		text string
	}{{1, "positive"}, {-1, "negative"}, {0, fmt.Sprintf("widest line: %s = %.2g", of, w.strongest)}}
	style := sans(9)
	style.YAlign = middle
	width := vg.Length(2*(sample+gap) + 2*between)
	for _, e := range entries {
		width += style.Width(e.text)
	}
	x := at.X - width/2
	for _, e := range entries {
		if e.sign != 0 {
			c.StrokeLine2(signed(e.sign, 2), x, at.Y, x+sample, at.Y)
			x += sample + gap
		}
		c.FillText(style, vg.Point{X: x, Y: at.Y}, e.text)
		x += style.Width(e.text) + between
	}
}

// pale lets a weak line, of share 0 … 1, shine through.
func pale(c color.Color, share float64) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = uint8(255 * (0.35 + 0.65*share))
	return n
}

// disc is a white circle with a dark rim.
func disc(c *draw.Canvas, at vg.Point, radius vg.Length) {
	var round vg.Path
	round.Move(at.Add(vg.Point{X: radius}))
	round.Arc(at, radius, 0, 2*math.Pi)
	round.Close()
	c.SetColor(color.White)
	c.Fill(round)
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: min(1, radius/5)})
	c.Stroke(round)
}
