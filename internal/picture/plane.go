package picture

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plane is a part of the plane with a density on it, points, or both.
type Plane struct {
	Title   string
	Density []float64 // (cells, cells) at the midpoints of squares, from the lower left, by rows; nil for none
	Points  []float64 // (n, 2); those outside are left out
}

// Planes draws parts of the plane side by side, perRow in a row: the square of the given
// side around (x, y) in each. All have one scale of blue, up to the given density, and
// denser is as dense. It fails if a density does not fill a square, is negative or not a
// number, or most is not positive.
func Planes(title string, planes []Plane, perRow int, x, y, side, most float64) (*plot.Plot, error) {
	if perRow < 1 || !(side > 0) || !(most > 0) {
		return nil, fmt.Errorf("picture: planes of side %v, %d in a row, densities up to %v", side, perRow, most)
	}
	p := blank(title, "", "")
	p.HideAxes()
	const gap = 0.22 // between squares, in sides; titles stand in it
	var labels plotter.XYLabels
	for i, of := range planes {
		left, low := float64(i%perRow)*(1+0.3*gap), -float64(i/perRow)*(1+gap)
		if of.Density != nil {
			picture, err := shade(of.Density, most)
			if err != nil {
				return nil, fmt.Errorf("picture: %s: %w", of.Title, err)
			}
			p.Add(plotter.NewImage(picture, left, low, left+1, low+1))
		}
		var inside plotter.XYs
		for k := 0; k+1 < len(of.Points); k += 2 {
			u, v := (of.Points[k]-x)/side+0.5, (of.Points[k+1]-y)/side+0.5
			if 0 < u && u < 1 && 0 < v && v < 1 {
				inside = append(inside, plotter.XY{X: left + u, Y: low + v})
			}
		}
		p.Add(&plotter.Scatter{XYs: inside, GlyphStyle: draw.GlyphStyle{Color: rust, Radius: vg.Points(0.7), Shape: draw.CircleGlyph{}}},
			line(draw.LineStyle{Color: grey, Width: 0.5}, plotter.XYs{{X: left, Y: low}, {X: left + 1, Y: low}, {X: left + 1, Y: low + 1}, {X: left, Y: low + 1}, {X: left, Y: low}}))
		labels.XYs = append(labels.XYs, plotter.XY{X: left + 0.5, Y: low + 1 + 0.2*gap})
		labels.Labels = append(labels.Labels, short(of.Title, 30))
	}
	names, err := plotter.NewLabels(labels)
	if err != nil {
		return nil, err
	}
	for i := range names.TextStyle {
		names.TextStyle[i] = sans(9)
		names.TextStyle[i].XAlign = draw.XCenter
	}
	p.Add(names)
	p.Y.Max += gap
	return p, nil
}

// shade is a density as a picture, the first row at the bottom: white is none.
func shade(density []float64, most float64) (image.Image, error) {
	cells := int(math.Round(math.Sqrt(float64(len(density)))))
	if cells == 0 || cells*cells != len(density) {
		return nil, fmt.Errorf("%d densities do not fill a square", len(density))
	}
	out := image.NewNRGBA(image.Rect(0, 0, cells, cells))
	for i, v := range density {
		if !(v >= 0) {
			return nil, fmt.Errorf("a density of %v", v)
		}
		depth := min(1, v/most)
		mix := func(c uint8) uint8 { return uint8(math.Round(255 + depth*(float64(c)-255))) }
		out.SetNRGBA(i%cells, cells-1-i/cells, color.NRGBA{R: mix(blue.R), G: mix(blue.G), B: mix(blue.B), A: 0xFF})
	}
	return out, nil
}
