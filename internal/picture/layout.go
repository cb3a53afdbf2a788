package picture

import (
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// layout says where n circles and their names go around the origin, in points.
type layout struct {
	n      int
	radius vg.Length // of the ring that the circles' centres lie on
	node   vg.Length // radius of a circle
	widest vg.Length // width of the strongest edge
	font   vg.Length
	names  placement
}

type placement int

const (
	inside placement = iota
	beside
	radial
)

const (
	// smallest is the font size below which names leave their circles.
	smallest vg.Length = 7.5
	// mostBeside is the number of nodes beyond which level names run into each other.
	mostBeside = 12
	// labelSpace is between a circle and its name.
	labelSpace vg.Length = 4
)

// arrange fits circles and names into a rectangle, given by half its sides.
func arrange(names []string, half vg.Point) layout {
	n := len(names)
	room := min(half.X, half.Y)
	// em is the longest name in units of the font size.
	var em vg.Length
	for _, name := range names {
		em = max(em, sans(100).Width(name)/100)
	}
	// Neighbours on a ring of radius R are 2R·s apart.
	s := vg.Length(math.Sin(math.Pi / float64(n)))

	l := layout{n: n, names: inside}
	l.node = min(28, 0.75*s*room/(1+0.75*s))
	if n == 1 {
		l.node = 28
	}
	l.font = min(11, 1.75*l.node/em)
	l.radius = room - l.node
	if l.font < smallest {
		l.names = beside
		l.node = min(12, l.node/2)
		l.font = min(10, 0.45*room/em)
		if n > mostBeside {
			l.names = radial
			// Each name takes 1.1 font sizes of the ring, whose radius is about room − font·em.
			l.font = min(l.font, 2*math.Pi*(room-2*l.node)/(1.1*vg.Length(n)+2*math.Pi*em))
		}
		l.radius = l.reach(names, half) - l.node - labelSpace
	}
	if n == 1 {
		l.radius = 0
	}
	l.widest = min(5, 1.2+0.4*l.node)
	return l
}

// reach is how far from the origin names may begin so that all stay in the rectangle.
func (l layout) reach(names []string, half vg.Point) vg.Length {
	far := half.X + half.Y
	for i, name := range names {
		style, _ := l.label(i)
		box := style.Rectangle(name)
		toward := l.at(i, 1)
		far = min(far, along(toward.X, half.X, box.Min.X, box.Max.X), along(toward.Y, half.Y, box.Min.Y, box.Max.Y))
	}
	return far
}

// along is the largest f for which [f·direction + low, f·direction + high] stays within ±half.
func along(direction, half, low, high vg.Length) vg.Length {
	switch {
	case direction > 1e-9:
		return (half - high) / direction
	case direction < -1e-9:
		return (half + low) / -direction
	}
	return vg.Length(math.Inf(1))
}

// angle of node i, clockwise. Node 0 is at the top, or half a step on where a level name
// at three o'clock would take the most room.
func (l layout) angle(i int) float64 {
	turn := float64(i)
	if l.names == beside && l.n%4 == 0 {
		turn += 0.5
	}
	return math.Pi/2 - 2*math.Pi*turn/float64(l.n)
}

// at is the point in the direction of node i at the given distance.
func (l layout) at(i int, distance vg.Length) vg.Point {
	sin, cos := math.Sincos(l.angle(i))
	return vg.Point{X: distance * vg.Length(cos), Y: distance * vg.Length(sin)}
}

// control is the control point of the quadratic curve between two nodes: halfway, which
// makes it straight, unless it would run through the circles next to its ends.
func (l layout) control(i, j int) vg.Point {
	half := l.at(i, l.radius).Add(l.at(j, l.radius)).Scale(0.5)
	steps := max(i, j) - min(i, j)
	steps = min(steps, l.n-steps)
	next := 2 * float64(l.radius) * math.Sin(math.Pi/float64(l.n)) * math.Sin(math.Pi*float64(steps-1)/float64(l.n))
	if steps > 1 && next < 1.3*float64(l.node) {
		return half.Scale(0.6)
	}
	return half
}

// label is the style of node i's name and its distance from the origin.
func (l layout) label(i int) (text.Style, vg.Length) {
	style := sans(l.font)
	style.XAlign, style.YAlign = draw.XCenter, middle
	sin, cos := math.Sincos(l.angle(i))
	switch l.names {
	case inside:
		return style, l.radius
	case beside: // on the side that looks away from the centre
		style.XAlign = text.XAlignment(max(-1, min(0, cos-0.5)))
		style.YAlign += text.YAlignment(0.4 * sin)
	case radial: // never upside down
		style.Rotation, style.XAlign = l.angle(i), draw.XLeft
		if cos < -1e-9 {
			style.Rotation, style.XAlign = l.angle(i)+math.Pi, draw.XRight
		}
	}
	return style, l.radius + l.node + labelSpace
}
