package picture

import (
	"errors"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// RankCurve is how often true values had each rank among draws, from the lowest.
type RankCurve struct {
	Name   string
	Counts []int
}

// Ranks draws the distribution functions of ranks less that of uniform ones,
//
//	F(k) − (k + 1)/(L + 1),   F the share of ranks up to k
//
// with the band ±quantile √(u(1 − u)/n) around 0, u = (k + 1)/(L + 1), where those of n uniform
// ranks are (Säilynoja, Bürkner & Vehtari 2022), n the least of the curves'. It fails without a
// rank.
func Ranks(title string, curves []RankCurve, quantile float64) (*plot.Plot, error) {
	p := blank(title, "rank over the number of draws", "distribution less uniform")
	least := math.Inf(1)
	var lines []plot.Plotter
	for i, c := range curves {
		points, n := c.excess()
		if n == 0 {
			return nil, errors.New("picture: no ranks to draw")
		}
		least = min(least, n)
		look := lookOf(c.Name, i)
		l, marks := look.line(1.1, points), look.marks(points)
		lines = append(lines, l, marks)
		p.Legend.Add(look.title, l, marks)
	}
	if curves == nil {
		return nil, errors.New("picture: no ranks to draw")
	}
	above, below := plotter.XYs{{X: 0, Y: 0}}, plotter.XYs{}
	for k := range len(curves[0].Counts) {
		u := float64(k+1) / float64(len(curves[0].Counts))
		half := quantile * math.Sqrt(u*(1-u)/least)
		above, below = append(above, plotter.XY{X: u, Y: half}), append(plotter.XYs{{X: u, Y: -half}}, below...)
	}
	shade, err := plotter.NewPolygon(append(above, below...))
	if err != nil {
		return nil, err
	}
	shade.LineStyle.Width = 0
	shade.Color = color.NRGBA{R: 0xE8, G: 0xE8, B: 0xE8, A: 0xFF}
	p.Add(shade)
	p.Add(lines...)
	legendRight(p)
	return p, nil
}

// excess are the points of the curve, and the number of ranks.
func (c RankCurve) excess() (points plotter.XYs, n float64) {
	for _, count := range c.Counts {
		n += float64(count)
	}
	points = plotter.XYs{{X: 0, Y: 0}}
	sum := 0.0
	for k, count := range c.Counts {
		sum += float64(count)
		u := float64(k+1) / float64(len(c.Counts))
		points = append(points, plotter.XY{X: u, Y: sum/n - u})
	}
	return points, n
}
