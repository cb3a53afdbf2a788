// Package picture draws networks and the path they come from. Equal input gives
// equal bytes. Sign is told twice, by colour and by dashes, so that the
// pictures read in black and white and without colour vision.
package picture

import (
	"image/color"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/printable"
)

// Blue and red of ColorBrewer's RdBu, which is safe for colour blindness
// (https://colorbrewer2.org).
var (
	blue = color.NRGBA{R: 0x21, G: 0x66, B: 0xAC, A: 0xFF}
	red  = color.NRGBA{R: 0xB2, G: 0x18, B: 0x2B, A: 0xFF}
	grey = color.NRGBA{R: 0xB0, G: 0xB0, B: 0xB0, A: 0xFF}
	halo = color.NRGBA{R: 0xFD, G: 0xDB, B: 0x8A, A: 0xFF} // behind what is marked
	ink  = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xFF}
)

// sans is plain text of the given size.
func sans(size vg.Length) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// middle puts capitals and digits of the font astride a point; draw.YCenter, which
// counts room for accents and descenders, would set them too low.
const middle text.YAlignment = -0.39

// signed is the line of a positive or negative partial correlation.
func signed(r float64, width vg.Length) draw.LineStyle {
	if r < 0 {
		return draw.LineStyle{Color: red, Width: width, Dashes: []vg.Length{max(4, 2.5*width), max(3, 1.8*width)}}
	}
	return draw.LineStyle{Color: blue, Width: width}
}

// blank is a plot without data.
func blank(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Title.Padding = title, 8
	p.X.Label.Text, p.Y.Label.Text = x, y
	restyle := func(s *text.Style, size vg.Length) { s.Font, s.Color = sans(size).Font, ink }
	restyle(&p.Title.TextStyle, 12)
	restyle(&p.Legend.TextStyle, 9)
	p.Legend.ThumbnailWidth, p.Legend.Padding = 24, 2
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		restyle(&a.Label.TextStyle, 10)
		restyle(&a.Tick.Label, 9)
		a.Label.Padding, a.Tick.Length = 4, 4
		a.Color, a.Tick.Color = ink, ink
	}
	return p
}

// line joins the points in their order.
func line(s draw.LineStyle, points plotter.XYs) *plotter.Line {
	return &plotter.Line{XYs: points, LineStyle: s}
}

// dots marks the fitted points.
func dots(c color.Color, xy plotter.XYs) *plotter.Scatter {
	return &plotter.Scatter{XYs: xy, GlyphStyle: draw.GlyphStyle{Color: c, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}}
}

// short makes a name fit to be drawn: one line of at most so many characters, and
// nothing that an XML file must not hold.
func short(name string, most int) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, printable.Text(name))
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// PairName makes that of a pair fit to be drawn.
func PairName(from, to string) string { return short(from, 24) + " – " + short(to, 24) }
