package picture

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Band is a mean with an interval around it along X; all of equal length. The name
// of a method has that method's look and title.
type Band struct {
	Name            string
	X, Y, Low, High []float64
	Floor           []float64 // a thin line of the same look, all along X; nil for none
}

// Bands draws means with their intervals, the legend to the right of the plot area. An axis is
// logarithmic where it spans a factor of 10, for y a factor of 4. Every mean must be
// positive, and x not negative; what reaches far below or above all means is cut.
func Bands(title, x, y string, bands []Band) (*plot.Plot, error) {
	p := blank(title, x, y)
	low, high := span(bands)
	var over []plot.Plotter // lines and marks, above all shades
	opacity := uint8(max(0x0C, min(0x2C, 0xA0/max(1, len(bands)))))
	for i, b := range bands {
		outline, middle, err := b.points(low, high)
		if err != nil {
			return nil, err
		}
		seen := lookOf(b.Name, i)
		shade, err := plotter.NewPolygon(outline)
		if err != nil {
			return nil, err
		}
		shade.LineStyle.Width = 0
		shade.Color = color.NRGBA{R: seen.colour.R, G: seen.colour.G, B: seen.colour.B, A: opacity}
		l, marks := seen.line(1.3, middle), seen.marks(middle)
		p.Add(shade)
		over = append(over, l, marks)
		p.Legend.Add(seen.title, l, marks)
		if b.Floor == nil {
			continue
		}
		floor, err := pairs(b.X, b.Floor)
		if err != nil {
			return nil, fmt.Errorf("picture: floor of band %q: %w", b.Name, err)
		}
		over = append(over, seen.line(0.5, floor))
	}
	p.Add(over...)
	logarithmic(&p.X, 10)
	logarithmic(&p.Y, 4)
	legendRight(p)
	return p, nil
}

// span is from a little below to a little above all means and floors.
func span(bands []Band) (low, high float64) {
	low, high = math.Inf(1), 0.0
	for _, b := range bands {
		for _, v := range slices.Concat(b.Y, b.Floor) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low / 1.6, 1.6 * high
}

// points are the outline of the interval, clipped to low and high, and the mean.
func (b Band) points(low, high float64) (outline, middle plotter.XYs, err error) {
	if len(b.X) == 0 || len(b.Y) != len(b.X) || len(b.Low) != len(b.X) || len(b.High) != len(b.X) {
		return nil, nil, fmt.Errorf("picture: band %q has %d, %d, %d, %d numbers", b.Name, len(b.X), len(b.Y), len(b.Low), len(b.High))
	}
	for k := range b.X {
		if !(b.Y[k] > 0) || math.IsInf(b.Y[k], 0) || math.IsInf(b.High[k], 0) || math.IsNaN(b.High[k]) || !(b.X[k] >= 0) {
			return nil, nil, fmt.Errorf("picture: band %q is %v (to %v) at %v; means must be positive, places not negative", b.Name, b.Y[k], b.High[k], b.X[k])
		}
		outline = append(outline, plotter.XY{X: b.X[k], Y: min(b.High[k], high)})
		middle = append(middle, plotter.XY{X: b.X[k], Y: b.Y[k]})
	}
	for k := len(b.X) - 1; k >= 0; k-- {
		outline = append(outline, plotter.XY{X: b.X[k], Y: max(b.Low[k], low)})
	}
	return outline, middle, nil
}

// logarithmic makes an axis so if it spans that factor.
func logarithmic(a *plot.Axis, factor float64) {
	if a.Max >= factor*a.Min && a.Min > 0 {
		a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{}
	}
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

// pairs are points on a logarithmic axis.
func pairs(x, y []float64) (points plotter.XYs, err error) {
	if len(x) != len(y) {
		return nil, fmt.Errorf("%d numbers for %d places", len(y), len(x))
	}
	for k, v := range y {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v at %v; a logarithmic axis needs positive numbers", v, x[k])
		}
		points = append(points, plotter.XY{X: x[k], Y: v})
	}
	return points, nil
}
