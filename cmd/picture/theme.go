// Package picture draws networks and paths. Equal input gives equal bytes. Signs are drawn by
// colour and by dashes.
//
//	theme.go    type sizes, margins and colours of all pictures
//	canvas.go   SVG, PNG and PDF
//	scene.go    what pictures of one network share: places, labels, groups
//	network.go  networks, pairs of networks, differences
//	labels.go   how labels are wrapped and placed
//	legend.go   legends and footers
//	curves.go   the path, intervals, ROC, recovery, resamples, drawn rows
package picture

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/setting"
)

const (
	titleSize  vg.Length = 12
	axisSize   vg.Length = 10
	legendSize vg.Length = 9 // and ticks
	nameSize   vg.Length = 8 // names of curves
	margin     vg.Length = 8 // around a picture

	legendHeight vg.Length = 18 // of a row
	legendGap    vg.Length = 8  // between drawing and legend
)

// Colours of the theme "colour", which a canvas exchanges for another theme's. Blue and red are
// from ColorBrewer's RdBu (https://colorbrewer2.org).
var (
	blue  = rgb(0x2166AC) // positive
	red   = rgb(0xB2182B) // negative
	slate = rgb(0x555555) // without a sign
	grey  = rgb(0xB0B0B0) // not chosen, not certain
	halo  = rgb(0xFDDB8A) // behind a marked pair
	ink   = rgb(0x222222) // text, axes, rims

	// Series of curves, from Okabe & Ito (https://jfly.uni-koeln.de/color/).
	sea     = rgb(0x0072B2)
	rust    = rgb(0xD55E00)
	green   = rgb(0x009E73)
	purple  = rgb(0xCC79A7)
	orange  = rgb(0xE69F00)
	sky     = rgb(0x56B4E9)
	midgrey = rgb(0x888888)

	// Tol's "light" scheme, for black text on it (https://sronpersonalpages.nl/~pault/).
	palette = []color.NRGBA{rgb(0xEE8866), rgb(0x77AADD), rgb(0x44BB99), rgb(0xEEDD88), rgb(0xFFAABB), rgb(0x99DDFF), rgb(0xBBCC33), rgb(0xAAAA00)}
	others  = rgb(0xDDDDDD)
)

// Theme is a set of colours for all pictures. The zero value is "colour".
type Theme string

var Themes = []string{"colour", "colourblind", "grey"}

func (t Theme) Check() error { return setting.OneOf("theme", string(t), Themes...) }

// Colourblind is Okabe & Ito's.
var themes = map[Theme]map[color.NRGBA]color.NRGBA{
	"colourblind": {blue: sea, red: rust, halo: rgb(0xF0E442)},
	"grey": {
		blue: rgb(0x1A1A1A), red: rgb(0x6A6A6A), slate: rgb(0x9A9A9A), grey: rgb(0xC4C4C4), halo: rgb(0xDCDCDC),
		sea: rgb(0x1A1A1A), rust: rgb(0x6A6A6A), green: rgb(0x444444), purple: rgb(0x8C8C8C), orange: rgb(0x333333), sky: rgb(0x7A7A7A),
		palette[0]: rgb(0xF2F2F2), palette[1]: rgb(0x808080), palette[2]: rgb(0xBEBEBE), palette[3]: rgb(0xDADADA), palette[4]: rgb(0x9E9E9E),
		palette[5]: rgb(0xCCCCCC), palette[6]: rgb(0x8F8F8F), palette[7]: rgb(0xAEAEAE), others: rgb(0xFAFAFA),
	},
}

func (t Theme) colour(c color.Color) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	if other, ok := themes[t][color.NRGBA{n.R, n.G, n.B, 0xFF}]; ok {
		return color.NRGBA{other.R, other.G, other.B, n.A}
	}
	return c
}

func (t Theme) Hex(c color.Color) string {
	n := color.NRGBAModel.Convert(t.colour(c)).(color.NRGBA)
	return fmt.Sprintf("#%02x%02x%02x", n.R, n.G, n.B)
}

// Variables are the colours of edges as CSS variables; "" for the default theme.
func (t Theme) Variables() string {
	if themes[t] == nil {
		return ""
	}
	var css strings.Builder
	for k, name := range []string{"positive", "negative", "unsigned", "halo"} {
		fmt.Fprintf(&css, "--%s: %s; ", name, t.Hex([]color.Color{blue, red, slate, halo}[k]))
	}
	return css.String()
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xFF}
}

func groupColour(i int) color.NRGBA {
	if i >= len(palette) {
		return others
	}
	return palette[i]
}

func sans(size vg.Length) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// middle centres capitals and digits; draw.YCenter would set them too low.
const middle text.YAlignment = -0.39

func unsigned(width vg.Length) draw.LineStyle { return draw.LineStyle{Color: slate, Width: width} }

func signed(r float64, width vg.Length) draw.LineStyle {
	if r < 0 {
		return draw.LineStyle{Color: red, Width: width, Dashes: []vg.Length{max(4, 2.5*width), max(3, 1.8*width)}}
	}
	return draw.LineStyle{Color: blue, Width: width}
}

func guide(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: midgrey, Width: width, Dashes: dashed}
}

func blank(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Title.Padding = Short(title, 120), 8
	p.X.Label.Text, p.Y.Label.Text = Short(x, 120), Short(y, 120)
	restyle := func(s *text.Style, size vg.Length) { s.Font, s.Color = sans(size).Font, ink }
	restyle(&p.Title.TextStyle, titleSize)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		restyle(&a.Label.TextStyle, axisSize)
		restyle(&a.Tick.Label, legendSize)
		a.Label.Padding, a.Tick.Length, a.Tick.Marker = 4, 4, minusTicks{}
		a.Color, a.Tick.Color = ink, ink
	}
	return p
}

// minusTicks are the usual ticks with minus signs.
type minusTicks struct{ plot.DefaultTicks }

func (t minusTicks) Ticks(low, high float64) []plot.Tick {
	ticks := t.DefaultTicks.Ticks(low, high)
	for i := range ticks {
		ticks[i].Label = strings.ReplaceAll(ticks[i].Label, "-", "−")
	}
	return ticks
}

func line(s draw.LineStyle, points plotter.XYs) *plotter.Line {
	return &plotter.Line{XYs: points, LineStyle: s}
}

func dots(c color.Color, xy plotter.XYs) *plotter.Scatter {
	return &plotter.Scatter{XYs: xy, GlyphStyle: draw.GlyphStyle{Color: c, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}}
}

type look struct {
	colour color.NRGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

var (
	dashed  = []vg.Length{6, 3}
	dotted  = []vg.Length{1.5, 2.5}
	dashDot = []vg.Length{8, 2, 2, 2}
)

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
