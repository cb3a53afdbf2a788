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

// anchor is where the middle of node i's name is.
func (g placed) anchor(i int) vg.Point {
	if g.inside {
		return g.at[i]
	}
	return g.at[i].Sub(vg.Point{Y: g.radius + 0.75*g.font})
}

// box is the rectangle around node i's name.
func (g placed) box(i int, name string) vg.Rectangle {
	style := g.style()
	return style.Rectangle(name).Add(g.anchor(i))
}

// names writes the names of all nodes or, of many, those of the strongest that find room.
func (c *chart) names(paper draw.Canvas, g placed) {
	nodes, few := c.byStrength(), len(c.Labels) <= mostNamed
	if !few {
		nodes = nodes[:min(len(nodes), mostNames)]
	}
	var taken []vg.Rectangle
	for _, i := range nodes {
		box := g.box(i, c.Labels[i])
		if !few && slices.ContainsFunc(taken, func(r vg.Rectangle) bool { return overlap(r, box) }) {
			continue
		}
		taken = append(taken, box)
		if !g.inside { // lines below the name
			paper.SetColor(color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xB0})
			paper.Fill(box.Path())
		}
		paper.FillText(g.style(), g.anchor(i), c.Labels[i])
	}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
