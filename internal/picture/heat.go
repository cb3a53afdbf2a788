package picture

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat draws a matrix as squares, the first row on top, rows and columns numbered
// from first. The depth of the colour is the cube root of |value| over that of most,
// which shows small entries beside large ones; blue is positive, red negative and
// marked with a bar, so that it reads in black and white. It fails if a value is not
// finite or most is not positive.
func Heat(title string, m mat.Matrix, first int, most float64) (*plot.Plot, error) {
	rows, columns := m.Dims()
	if !(most > 0) {
		return nil, fmt.Errorf("picture: a scale up to %v", most)
	}
	for i := range rows {
		for j := range columns {
			if v := m.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("picture: entry (%d, %d) is %v", i, j, v)
			}
		}
	}
	p := blank(title, "", "")
	p.Add(heat{m, most})
	p.X.Tick.Marker, p.Y.Tick.Marker = squareTicks(first, columns, false), squareTicks(first, rows, true)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.Width, p.Y.Width = 0, 0
	p.X.Padding, p.Y.Padding = 2, 2
	p.Legend.ThumbnailWidth = 12
	for _, v := range []float64{most, most / 8, -most / 8, -most} {
		p.Legend.Add(fmt.Sprintf("%.2g", v), swatch{v, most})
	}
	p.Legend.Top = true
	return p, nil
}

type heat struct {
	m    mat.Matrix
	most float64
}

func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rows, columns := h.m.Dims()
	for i := range rows {
		for j := range columns {
			swatch{h.m.At(i, j), h.most}.fill(c, vg.Rectangle{
				Min: vg.Point{X: x(float64(j)), Y: y(float64(rows - 1 - i))}, Max: vg.Point{X: x(float64(j + 1)), Y: y(float64(rows - i))}})
		}
	}
	frame(c, vg.Rectangle{Min: vg.Point{X: x(0), Y: y(0)}, Max: vg.Point{X: x(float64(columns)), Y: y(float64(rows))}})
}

// DataRange leaves room for the legend at the right.
func (h heat) DataRange() (xmin, xmax, ymin, ymax float64) {
	rows, columns := h.m.Dims()
	return 0, float64(columns) * (1 + heatLegend), 0, float64(rows)
}

const heatLegend = 0.22 // of the matrix's width

// swatch is a value's square.
type swatch struct{ value, most float64 }

func (s swatch) fill(c draw.Canvas, r vg.Rectangle) {
	deep := blue
	if s.value < 0 {
		deep = red
	}
	depth := min(1, math.Cbrt(math.Abs(s.value)/s.most))
	mix := func(v uint8) uint8 { return uint8(math.Round(255 + depth*(float64(v)-255))) }
	c.SetColor(color.NRGBA{R: mix(deep.R), G: mix(deep.G), B: mix(deep.B), A: 0xFF})
	c.Fill(r.Path())
	if s.value < 0 && depth > 0.05 {
		bar := color.Color(ink)
		if depth > 0.6 {
			bar = color.White
		}
		mid, half := (r.Min.Y+r.Max.Y)/2, r.Size().X/5
		c.StrokeLine2(draw.LineStyle{Color: bar, Width: 0.8}, (r.Min.X+r.Max.X)/2-half, mid, (r.Min.X+r.Max.X)/2+half, mid)
	}
}

// Thumbnail is the swatch in the legend.
func (s swatch) Thumbnail(c *draw.Canvas) {
	s.fill(*c, c.Rectangle)
	frame(*c, c.Rectangle)
}

func frame(c draw.Canvas, r vg.Rectangle) {
	c.StrokeLines(draw.LineStyle{Color: grey, Width: 0.4}, []vg.Point{
		r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min})
}

// squareTicks labels the middles of squares, every few of them if there are many.
func squareTicks(first, n int, down bool) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	step := 1 + (n-1)/10
	for k := 0; k < n; k += step {
		at := float64(k) + 0.5
		if down {
			at = float64(n) - at
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: fmt.Sprint(first + k)})
	}
	return ticks
}
