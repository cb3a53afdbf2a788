package picture

import (
	"image/color"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// look is how a series is drawn. Dashes and glyph repeat the colour's distinction for
// black and white.
type look struct {
	colour color.NRGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

// Okabe and Ito's colours, safe for colour blindness.
var (
	sea     = color.NRGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}
	rust    = color.NRGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}
	green   = color.NRGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}
	purple  = color.NRGBA{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}
	orange  = color.NRGBA{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}
	sky     = color.NRGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}
	midgrey = color.NRGBA{R: 0x88, G: 0x88, B: 0x88, A: 0xFF}
)

var (
	dashed  = []vg.Length{6, 3}
	dotted  = []vg.Length{1.5, 2.5}
	dashDot = []vg.Length{8, 2, 2, 2}
)

// looks are those of a picture's series, one after the other.
var looks = []look{
	{sea, nil, draw.CircleGlyph{}}, {rust, dashed, draw.TriangleGlyph{}}, {green, dotted, draw.SquareGlyph{}},
	{purple, dashDot, draw.CrossGlyph{}}, {orange, nil, draw.PlusGlyph{}}, {sky, dashed, draw.RingGlyph{}},
	{ink, dotted, draw.CircleGlyph{}}, {midgrey, dashDot, draw.TriangleGlyph{}},
}

func (l look) line(width vg.Length, xy plotter.XYs) *plotter.Line {
	return line(draw.LineStyle{Color: l.colour, Width: width, Dashes: l.dashes}, xy)
}

func (l look) marks(xy plotter.XYs) *plotter.Scatter {
	return &plotter.Scatter{XYs: xy, GlyphStyle: draw.GlyphStyle{Color: l.colour, Radius: 2.4, Shape: l.glyph}}
}
