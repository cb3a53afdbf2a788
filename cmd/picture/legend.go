package picture

import (
	"cmp"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry of a legend: a line, a circle of a colour, or words alone.
type entry struct {
	line   draw.LineStyle // of no width: none
	colour color.Color
	text   string
}

// row of a legend.
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
		rows = append(rows, row{{line: signed(1, 2), text: "positive"}, {line: signed(-1, 2), text: "negative"}, {text: fmt.Sprintf("widest line: %s = %.2g", of, c.strongest)}})
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

// draw puts the row around a point.
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

// Plot implements plot.Plotter.
func (k keyAbove) Plot(c draw.Canvas, _ *plot.Plot) {
	k.draw(c, vg.Point{X: c.Min.X + k.width()/2, Y: c.Max.Y + legendHeight/2})
}

// GlyphBoxes keeps the room free.
func (keyAbove) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: legendHeight}}}}
}
