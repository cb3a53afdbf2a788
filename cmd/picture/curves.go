package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/data/network"
)

const forestRow vg.Length = 14

func ForestHeight(pairs int) vg.Length { return vg.Length(pairs)*forestRow + 72 }

func ForestWidth(pairs []network.Edge) vg.Length {
	names := vg.Length(0)
	for _, e := range pairs {
		names = max(names, sans(legendSize).Width(longName(e.From, e.To)))
	}
	return max(16*vg.Centimeter, names+10*vg.Centimeter)
}

// Forest draws estimates with intervals, the first pair at the top. Intervals with 0 are grey.
func Forest(title, x string, pairs []network.Edge) *plot.Plot {
	p := blank(title, x, "")
	var names []plot.Tick
	for i, e := range pairs {
		u := e.Uncertainty
		y := float64(len(pairs) - i)
		names = append(names, plot.Tick{Value: y, Label: longName(e.From, e.To)})
		style := draw.LineStyle{Color: grey, Width: 1.4}
		if u.Low > 0 || u.High < 0 {
			style = signed(u.Estimate, 1.4)
			style.Dashes = nil // the end of an interval must be seen, and its side tells the sign
		}
		if !math.IsNaN(u.Low) && !math.IsNaN(u.High) {
			p.Add(line(style, plotter.XYs{{X: u.Low, Y: y}, {X: u.High, Y: y}}))
		}
		p.Add(dots(style.Color, plotter.XYs{{X: u.Estimate, Y: y}}))
	}
	p.Add(line(draw.LineStyle{Color: ink, Width: 0.4}, plotter.XYs{{X: 0, Y: 0.4}, {X: 0, Y: float64(len(pairs)) + 0.6}}))
	room := 0.04 * (p.X.Max - p.X.Min) // so that no interval touches the frame
	p.X.Min, p.X.Max = p.X.Min-room, p.X.Max+room
	p.Y.Tick.Marker, p.Y.Tick.Length = plot.ConstantTicks(names), 0
	p.Y.LineStyle.Width = 0
	return p
}

// Band is a mean with an interval around it along X; all of equal length.
type Band struct {
	Name            string
	X, Y, Low, High []float64
}

// Bands draws means with intervals along x; a dashed line is the wanted mean.
func Bands(title, x, y string, bands []Band, wanted float64) *plot.Plot {
	p := blank(title, x, y)
	var key row
	var lines []plot.Plotter // above all bands
	for i, b := range bands {
		seen := looks[i%len(looks)]
		var mean, low, high plotter.XYs
		for k, at := range b.X {
			if !math.IsNaN(b.Y[k]) {
				mean = append(mean, plotter.XY{X: at, Y: b.Y[k]})
			}
			if b.Low[k] <= b.High[k] { // not NaN
				low, high = append(low, plotter.XY{X: at, Y: b.Low[k]}), append(high, plotter.XY{X: at, Y: b.High[k]})
			}
		}
		if low != nil {
			slices.Reverse(high)
			fill := seen.colour
			fill.A = 0x30
			p.Add(&plotter.Polygon{XYs: []plotter.XYs{append(low, high...)}, Color: fill, LineStyle: draw.LineStyle{Color: fill, Width: 0.8}})
		}
		if mean != nil {
			l := seen.line(1.4, mean)
			lines = append(lines, l, seen.marks(mean))
			key = append(key, entry{line: l.LineStyle, text: b.Name})
		}
	}
	p.Add(lines...)
	p.X.Min, p.X.Max = bands[0].X[0], bands[0].X[len(bands[0].X)-1]
	p.Y.Min, p.Y.Max = min(0, p.Y.Min), 1
	p.Add(keyAbove(key), line(guide(0.8), plotter.XYs{{X: p.X.Min, Y: wanted}, {X: p.X.Max, Y: wanted}}))
	return p
}

