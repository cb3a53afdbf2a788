package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is one pair along the path: X holds λ > 0, Y the partial correlation, in
// the order of the path and of equal length.
type Curve struct {
	Name   string
	X, Y   []float64
	Chosen bool    // the pair is an edge of the result
	Size   float64 // its partial correlation there
}

// labelled is how many curves of the chosen network are named.
const labelled = 10

// Path draws each pair's partial correlation against λ, which decreases to the
// right on a log scale. A vertical line marks the chosen λ, NaN for none. Chosen edges are coloured
// by the sign that they have in the result (positive blue, negative dashed red), the strongest ten
// of them named at the right; other pairs are thin and grey. The legend stands above the curves.
// It fails if X and Y differ in length, a value is not finite or a λ not positive.
func Path(curves []Curve, chosen float64) (*plot.Plot, error) {
	lambda, err := lambdas(curves)
	if err != nil {
		return nil, err
	}
	if !math.IsNaN(chosen) {
		lambda = append(lambda, chosen)
	}
	p, err := alongPath("Partial correlations along the path", "partial correlation", lambda)
	if err != nil {
		return nil, err
	}
	p.Add(line(draw.LineStyle{Color: ink, Width: 0.4}, plotter.XYs{{X: p.X.Max, Y: 0}, {X: p.X.Min, Y: 0}}))

	// Chosen edges over the others, strong over weak.
	drawn := slices.Clone(curves)
	slices.SortStableFunc(drawn, func(a, b Curve) int {
		return cmp.Or(cmp.Compare(a.layer(), b.layer()), cmp.Compare(math.Abs(a.size()), math.Abs(b.size())))
	})
	key := addCurves(p, drawn)
	if p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = -1, 1
	}
	if !math.IsNaN(chosen) {
		style := draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{2, 2}}
		p.Add(line(style, plotter.XYs{{X: chosen, Y: p.Y.Min}, {X: chosen, Y: p.Y.Max}}))
		key = append(key, entry{line: style, text: fmt.Sprintf("chosen λ = %.3g", chosen)})
	}
	p.Add(keyAbove{key})
	return p, nil
}

// lambdas are those of all curves, whose values must be finite.
func lambdas(curves []Curve) (lambda []float64, err error) {
	for _, c := range curves {
		if len(c.X) != len(c.Y) || len(c.X) == 0 {
			return nil, fmt.Errorf("picture: curve %q has %d lambdas and %d values", c.Name, len(c.X), len(c.Y))
		}
		for i, y := range c.Y {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				return nil, fmt.Errorf("picture: curve %q is %v at lambda %v", c.Name, y, c.X[i])
			}
		}
		lambda = append(lambda, c.X...)
	}
	return lambda, nil
}

// addCurves draws curves in this order and the names of the last ones that are chosen, and gives
// their legend.
func addCurves(p *plot.Plot, drawn []Curve) (key row) {
	const width = 1.4
	var names endLabels
	var positive, negative, other bool
	for i, c := range drawn {
		style := draw.LineStyle{Color: grey, Width: 0.5}
		if c.Chosen {
			style = signed(c.size(), width)
			positive, negative = positive || c.size() >= 0, negative || c.size() < 0
			if len(drawn)-i <= labelled {
				names = append(names, endLabel{c.Name, c.end(), style})
			}
		}
		other = other || !c.Chosen
		xy := c.moving()
		p.Add(line(style, xy))
		if len(xy) == 1 { // a path of one λ has no line to be seen
			p.Add(dots(style.Color, xy))
		}
	}
	for _, e := range []struct {
		drawn bool
		entry entry
	}{
		{positive, entry{line: signed(1, width), text: "chosen, positive"}},
		{negative, entry{line: signed(-1, width), text: "chosen, negative"}},
		{other, entry{line: draw.LineStyle{Color: grey, Width: 0.5}, text: "not chosen"}},
	} {
		if e.drawn {
			key = append(key, e.entry)
		}
	}
	p.Add(names)
	return key
}

func (c Curve) layer() int {
	if c.Chosen {
		return 1
	}
	return 0
}

// size is that in the result or, where it is 0 there, the last on the path that is not.
func (c Curve) size() float64 {
	size := c.Size
	for i := len(c.Y) - 1; i >= 0 && size == 0; i-- {
		size = c.Y[i]
	}
	return size
}

func (c Curve) end() plotter.XY {
	i := floats.MinIdx(c.X)
	return plotter.XY{X: c.X[i], Y: c.Y[i]}
}

// moving is the curve from the last λ before it leaves 0. In sparse networks most
// pairs are 0 almost everywhere, and a picture of all points would take megabytes.
func (c Curve) moving() plotter.XYs {
	first := slices.IndexFunc(c.Y, func(y float64) bool { return y != 0 })
	if first < 0 {
		first = len(c.Y) - 1
	}
	var xy plotter.XYs
	for i := max(first-1, 0); i < len(c.X); i++ {
		xy = append(xy, plotter.XY{X: c.X[i], Y: c.Y[i]})
	}
	return xy
}

// endLabels names curves to the right of their last points, moved apart
// where they would overlap.
type endLabels []endLabel

type endLabel struct {
	name string
	at   plotter.XY
	line draw.LineStyle
}

const (
	labelGap    vg.Length = 12 // from the last point to the name, crossed by a leader
	labelHeight vg.Length = 9.5
)

func (l endLabel) style() text.Style {
	s := sans(8)
	s.Color, s.YAlign = l.line.Color, middle
	return s
}

func (ls endLabels) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	ls = slices.Clone(ls)
	slices.SortStableFunc(ls, func(a, b endLabel) int { return cmp.Compare(a.at.Y, b.at.Y) })
	y := make([]vg.Length, len(ls))
	for i, l := range ls {
		y[i] = trY(l.at.Y)
	}
	spread(y, labelHeight, c.Min.Y, c.Max.Y)
	for i, l := range ls {
		x := trX(l.at.X)
		c.StrokeLine2(draw.LineStyle{Color: l.line.Color, Width: 0.4}, x+1, trY(l.at.Y), x+labelGap-2, y[i])
		c.FillText(l.style(), vg.Point{X: x + labelGap, Y: y[i]}, l.name)
	}
}

// GlyphBoxes keeps room for the names on the right.
func (ls endLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, l := range ls {
		boxes = append(boxes, plot.GlyphBox{X: p.X.Norm(l.at.X), Y: p.Y.Norm(l.at.Y),
			Rectangle: vg.Rectangle{Max: vg.Point{X: labelGap + l.style().Width(l.name)}}})
	}
	return boxes
}

// spread moves increasing heights apart to at least gap, within [low, high] if that is long enough.
func spread(y []vg.Length, gap, low, high vg.Length) {
	for i := range y {
		y[i] = max(y[i], low+vg.Length(i)*gap)
		if i > 0 {
			y[i] = max(y[i], y[i-1]+gap)
		}
	}
	for i := len(y) - 1; i >= 0; i-- {
		top := high
		if i < len(y)-1 {
			top = y[i+1] - gap
		}
		y[i] = min(y[i], top)
	}
}
