package picture

import (
	"image/color"
	"slices"

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

// anchors are where the middle of node i's name can be: in the circle, or below and above it.
func (g placed) anchors(i int) []vg.Point {
	if g.inside {
		return []vg.Point{g.at[i]}
	}
	away := vg.Point{Y: g.radius + 0.75*g.font}
	return []vg.Point{g.at[i].Sub(away), g.at[i].Add(away)}
}

// boxes are the rectangles around node i's name at its anchors.
func (g placed) boxes(i int, name string) (out []vg.Rectangle) {
	style := g.style()
	for _, at := range g.anchors(i) {
		out = append(out, style.Rectangle(name).Add(at))
	}
	return out
}

// names writes the names of all nodes or, of many, those of the strongest that find room. A name
// stands where it runs into no other, if there is such a place.
func (c *chart) names(paper draw.Canvas, g placed) {
	nodes, few := c.byStrength(), len(c.Labels) <= mostNamed
	if !few {
		nodes = nodes[:min(len(nodes), mostNames)]
	}
	var taken []vg.Rectangle
	for _, i := range nodes {
		boxes := g.boxes(i, c.Labels[i])
		free := slices.IndexFunc(boxes, func(box vg.Rectangle) bool {
			return !slices.ContainsFunc(taken, func(r vg.Rectangle) bool { return overlap(r, box) })
		})
		if free < 0 && !few {
			continue
		}
		free = max(free, 0)
		taken = append(taken, boxes[free])
		if !g.inside { // lines below the name
			paper.SetColor(color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xB0})
			paper.Fill(boxes[free].Path())
		}
		paper.FillText(g.style(), g.anchors(i)[free], c.Labels[i])
	}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
