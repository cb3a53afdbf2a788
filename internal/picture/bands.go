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

// Band is a mean with an interval around it along X; all of equal length.
type Band struct {
	Name            string
	X, Y, Low, High []float64
}

// bandColours are Okabe and Ito's, safe for colour blindness; dashes and glyphs
// repeat the distinction for black and white.
var bandColours = []color.NRGBA{
	{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, {R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, {R: 0x00, G: 0x9E, B: 0x73, A: 0xFF},
	{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, {R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, {R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF},
	{R: 0x22, G: 0x22, B: 0x22, A: 0xFF}, {R: 0x88, G: 0x88, B: 0x88, A: 0xFF},
}

var bandDashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}

var bandGlyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}}

// Bands draws means with their intervals on logarithmic axes, except for an axis
// that does not span a factor of 4, the legend to the right of them. Every number
// must be positive; what reaches far below or above all means is cut.
func Bands(title, x, y string, bands []Band) (*plot.Plot, error) {
	p := blank(title, x, y)
	low, high := math.Inf(1), 0.0
	for _, b := range bands {
		for _, v := range b.Y {
			low, high = min(low, v), max(high, v)
		}
	}
	low, high = low/1.6, 1.6*high
	for i, b := range bands {
		if len(b.X) == 0 || len(b.Y) != len(b.X) || len(b.Low) != len(b.X) || len(b.High) != len(b.X) {
			return nil, fmt.Errorf("picture: band %q has %d, %d, %d, %d numbers", b.Name, len(b.X), len(b.Y), len(b.Low), len(b.High))
		}
		var outline, middle plotter.XYs
		for k := range b.X {
			if !(b.Y[k] > 0) || math.IsInf(b.Y[k], 0) || math.IsInf(b.High[k], 0) || math.IsNaN(b.High[k]) || !(b.X[k] > 0) {
				return nil, fmt.Errorf("picture: band %q is %v (to %v) at %v; a logarithmic axis needs positive numbers", b.Name, b.Y[k], b.High[k], b.X[k])
			}
			outline = append(outline, plotter.XY{X: b.X[k], Y: min(b.High[k], high)})
			middle = append(middle, plotter.XY{X: b.X[k], Y: b.Y[k]})
		}
		for k := len(b.X) - 1; k >= 0; k-- {
			outline = append(outline, plotter.XY{X: b.X[k], Y: max(b.Low[k], low)})
		}
		c := bandColours[i%len(bandColours)]
		shade, err := plotter.NewPolygon(outline)
		if err != nil {
			return nil, err
		}
		shade.LineStyle.Width = 0
		shade.Color = color.NRGBA{R: c.R, G: c.G, B: c.B, A: 0x2C}
		l := line(draw.LineStyle{Color: c, Width: 1.3, Dashes: bandDashes[i%len(bandDashes)]}, middle)
		marks := &plotter.Scatter{XYs: middle, GlyphStyle: draw.GlyphStyle{Color: c, Radius: 2.2, Shape: bandGlyphs[i%len(bandGlyphs)]}}
		p.Add(shade, l, marks)
		p.Legend.Add(b.Name, l, marks)
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		if a.Max > 4*a.Min && a.Min > 0 {
			a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{}
		}
	}
	end := p.X.Max
	if _, log := p.X.Scale.(plot.LogScale); log {
		p.X.Max *= math.Pow(p.X.Max/p.X.Min, legendShare)
		p.X.Tick.Marker = upTo{p.X.Tick.Marker, end}
	} else {
		p.X.Max += (p.X.Max - p.X.Min) * legendShare
		p.X.Tick.Marker = upTo{plot.DefaultTicks{}, end}
	}
	p.Legend.Top = true
	return p, nil
}

const legendShare = 0.33 // of the data's width, kept free at the right

// upTo leaves out the ticks beyond the data.
type upTo struct {
	plot.Ticker
	end float64
}

func (u upTo) Ticks(low, high float64) []plot.Tick {
	return slices.DeleteFunc(u.Ticker.Ticks(low, high), func(t plot.Tick) bool { return t.Value > u.end })
}
