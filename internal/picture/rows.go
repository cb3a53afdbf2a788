package picture

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Marks are those of a method on the rows of a chart: the k-th at X[k] on row Row[k],
// counted from 0 at the top. The name of a method has that method's look.
type Marks struct {
	Name  string
	Title string    // in the legend
	X     []float64 // positive
	Row   []int
}

// RowsHeight is how high a picture of so many rows should be.
func RowsHeight(rows int) vg.Length { return vg.Length(rows)*20 + 72 }

// Rows draws marks on named rows along a logarithmic axis, a thin line under each row, the
// legend to the right. No two may look alike.
func Rows(title, x string, rows []string, marks []Marks) (*plot.Plot, error) {
	p := blank(title, x, "")
	height := func(row int) float64 { return float64(len(rows) - row) }
	type dot struct {
		colour color.NRGBA
		glyph  draw.GlyphDrawer
	}
	of := map[dot]string{}
	least, most := math.Inf(1), math.Inf(-1)
	var over []plot.Plotter
	for i, m := range marks {
		if len(m.X) != len(m.Row) {
			return nil, fmt.Errorf("picture: %d numbers of %q on %d rows", len(m.X), m.Name, len(m.Row))
		}
		var at plotter.XYs
		for k, v := range m.X {
			if !(v > 0) || m.Row[k] < 0 || m.Row[k] >= len(rows) {
				return nil, fmt.Errorf("picture: %v of %q on row %d of %d; numbers must be positive", v, m.Name, m.Row[k], len(rows))
			}
			at = append(at, plotter.XY{X: v, Y: height(m.Row[k])})
			least, most = min(least, v), max(most, v)
		}
		seen := lookOf(m.Name, i)
		looks := dot{seen.colour, seen.glyph}
		if other, taken := of[looks]; taken {
			return nil, fmt.Errorf("picture: %q and %q look alike", other, m.Name)
		}
		of[looks] = m.Name
		dots := seen.marks(at)
		dots.Radius = 3.2
		over = append(over, dots)
		p.Legend.Add(m.Title, dots)
	}
	var names []plot.Tick
	for row, name := range rows {
		names = append(names, plot.Tick{Value: height(row), Label: name})
		p.Add(line(draw.LineStyle{Color: grey, Width: 0.3}, plotter.XYs{{X: least, Y: height(row)}, {X: most, Y: height(row)}}))
	}
	p.Add(over...)
	p.Y.Tick.Marker, p.Y.Tick.Length = plot.ConstantTicks(names), 0
	p.Y.LineStyle.Width = 0
	p.Y.Min, p.Y.Max = 0.4, float64(len(rows))+0.6
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	legendRight(p)
	return p, nil
}
