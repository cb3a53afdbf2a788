package picture

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/data/network"
)

// LevelsText names the second level of at most six binary nodes with signed edges.
func LevelsText(n *network.Network) string {
	const most = 6
	var words []string
	for i, name := range n.Nodes {
		signed := func(e network.Edge) bool { return !e.Unsigned && slices.Contains(e.Ends[:], i) }
		if n.Levels == nil || len(n.Levels[i]) != 2 || slices.Equal(n.Levels[i], []string{"0", "1"}) || !slices.ContainsFunc(n.Edges, signed) {
			continue
		}
		if len(words) == most {
			words = append(words, "…")
			break
		}
		words = append(words, Short(n.Label(name), 24)+" = "+Short(n.Levels[i][1], 16))
	}
	if words == nil {
		return ""
	}
	return "positive: more of " + strings.Join(words, ", ")
}

type entry struct {
	line   draw.LineStyle // of no width: none
	colour color.Color
	text   string
}

type row []entry

const (
	sample  vg.Length = 26 // length of a line
	beside  vg.Length = 5  // between a sample and its words
	between vg.Length = 12 // entries
	bead    vg.Length = 4  // radius of a circle
)

func (c *chart) rows(paper draw.Canvas) (rows []row) {
	wide := paper.Max.X - paper.Min.X
	fill := func(entries ...entry) { // as many a row as have room
		var next row
		for _, e := range entries {
			if len(next) > 0 && append(next, e).width() > wide {
				rows, next = append(rows, next), nil
			}
			next = append(next, e)
		}
		if len(next) > 0 {
			rows = append(rows, next)
		}
	}
	if len(c.links) > 0 {
		key := []entry{{line: signed(1, 2), text: cmp.Or(c.signs[0], "positive")}, {line: signed(-1, 2), text: cmp.Or(c.signs[1], "negative")}}
		of := cmp.Or(c.of, "|partial correlation|")
		if slices.ContainsFunc(c.links, func(l link) bool { return l.unsigned }) {
			key, of = append(key, entry{line: unsigned(2), text: "nominal: no sign"}), "size"
		}
		fill(append(key, entry{text: fmt.Sprintf("widest line: %s = %.2g", of, c.limits.Maximum)})...)
	}
	var groups, words []entry
	say := func(format string, of ...any) { words = append(words, entry{text: fmt.Sprintf(format, of...)}) }
	if c.levels != "" {
		say("%s", c.levels)
	}
	if !c.Found {
		for _, g := range c.Groups {
			groups = append(groups, entry{colour: g.Colour, text: g.Name})
		}
	}
	nodes, edges, links := len(c.byStrength()), len(c.drawn()), len(c.links)
	if c.limits.Cut > 0 && links > 0 {
		say("wider from %.2g, paler below", c.limits.Cut)
	}
	switch {
	case links == 0:
		say("%s", cmp.Or(c.none, "no edges"))
	case edges < links && c.other != nil:
		say("minimum %.2g: %d of %d and %d of %d edges drawn", c.limits.Minimum, edges, c.all, len(c.other.drawn()), c.other.all)
	case edges < links:
		say("minimum %.2g: %d of %d edges drawn", c.limits.Minimum, edges, c.all)
	case c.all > links:
		say("the %d strongest of %d edges", links, c.all)
	}
	if nodes < len(c.Labels) && links > 0 {
		say("the %d of %d nodes with edges", nodes, len(c.Labels))
	}
	if c.Found && len(c.Groups) > 0 {
		say("colours are modules")
	}
	if low, high := extremes(c.sizes); low < high {
		say("size of nodes: %s, %.2g to %.2g", strings.ReplaceAll(c.NodeSize, "_", " "), low, high)
	}
	fill(groups...)
	fill(words...)
	return rows
}

func (e entry) width() vg.Length {
	style := sans(legendSize)
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

func drawRows(c draw.Canvas, rows []row) {
	for i, row := range rows {
		row.draw(c, vg.Point{X: c.Center().X, Y: c.Min.Y + (vg.Length(len(rows)-i)-0.5)*legendHeight})
	}
}

func (r row) draw(c draw.Canvas, at vg.Point) {
	style := sans(legendSize)
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

type keyAbove row

func (k keyAbove) Plot(c draw.Canvas, _ *plot.Plot) {
	row(k).draw(c, vg.Point{X: c.Min.X + row(k).width()/2, Y: c.Max.Y + legendHeight/2})
}

func (keyAbove) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: legendHeight}}}}
}

// drawn are the links from the minimum on; the strongest are last.
func (c *chart) drawn() []link {
	first, _ := slices.BinarySearchFunc(c.links, c.limits.Minimum, func(l link, least float64) int {
		return cmp.Compare(math.Abs(l.pcor), least)
	})
	return c.links[first:]
}
