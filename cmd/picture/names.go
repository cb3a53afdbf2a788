package picture

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostNames is how many nodes are named in a network of more than mostNamed.
const mostNames = 40

// style is that of names.
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
