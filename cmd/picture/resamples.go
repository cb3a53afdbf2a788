package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type Box struct {
	Name  string
	Value float64
	Place int // by which differ knows it
}

// Matrix draws a box for each two numbers, dark if they differ, and returns the size of paper.
func Matrix(title string, boxes []Box, differ func(i, j int) bool) (p *plot.Plot, width, height vg.Length) {
	m := matrix{boxes: slices.Clone(boxes), differ: differ}
	slices.SortStableFunc(m.boxes, func(a, b Box) int { return cmp.Compare(b.Value, a.Value) })
	for i := range m.boxes {
		b := &m.boxes[i]
		b.Name = short(b.Name, 51)
		m.names = max(m.names, sans(8).Width(b.Name)+6)
	}
	side := m.names + vg.Length(len(boxes))*boxSide
	return onPaper(title, m), max(side, m.key().width()) + 2*margin, side + legendHeight + 40
}

type matrix struct {
	boxes  []Box
	differ func(i, j int) bool
	names  vg.Length // room for them
}

const boxSide vg.Length = 16

func (matrix) key() row {
	return row{{colour: ink, text: "differ"}, {colour: grey, text: "no difference found"}, {text: "diagonal: value"}}
}

func (m matrix) Plot(c draw.Canvas, _ *plot.Plot) {
	left, bottom := c.Min.X+m.names, c.Min.Y+m.names+legendHeight
	corner := func(line, column int) vg.Point {
		return vg.Point{X: left + vg.Length(column)*boxSide, Y: bottom + vg.Length(len(m.boxes)-1-line)*boxSide}
	}
	name, number := sans(8), sans(6.5)
	name.XAlign, name.YAlign, number.XAlign, number.YAlign = draw.XRight, middle, draw.XCenter, middle
	upright := name
	upright.Rotation = math.Pi / 2
	var dark, light vg.Path // a path for all boxes of a colour keeps files small
	for i, a := range m.boxes {
		for j, b := range m.boxes {
			low := corner(i, j).Add(vg.Point{X: 0.5, Y: 0.5})
			box := vg.Rectangle{Min: low, Max: low.Add(vg.Point{X: boxSide - 1, Y: boxSide - 1})}.Path()
			switch {
			case i == j:
			case m.differ(a.Place, b.Place):
				dark = append(dark, box...)
			default:
				light = append(light, box...)
			}
		}
		half := vg.Point{X: boxSide / 2, Y: boxSide / 2}
		c.FillText(name, vg.Point{X: left - 4, Y: corner(i, 0).Y + half.Y}, a.Name)
		c.FillText(upright, vg.Point{X: corner(0, i).X + half.X, Y: bottom - 4}, a.Name)
		text := strings.Replace(strings.Replace(fmt.Sprintf("%.2f", a.Value), "0.", ".", 1), "-", "−", 1)
		number.Color = signed(a.Value, 1).Color
		c.FillText(number, corner(i, i).Add(half), text)
	}
	c.SetColor(ink)
	c.Fill(dark)
	c.SetColor(grey)
	c.Fill(light)
	m.key().draw(c, vg.Point{X: c.Center().X, Y: c.Min.Y + legendHeight/2})
}

// Stability draws correlations against the share of dropped rows; a dashed line is wanted.
func Stability(statistics []Band, wanted float64) *plot.Plot {
	p := blank("Stability when rows are dropped", "share of the rows dropped", "correlation with all rows")
	var key row
	for i, s := range statistics {
		look := looks[i%len(looks)]
		var mean, band plotter.XYs
		for k, x := range s.X {
			mean, band = append(mean, plotter.XY{X: x, Y: s.Y[k]}), append(band, plotter.XY{X: x, Y: s.Low[k]})
		}
		for k := len(s.X) - 1; k >= 0; k-- {
			band = append(band, plotter.XY{X: s.X[k], Y: s.High[k]})
		}
		fill := look.colour
		fill.A = 0x30
		l, marks := look.line(1.4, mean), look.marks(mean)
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{band}, Color: fill, LineStyle: draw.LineStyle{Color: fill}}, l, marks)
		key = append(key, entry{line: l.LineStyle, text: s.Name})
	}
	p.Add(keyAbove{key})
	p.X.Min, p.Y.Min, p.Y.Max = 0, min(0, p.Y.Min), 1
	p.Add(line(draw.LineStyle{Color: midgrey, Width: 0.8, Dashes: dashed}, plotter.XYs{{X: 0, Y: wanted}, {X: p.X.Max, Y: wanted}}))
	return p
}
