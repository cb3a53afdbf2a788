package picture

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type Panel struct {
	X, Y            string // names of the columns
	Observed, Drawn plotter.XYs
}

const (
	panelSide  vg.Length = 176
	panelGap   vg.Length = 10
	panelsWide           = 2
)

// Draws draws a scatter plot for each panel, two a row, and returns the size of paper.
func Draws(of []Panel) (p *plot.Plot, width, height vg.Length) {
	across, rows := min(len(of), panelsWide), (len(of)+panelsWide-1)/panelsWide
	p = onPaper("", panels(of))
	return p, vg.Length(across)*(panelSide+panelGap) + 2*margin, vg.Length(rows)*(panelSide+panelGap) + legendHeight + 2*margin
}

type panels []Panel

func (of panels) Plot(c draw.Canvas, _ *plot.Plot) {
	row{{colour: grey, text: "observed"}, {colour: sea, text: "drawn"}}.draw(c, vg.Point{X: c.Center().X, Y: c.Max.Y - legendHeight/2})
	for k, q := range of {
		x := c.Min.X + vg.Length(k%panelsWide)*(panelSide+panelGap)
		top := c.Max.Y - legendHeight - panelGap - vg.Length(k/panelsWide)*(panelSide+panelGap)
		p := blank("", q.X, q.Y)
		observed, drawn := dots(grey, q.Observed), dots(sea, q.Drawn)
		drawn.Radius = 1.1
		p.Add(observed, drawn)
		p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: top - panelSide}, Max: vg.Point{X: x + panelSide, Y: top}}})
	}
}
