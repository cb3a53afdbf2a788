// Package picture draws networks and the path they come from. Equal input gives
// equal bytes. Sign is told twice, by colour and by dashes, so that the
// pictures read in black and white and without colour vision.
package picture

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"missingscore/internal/printable"
)

// Blue and red of ColorBrewer's RdBu, which is safe for colour blindness
// (https://colorbrewer2.org).
var (
	blue  = color.NRGBA{R: 0x21, G: 0x66, B: 0xAC, A: 0xFF}
	red   = color.NRGBA{R: 0xB2, G: 0x18, B: 0x2B, A: 0xFF}
	grey  = color.NRGBA{R: 0xB0, G: 0xB0, B: 0xB0, A: 0xFF}
	halo  = color.NRGBA{R: 0xFD, G: 0xDB, B: 0x8A, A: 0xFF} // behind what is marked
	slate = color.NRGBA{R: 0x55, G: 0x55, B: 0x55, A: 0xFF} // of what has no sign
	ink   = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xFF}
)

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

// unsigned is the line of a strength without a sign.
func unsigned(width vg.Length) draw.LineStyle { return draw.LineStyle{Color: slate, Width: width} }

// signed is the line of a positive or negative partial correlation.
func signed(r float64, width vg.Length) draw.LineStyle {
	if r < 0 {
		return draw.LineStyle{Color: red, Width: width, Dashes: []vg.Length{max(4, 2.5*width), max(3, 1.8*width)}}
	}
	return draw.LineStyle{Color: blue, Width: width}
}

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

// dpi of a PNG, enough for print.
const dpi = 200

// PNG draws the picture and gives what writes it.
func PNG(p *plot.Plot, width, height vg.Length) func(io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	onWhite := *p
	if onWhite.BackgroundColor == color.White { // the paper is white: filling it again with antialiased paths takes as long as the rest
		onWhite.BackgroundColor = nil
	}
	onWhite.Draw(inside(c))
	return func(w io.Writer) error {
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
}

// XML is what stands before SVG in a file.
const XML = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

// SVG is the picture as an <svg> element, to be put into HTML as it is.
func SVG(p *plot.Plot, width, height vg.Length) (string, error) {
	paper := vgsvg.New(width, height)
	c := draw.New(paper)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	p.Draw(inside(paper))
	var b bytes.Buffer
	if _, err := paper.WriteTo(&b); err != nil {
		return "", fmt.Errorf("picture: SVG: %w", err)
	}
	text := b.String()
	return fitted(text[strings.Index(text, "<svg"):]), nil
}

// label matches a piece of text as vgsvg writes it: style, font size, escaped text.
// Text that looks like it cannot match, since its quotes are escaped.
var label = regexp.MustCompile(`style="font-family:Liberation Sans;([^"]*font-size:([0-9.]+)px[^"]*)">([^<]*)</text>`)

// fitted gives each text the width that the layout assumed: few computers have Liberation
// Sans, and another font would run over rims and margins.
func fitted(svg string) string {
	return label.ReplaceAllStringFunc(svg, func(found string) string {
		part := label.FindStringSubmatch(found)
		size, err := strconv.ParseFloat(part[2], 64)
		if err != nil {
			return found
		}
		width := sans(vg.Length(size)).Width(html.UnescapeString(part[3]))
		return fmt.Sprintf(`textLength="%.2f" lengthAdjust="spacingAndGlyphs" style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;%s">%s</text>`,
			width.Points(), part[1], part[3])
	})
}

// margin around a picture, in points.
const margin = 8

// inside is a paper within its margin.
func inside(paper vg.CanvasSizer) draw.Canvas {
	return draw.Crop(draw.New(paper), margin, -margin, margin, -margin)
}
