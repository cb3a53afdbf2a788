package picture

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Band is a mean with an interval around it along X; all of equal length.
type Band struct {
	Name            string
	X, Y, Low, High []float64
}

// Recovery draws measures of how well networks are found, each with intervals, against the
// number of rows on a logarithmic axis. Dashed lines mark the share that is wanted and, unless
// it is 0 or infinite, the number of rows that it needs. What is NaN is left out. It fails
// if lengths differ, a number of rows is not positive, or nothing is left.
func Recovery(title string, measures []Band, wanted, needed float64) (*plot.Plot, error) {
	p := blank(title, "rows", "")
	drawn := 0
	for i, b := range measures {
		if len(b.Y) != len(b.X) || len(b.Low) != len(b.X) || len(b.High) != len(b.X) {
			return nil, fmt.Errorf("picture: measure %q has %d, %d, %d, %d numbers", b.Name, len(b.X), len(b.Y), len(b.Low), len(b.High))
		}
		seen := looks[i%len(looks)]
		var middle plotter.XYs
		for k, x := range b.X {
			if !(x > 0) {
				return nil, fmt.Errorf("picture: measure %q at %v rows", b.Name, x)
			}
			if math.IsNaN(b.Y[k]) {
				continue
			}
			middle = append(middle, plotter.XY{X: x, Y: b.Y[k]})
			if b.Low[k] < b.High[k] {
				p.Add(line(draw.LineStyle{Color: seen.colour, Width: 0.8}, plotter.XYs{{X: x, Y: b.Low[k]}, {X: x, Y: b.High[k]}}))
			}
		}
		if middle == nil {
			continue
		}
		l, marks := seen.line(1.2, middle), seen.marks(middle)
		p.Add(l, marks)
		p.Legend.Add(b.Name, l, marks)
		drawn++
	}
	if drawn == 0 {
		return nil, fmt.Errorf("picture: no measure has a number")
	}
	p.Y.Min, p.Y.Max = min(0, p.Y.Min), 1
	guide := draw.LineStyle{Color: midgrey, Width: 0.8, Dashes: dashed}
	p.Add(line(guide, plotter.XYs{{X: p.X.Min, Y: wanted}, {X: p.X.Max, Y: wanted}}))
	if needed > 0 && !math.IsInf(needed, 0) {
		p.Add(line(guide, plotter.XYs{{X: needed, Y: p.Y.Min}, {X: needed, Y: wanted}}))
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, rowTicks(measures[0].X)
	legendRight(p)
	return p, nil
}

// rowTicks are ticks at the numbers of rows.
func rowTicks(rows []float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, n := range rows {
		ticks = append(ticks, plot.Tick{Value: n, Label: fmt.Sprintf("%.0f", n)})
	}
	return ticks
}

// legendRight puts the legend to the right of the plot area, which ends where the widest entry
// begins.
func legendRight(p *plot.Plot) {
	p.Legend.Top = true
	p.Add(legendRoom{})
}

// legendRoom keeps the room of the plot's legend free at the right: a glyph box at the end of the
// x axis, for a plot leaves room for those.
type legendRoom struct{}

// legendGap is between the plot area and the legend.
const legendGap vg.Length = 10

func (legendRoom) Plot(draw.Canvas, *plot.Plot) {}

func (legendRoom) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	width := p.Legend.Rectangle(draw.Canvas{}).Size().X
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: width + legendGap}}}}
}
