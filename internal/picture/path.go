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
// the order of the path and of equal length. Emphasis: the pair is an edge of the chosen network.
type Curve struct {
	Name     string
	X, Y     []float64
	Emphasis bool
}

// labelled is how many curves of the chosen network are named.
const labelled = 10

// Path draws each pair's partial correlation against λ, which decreases to the
// right on a log scale. A vertical line marks the chosen λ, NaN for none. Edges of the
// chosen network are coloured by their sign there (positive blue, negative
// dashed red), the strongest ten of them named at the right; other pairs are thin and grey.
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
		return cmp.Or(cmp.Compare(a.layer(), b.layer()), cmp.Compare(math.Abs(a.at(chosen)), math.Abs(b.at(chosen))))
	})
	addCurves(p, drawn, chosen)
	if p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = -1, 1
	}
	markChosen(p, chosen)
	// Where the path starts all curves are near 0: the side away from 0 is free.
	p.Legend.Left, p.Legend.Top = true, p.Y.Max >= -p.Y.Min
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

// addCurves draws curves in this order, the names of the last ones that are of the chosen
// network, and the legend.
func addCurves(p *plot.Plot, drawn []Curve, chosen float64) {
	var names endLabels
	var positive, negative, other *plotter.Line
	for i, c := range drawn {
		style, kind := draw.LineStyle{Color: grey, Width: 0.5}, &other
		if c.Emphasis {
			r := c.at(chosen)
			style, kind = signed(r, 1.4), &positive
			if r < 0 {
				kind = &negative
			}
			if len(drawn)-i <= labelled {
				names = append(names, endLabel{short(c.Name, 40), c.end(), style})
			}
		}
		xy := c.moving()
		*kind = line(style, xy)
		p.Add(*kind)
		if len(xy) == 1 { // a path of one λ has no line to be seen
			p.Add(dots(style.Color, xy))
		}
	}
	for _, k := range []struct {
		name string
		line *plotter.Line
	}{{"chosen, positive", positive}, {"chosen, negative", negative}, {"not chosen", other}} {
		if k.line != nil {
			p.Legend.Add(k.name, k.line)
		}
	}
	p.Add(names)
}

func (c Curve) layer() int {
	if c.Emphasis {
		return 1
	}
	return 0
}

// at is the value at the λ nearest to the given one, at the smallest for NaN.
func (c Curve) at(lambda float64) float64 {
	if math.IsNaN(lambda) {
		return c.end().Y
	}
	return c.Y[floats.NearestIdx(c.X, lambda)]
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
