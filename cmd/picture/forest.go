package picture

import (
	"errors"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/data/network"
)

// forestRow is the height that a pair takes.
const forestRow vg.Length = 14

// ForestHeight is how high a picture of so many pairs should be.
func ForestHeight(pairs int) vg.Length { return vg.Length(pairs)*forestRow + 72 }

// Forest draws the estimates of pairs, which may be named by labels, with their intervals, the first at the top, around
// a line at 0. An interval without 0 is blue or, below 0, red and dashed; one with 0 is
// grey. Pairs without an estimate are an error; an interval that is not known is left out.
func Forest(title, x string, pairs []network.Edge) (*plot.Plot, error) {
	if len(pairs) == 0 {
		return nil, errors.New("picture: no pairs to draw intervals of")
	}
	p := blank(title, x, "")
	var names []plot.Tick
	for i, e := range pairs {
		u := e.Uncertainty
		if u == nil || math.IsNaN(u.Estimate) {
			return nil, errors.New("picture: " + PairName(e.From, e.To) + " has no estimate to draw")
		}
		y := float64(len(pairs) - i)
		names = append(names, plot.Tick{Value: y, Label: PairName(e.From, e.To)})
		style := draw.LineStyle{Color: grey, Width: 1.4}
		if u.Low > 0 || u.High < 0 {
			style = signed(u.Estimate, 1.4)
		}
		if !math.IsNaN(u.Low) && !math.IsNaN(u.High) {
			p.Add(line(style, plotter.XYs{{X: u.Low, Y: y}, {X: u.High, Y: y}}))
		}
		p.Add(dots(style.Color, plotter.XYs{{X: u.Estimate, Y: y}}))
	}
	p.Add(line(draw.LineStyle{Color: ink, Width: 0.4}, plotter.XYs{{X: 0, Y: 0.4}, {X: 0, Y: float64(len(pairs)) + 0.6}}))
	p.Y.Tick.Marker, p.Y.Tick.Length = plot.ConstantTicks(names), 0
	p.Y.LineStyle.Width = 0
	return p, nil
}
