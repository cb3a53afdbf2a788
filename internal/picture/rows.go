package picture

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Marks are those of a method on the rows of a chart: the k-th at X[k] on row Row[k],
// counted from 0 at the top. The name of a method has that method's look and title.
type Marks struct {
	Name string
	X    []float64 // positive
	Row  []int
}

// RowsHeight is how high a picture of so many rows should be.
func RowsHeight(rows int) vg.Length { return vg.Length(rows)*20 + 72 }

// Rows draws marks on named rows along a logarithmic axis, a thin line under each row, the
// legend to the right.
func Rows(title, x string, rows []string, marks []Marks) (*plot.Plot, error) {
	p := blank(title, x, "")
	height := func(row int) float64 { return float64(len(rows) - row) }
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
		}
		seen := lookOf(m.Name, i)
		dots := seen.marks(at)
		dots.Radius = 3.2
		over = append(over, dots)
		p.Legend.Add(seen.title, dots)
	}
	p.Add(over...)
	var names []plot.Tick
	for row, name := range rows {
		names = append(names, plot.Tick{Value: height(row), Label: name})
		p.Add(line(draw.LineStyle{Color: grey, Width: 0.3}, plotter.XYs{{X: p.X.Min, Y: height(row)}, {X: p.X.Max, Y: height(row)}}))
	}
	p.Y.Tick.Marker, p.Y.Tick.Length = plot.ConstantTicks(names), 0
	p.Y.LineStyle.Width = 0
	p.Y.Min, p.Y.Max = 0.4, float64(len(rows))+0.6
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	legendRight(p)
	return p, nil
}
