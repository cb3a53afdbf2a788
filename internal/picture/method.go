package picture

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// look is how a series is drawn. Dashes and glyph repeat the colour's distinction for
// black and white.
type look struct {
	title  string
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

// methods gives a method the same look in every picture. A name that is not here
// gets one of spare.
var methods = map[string]look{
	"iw":               {"Marg-IW", sea, nil, draw.CircleGlyph{}},
	"iw-unit":          {"Marg-IW, N(0, I)", sea, dotted, draw.RingGlyph{}},
	"var":              {"Marg-Var", rust, nil, draw.TriangleGlyph{}},
	"variw":            {"Marg-VarIW", purple, dashed, draw.PyramidGlyph{}},
	"var-mixture":      {"Marg-Var, mixture", rust, dotted, draw.PlusGlyph{}},
	"variw-mixture":    {"Marg-VarIW, mixture", purple, dotted, draw.CrossGlyph{}},
	"var-flow":         {"Marg-Var, flow", rust, dashDot, draw.RingGlyph{}},
	"variw-flow":       {"Marg-VarIW, flow", purple, dashDot, draw.BoxGlyph{}},
	"var-linear":       {"Marg-Var, linear", rust, dashed, draw.TriangleGlyph{}},
	"variw-linear":     {"Marg-VarIW, linear", purple, dashed, draw.PyramidGlyph{}},
	"em-var-mixture":   {"EM-Var, mixture", green, dotted, draw.PlusGlyph{}},
	"em-variw-mixture": {"EM-VarIW, mixture", sky, nil, draw.CrossGlyph{}},
	"em":               {"EM", green, dashed, draw.SquareGlyph{}},
	"em-unit":          {"EM, N(0, I)", green, dotted, draw.BoxGlyph{}},
	"em-full":          {"EM, all coordinates", green, dashDot, draw.RingGlyph{}},
	"zeroed":           {"Zeroed", orange, dashDot, draw.CrossGlyph{}},
	"exact":            {"Marg-Exact", sky, dashDot, draw.PlusGlyph{}},
	"exact-mc":         {"Marg-Exact, sampled", sky, dotted, draw.PlusGlyph{}},
	"full":             {"Full", ink, nil, draw.PlusGlyph{}},
	"missdiff":         {"MissDiff", red, dotted, draw.SquareGlyph{}},
	"full-score":       {"Full, score network", midgrey, nil, draw.BoxGlyph{}},
	"gaussian":         {"Gaussian", sky, dashDot, draw.PlusGlyph{}},
	"glasso":           {"EM + glasso", midgrey, dashed, draw.RingGlyph{}},
	"cglasso":          {"cglasso", rust, dashed, draw.RingGlyph{}},
	"posterior":        {"impute TABLE", ink, nil, draw.CircleGlyph{}},
	"mice pmm":         {"mice pmm", rust, dashed, draw.SquareGlyph{}},
	"mice norm":        {"mice norm", purple, dashed, draw.SquareGlyph{}},
	"em-exact":         {"EM, exact", green, nil, draw.PyramidGlyph{}},
	"marginal":         {"pairwise correlations", midgrey, dotted, draw.CrossGlyph{}},
	"partial":          {"pairwise partial correlations", midgrey, dashDot, draw.BoxGlyph{}},
}

var spare = []look{
	{"", sea, nil, draw.CircleGlyph{}}, {"", rust, dashed, draw.TriangleGlyph{}}, {"", green, dotted, draw.SquareGlyph{}},
	{"", purple, dashDot, draw.CrossGlyph{}}, {"", orange, nil, draw.PlusGlyph{}}, {"", sky, dashed, draw.RingGlyph{}},
	{"", ink, dotted, draw.CircleGlyph{}}, {"", midgrey, dashDot, draw.TriangleGlyph{}},
}

// treatments have their own dashes, in the colour of the method that is treated, and some their own glyph.
var treatments = map[string]look{
	"averaged": {dashes: dashDot},
	"held out": {dashes: dotted},
	"ridge":    {dashes: dotted, glyph: draw.TriangleGlyph{}},
	"auto":     {dashes: dashDot, glyph: draw.BoxGlyph{}},
}

// lookOf is the look of a method, or the i-th spare one under the name itself; of a method
// treated in some way, as "iw, held out", under that method's, with the dashes and the glyph
// of the treatment if it has some.
func lookOf(name string, i int) look {
	if l, ok := methods[name]; ok {
		return l
	}
	method, treatment, _ := strings.Cut(name, ", ")
	of, known := methods[method]
	l := spare[i%len(spare)]
	if l.title = name; known {
		l.title = of.title + ", " + treatment
	}
	if treated, own := treatments[treatment]; own && known {
		l.colour, l.dashes, l.glyph = of.colour, treated.dashes, of.glyph
		if treated.glyph != nil {
			l.glyph = treated.glyph
		}
	}
	return l
}

// MethodTitle is a method's name for readers.
func MethodTitle(name string) string { return lookOf(name, 0).title }

func (l look) line(width vg.Length, xy plotter.XYs) *plotter.Line {
	return line(draw.LineStyle{Color: l.colour, Width: width, Dashes: l.dashes}, xy)
}

func (l look) marks(xy plotter.XYs) *plotter.Scatter {
	return &plotter.Scatter{XYs: xy, GlyphStyle: draw.GlyphStyle{Color: l.colour, Radius: 2.4, Shape: l.glyph}}
}