// Recovery draws measures against sample size (log axis). A dashed line marks the needed sample
// size, unless 0 or infinite.
func Recovery(title string, measures []Band, wanted, needed float64) *plot.Plot {
	p := Bands(title, "rows", "", measures, wanted)
	if needed > 0 && !math.IsInf(needed, 0) {
		p.Add(line(guide(0.8), plotter.XYs{{X: needed, Y: p.Y.Min}, {X: needed, Y: wanted}}))
	}
	var ticks plot.ConstantTicks
	for _, n := range measures[0].X {
		ticks = append(ticks, plot.Tick{Value: n, Label: fmt.Sprintf("%.0f", n)})
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks
	return p
}

func ROC(rates []network.Rate, auc float64) *plot.Plot {
	var xy plotter.XYs
	for _, r := range network.Curve(rates) {
		xy = append(xy, plotter.XY{X: r.FPR, Y: r.TPR})
	}
	p := blank(fmt.Sprintf("Edge recovery along the path: AUC = %.3f", auc), "false positive rate (absent edges found)", "true positive rate (true edges found)")
	guess := line(guide(0.8), plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	l := line(draw.LineStyle{Color: blue, Width: 1.4}, xy)
	p.Add(guess, l, dots(blue, xy), keyAbove{{line: l.LineStyle, text: "estimate"}, {line: guess.LineStyle, text: "guessing"}})
	return p
}

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

type Box struct {
	Name  string
	Value float64
	Place int // by which differ knows it
}

// Matrix draws a box for each two numbers, dark if they differ, and returns the size of paper.
func Matrix(title string, boxes []Box, differ func(i, j int) bool) (p *plot.Plot, width, height vg.Length) {
	m := matrix{boxes: slices.Clone(boxes), differ: differ}
	slices.SortStableFunc(m.boxes, func(a, b Box) int { return cmp.Compare(b.Value, a.Value) })
	for i := range m.boxes {
		b := &m.boxes[i]
		b.Name = Short(b.Name, 51)
		m.names = max(m.names, sans(8).Width(b.Name)+6)
	}
	side := m.names + vg.Length(len(boxes))*boxSide
	return onPaper(title, m), max(side, m.key().width()) + 2*margin, side + legendHeight + 40
}

type matrix struct {
	boxes  []Box
	differ func(i, j int) bool
	names  vg.Length // room for them
}

const boxSide vg.Length = 16

func (matrix) key() row {
	return row{{colour: ink, text: "differ"}, {colour: grey, text: "no difference found"}, {text: "diagonal: value"}}
}

func (m matrix) Plot(c draw.Canvas, _ *plot.Plot) {
	left, bottom := c.Min.X+m.names, c.Min.Y+m.names+legendHeight
	corner := func(line, column int) vg.Point {
		return vg.Point{X: left + vg.Length(column)*boxSide, Y: bottom + vg.Length(len(m.boxes)-1-line)*boxSide}
	}
	name, number := sans(8), sans(6.5)
	name.XAlign, name.YAlign, number.XAlign, number.YAlign = draw.XRight, middle, draw.XCenter, middle
	upright := name
	upright.Rotation = math.Pi / 2
	var dark, light vg.Path // a path for all boxes of a colour keeps files small
	for i, a := range m.boxes {
		for j, b := range m.boxes {
			low := corner(i, j).Add(vg.Point{X: 0.5, Y: 0.5})
			box := vg.Rectangle{Min: low, Max: low.Add(vg.Point{X: boxSide - 1, Y: boxSide - 1})}.Path()
			switch {
			case i == j:
			case m.differ(a.Place, b.Place):
				dark = append(dark, box...)
			default:
				light = append(light, box...)
			}
		}
		half := vg.Point{X: boxSide / 2, Y: boxSide / 2}
		c.FillText(name, vg.Point{X: left - 4, Y: corner(i, 0).Y + half.Y}, a.Name)
		c.FillText(upright, vg.Point{X: corner(0, i).X + half.X, Y: bottom - 4}, a.Name)
		text := strings.Replace(strings.Replace(fmt.Sprintf("%.2f", a.Value), "0.", ".", 1), "-", "−", 1)
		number.Color = signed(a.Value, 1).Color
		c.FillText(number, corner(i, i).Add(half), text)
	}
	c.SetColor(ink)
	c.Fill(dark)
	c.SetColor(grey)
	c.Fill(light)
	m.key().draw(c, vg.Point{X: c.Center().X, Y: c.Min.Y + legendHeight/2})
}
