package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/data/network"
)

// Curve is one pair along the path: its partial correlation at each λ.
type Curve struct {
	Name   string
	Y      []float64
	Chosen bool    // the pair is an edge of the result
	Size   float64 // its partial correlation there

	Unsigned bool // which has no sign
}

const labelled = 10

// Path draws partial correlations against λ (log scale, decreasing): chosen edges blue or dashed
// red, the strongest ten with names, others grey. A line marks the chosen λ unless NaN.
func Path(lambdas []float64, curves []Curve, chosen float64) *plot.Plot {
	p := blank("Partial correlations along the path", "λ (log scale, decreasing)", "partial correlation")
	p.X.Min, p.X.Max = extremes(append([]float64{chosen}, lambdas...))
	if p.X.Min == p.X.Max {
		p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	}
	p.X.Scale, p.X.Tick.Marker = plot.InvertedScale{Normalizer: plot.LogScale{}}, plot.LogTicks{Prec: -1}
	p.Add(line(draw.LineStyle{Color: ink, Width: 0.4}, plotter.XYs{{X: p.X.Max, Y: 0}, {X: p.X.Min, Y: 0}}))

	drawn := slices.Clone(curves)
	rank := func(c Curve) float64 { // sizes are at most 1; chosen curves come last
		if c.Chosen {
			return 2 + math.Abs(c.size())
		}
		return math.Abs(c.size())
	}
	slices.SortStableFunc(drawn, func(a, b Curve) int { return cmp.Compare(rank(a), rank(b)) })
	key := addCurves(p, lambdas, drawn)
	if p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = -1, 1
	}
	if !math.IsNaN(chosen) {
		style := draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{2, 2}}
		p.Add(line(style, plotter.XYs{{X: chosen, Y: p.Y.Min}, {X: chosen, Y: p.Y.Max}}))
		key = append(key, entry{line: style, text: fmt.Sprintf("chosen λ = %.3g", chosen)})
	}
	p.Add(keyAbove(key))
	return p
}

func addCurves(p *plot.Plot, lambdas []float64, drawn []Curve) (key row) {
	const width = 1.4
	last := floats.MinIdx(lambdas)
	var names endLabels
	var positive, negative, without, other bool
	for i, c := range drawn {
		style := draw.LineStyle{Color: grey, Width: 0.5}
		if c.Chosen {
			style = link{pcor: c.size(), unsigned: c.Unsigned}.style(width)
			positive, negative, without = positive || !c.Unsigned && c.size() >= 0, negative || c.size() < 0, without || c.Unsigned
			if len(drawn)-i <= labelled {
				names = append(names, endLabel{c.Name, plotter.XY{X: lambdas[last], Y: c.Y[last]}, style})
			}
		}
		other = other || !c.Chosen
		first := slices.IndexFunc(c.Y, func(y float64) bool { return y != 0 }) // a line from the last 0 keeps files small
		if first < 0 {
			first = len(c.Y) - 1
		}
		xy := points(lambdas, c.Y)[max(first-1, 0):]
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
		{without, entry{line: unsigned(width), text: "chosen, no sign"}},
		{other, entry{line: draw.LineStyle{Color: grey, Width: 0.5}, text: "not chosen"}},
	} {
		if e.drawn {
			key = append(key, e.entry)
		}
	}
	p.Add(names)
	return key
}

// size is the value in the result or, if 0, the last on the path that is not 0.
func (c Curve) size() float64 {
	size := c.Size
	for i := len(c.Y) - 1; i >= 0 && size == 0; i-- {
		size = c.Y[i]
	}
	return size
}

// endLabels are names to the right of curves, moved apart.
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
	s := sans(nameSize)
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

func (ls endLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, l := range ls {
		boxes = append(boxes, plot.GlyphBox{X: p.X.Norm(l.at.X), Y: p.Y.Norm(l.at.Y),
			Rectangle: vg.Rectangle{Max: vg.Point{X: labelGap + l.style().Width(l.name)}}})
	}
	return boxes
}

// spread moves increasing heights at least gap apart, within [low, high] if possible.
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

// Recovery draws measures with intervals against sample size (log axis). Dashed lines mark the
// wanted share and the needed sample size, unless 0 or infinite.
func Recovery(title string, measures []Band, wanted, needed float64) *plot.Plot {
	p := blank(title, "rows", "")
	var key row
	for i, b := range measures {
		seen := looks[i%len(looks)]
		var middle plotter.XYs
		for k, x := range b.X {
			if math.IsNaN(b.Y[k]) {
				continue
			}
			middle = append(middle, plotter.XY{X: x, Y: b.Y[k]})
			if b.Low[k] < b.High[k] {
				p.Add(line(draw.LineStyle{Color: seen.colour, Width: 0.8}, plotter.XYs{{X: x, Y: b.Low[k]}, {X: x, Y: b.High[k]}}))
			}
		}
		if middle != nil {
			l := seen.line(1.2, middle)
			p.Add(l, seen.marks(middle))
			key = append(key, entry{line: l.LineStyle, text: b.Name})
		}
	}
	rows := measures[0].X
	p.X.Min, p.X.Max = rows[0], rows[len(rows)-1]
	p.Y.Min, p.Y.Max = min(0, p.Y.Min), 1
	p.Add(line(guide(0.8), plotter.XYs{{X: p.X.Min, Y: wanted}, {X: p.X.Max, Y: wanted}}))
	if needed > 0 && !math.IsInf(needed, 0) {
		p.Add(line(guide(0.8), plotter.XYs{{X: needed, Y: p.Y.Min}, {X: needed, Y: wanted}}))
	}
	var ticks plot.ConstantTicks
	for _, n := range rows {
		ticks = append(ticks, plot.Tick{Value: n, Label: fmt.Sprintf("%.0f", n)})
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks
	p.Add(keyAbove(key))
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

// Stability draws correlations against the share of dropped rows; a dashed line is wanted.
func Stability(statistics []Band, wanted float64) *plot.Plot {
	p := blank("Stability when rows are dropped", "share of the rows dropped", "correlation with all rows")
	var key row
	for i, s := range statistics {
		look := looks[i%len(looks)]
		mean, band, high := points(s.X, s.Y), points(s.X, s.Low), points(s.X, s.High)
		slices.Reverse(high)
		band = append(band, high...)
		fill := look.colour
		fill.A = 0x30
		l, marks := look.line(1.4, mean), look.marks(mean)
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{band}, Color: fill, LineStyle: draw.LineStyle{Color: fill}}, l, marks)
		key = append(key, entry{line: l.LineStyle, text: s.Name})
	}
	p.Add(keyAbove(key))
	p.X.Min, p.Y.Min, p.Y.Max = 0, min(0, p.Y.Min), 1
	p.Add(line(guide(0.8), plotter.XYs{{X: 0, Y: wanted}, {X: p.X.Max, Y: wanted}}))
	return p
}
