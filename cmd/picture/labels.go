package picture

import (
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/internal/printable"
)

const (
	mostLines   = 3  // of a label
	mostLetters = 24 // of a line
	mostNames   = 40 // nodes that are named in a network of more than mostNamed

	insideMost    vg.Length = 11 // type sizes of labels, in points
	besideLeast   vg.Length = 7
	besideMost    vg.Length = 9
	linePitch     vg.Length = 1.15 // from line to line, in type sizes
	letterHeight  vg.Length = 1.05 // of one line
	capitalHeight vg.Length = 0.72
)

// Short cuts a name to one line of most characters that XML may hold.
func Short(name string, most int) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, printable.Text(name))
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

func PairName(from, to string) string { return Short(from, 24) + " – " + Short(to, 24) }

func longName(from, to string) string { return Short(from, 40) + " – " + Short(to, 40) }

// Wrap breaks a label into one line up to 14 letters, two lines of 14, or mostLines lines.
func Wrap(label string) []string {
	if label == "" {
		return []string{""}
	}
	for _, try := range []struct{ lines, letters int }{{1, 14}, {2, 14}, {mostLines, mostLetters}} {
		if lines := even(label, try.lines, try.letters); lines != nil {
			return lines
		}
	}
	lines, _ := wrap(label, mostLetters)
	if len(lines) > mostLines {
		last := []rune(lines[mostLines-1])
		lines = append(lines[:mostLines-1], string(last[:min(len(last), mostLetters-1)])+"…")
	}
	return lines
}

// even breaks a label into at most most lines with the shortest longest line; nil if it does not fit.
func even(label string, most, letters int) []string {
	for width := 1; width <= letters; width++ {
		if lines, whole := wrap(label, width); whole && len(lines) <= most {
			return lines
		}
	}
	return nil
}

var piece = regexp.MustCompile(`[^ .\-_/–]*[ .\-_/–]?`)

// wrap breaks a label into lines of at most width letters; words are not whole if one is longer.
func wrap(label string, width int) (lines []string, whole bool) {
	line, whole := "", true
	fits := func(text string) bool { return utf8.RuneCountInString(strings.TrimSpace(text)) <= width }
	for _, p := range piece.FindAllString(label, -1) {
		if line != "" && !fits(line+p) {
			lines, line = append(lines, strings.TrimSpace(line)), ""
		}
		for ; !fits(p); whole = false {
			letters := []rune(p)
			lines, p = append(lines, string(letters[:width])), string(letters[width:])
		}
		line += p
	}
	if line != "" {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, whole
}

type wrapped struct {
	lines         []string
	width, height vg.Length
	fits          vg.Length // the largest size of type in a circle of radius 1
}

func measured(lines []string) wrapped {
	w := wrapped{lines: lines, height: letterHeight + linePitch*vg.Length(len(lines)-1)}
	for _, line := range lines {
		w.width = max(w.width, sans(100).Width(line)/100)
	}
	w.fits = 0.9 * 2 / vg.Length(math.Hypot(float64(w.width), float64(w.height-letterHeight+capitalHeight)))
	return w
}

// broken are the ways to break a label, the usual one first.
func broken(label string) []wrapped {
	ways := []wrapped{measured(Wrap(label))}
	for n := 1; n <= mostLines; n++ {
		if lines := even(label, n, mostLetters); len(lines) == n && !slices.Equal(lines, ways[0].lines) {
			ways = append(ways, measured(lines))
		}
	}
	return ways
}

// insides returns labels that fit into their circles, if at least half of them do.
func (c *chart) insides(radius, smallest vg.Length) (inside map[int]wrapped, size vg.Length) {
	best := map[int]vg.Length{}
	shown := 0
	size = insideMost
	for i, ways := range c.ways {
		if !c.Shown[i] {
			continue
		}
		shown++
		for _, w := range ways {
			best[i] = max(best[i], w.fits*radius*vg.Length(c.radii[i]))
		}
		if best[i] < smallest {
			delete(best, i)
		} else {
			size = min(size, best[i])
		}
	}
	if 2*len(best) < shown {
		return nil, 0
	}
	inside = map[int]wrapped{}
	for i := range best {
		for _, w := range slices.Backward(c.ways[i]) {
			if w.fits*radius*vg.Length(c.radii[i]) >= size {
				inside[i] = w
			}
		}
	}
	return inside, size
}

type name struct {
	wrapped
	node   int
	at     vg.Point // its middle
	size   vg.Length
	inside bool    // the circle
	cost   float64 // of the place
}

func (n name) box() vg.Rectangle {
	half := vg.Point{X: n.width * n.size / 2, Y: n.height * n.size / 2}
	return vg.Rectangle{Min: n.at.Sub(half), Max: n.at.Add(half)}
}

func (n name) draw(paper draw.Canvas) {
	style := sans(n.size)
	style.XAlign, style.YAlign = draw.XCenter, middle
	if !n.inside { // lines behind a label shine through
		paper.SetColor(color.NRGBA{0xFF, 0xFF, 0xFF, 0xC0})
		paper.Fill(n.box().Path())
	}
	for k, line := range n.lines {
		up := (vg.Length(len(n.lines)-1)/2 - vg.Length(k)) * linePitch * n.size
		paper.FillText(style, n.at.Add(vg.Point{Y: up}), line)
	}
}

// sides are places beside a circle, in radii and half sizes of the label, preferred first.
var sides = []struct{ radiusX, radiusY, width, height float64 }{
	{0, -1, 0, -1}, {0, 1, 0, 1}, {1, 0, 1, 0}, {-1, 0, -1, 0},
	{0, -1, 0.6, -1}, {0, -1, -0.6, -1}, {0, 1, 0.6, 1}, {0, 1, -0.6, 1},
	{0.71, -0.71, 1, -1}, {-0.71, -0.71, -1, -1}, {0.71, 0.71, 1, 1}, {-0.71, 0.71, -1, 1},
}

const rings = 2 // of sides, the second one further off

const upright = 2

func (c *chart) beside(g placed, i int, label wrapped, side int) name {
	n, s := name{wrapped: label, node: i, size: g.font}, sides[side%len(sides)]
	r, gap := float64(g.radius[i]), (0.3+0.9*float64(side/len(sides)))*float64(g.font)
	n.at = g.at[i].Add(vg.Point{
		X: vg.Length(s.radiusX*(r+gap) + s.width*float64(n.width*n.size)/2),
		Y: vg.Length(s.radiusY*(r+gap) + s.height*float64(n.height*n.size)/2),
	})
	return n
}

const heavy = 20

// placeNames puts labels into their circles, else beside them at the least cost. Above mostNamed
// nodes it shows the strongest mostNames labels that find room.
func (c *chart) placeNames(paper draw.Canvas, g placed) (out []name) {
	const sweeps = 20 // over all labels, each moved to its best side
	few, nodes := len(c.Labels) <= mostNamed, c.byStrength()
	if !few {
		nodes = nodes[:min(len(nodes), mostNames)]
	}
	var options [][]name
	for _, i := range nodes {
		if label, ok := g.inside[i]; ok {
			out = append(out, name{wrapped: label, node: i, at: g.at[i], size: g.insideFont, inside: true})
		} else {
			options = append(options, c.options(paper, g, i))
		}
	}
	chosen := make([]name, len(options)) // empty at first
	for moved, sweep := true, 0; moved && sweep < sweeps; sweep++ {
		moved = false
		for k, names := range options {
			best, least := 0, math.Inf(1)
			for o, n := range names {
				if cost := n.cost + heavy*n.over(chosen, k); cost < least {
					best, least = o, cost
				}
			}
			moved = moved || chosen[k].at != names[best].at
			chosen[k] = names[best]
		}
	}
	var taken []name
	for _, n := range chosen {
		if few || n.over(taken, -1) == 0 && c.discsUnder(g, n) == 0 {
			taken = append(taken, n)
		}
	}
	return append(out, taken...)
}

func (c *chart) options(paper draw.Canvas, g placed, i int) (out []name) {
	for way, label := range c.ways[i] {
		for side := range rings * len(sides) {
			n := c.beside(g, i, label, side)
			b := n.box()
			onPaper := b.Min.X >= paper.Min.X && b.Max.X <= paper.Max.X && b.Min.Y >= paper.Min.Y && b.Max.Y <= paper.Max.Y
			if onPaper || way == 0 && side < upright {
				n.cost = c.covered(g, n) + 0.5*float64(side) + 2*float64(way) + 6*float64(side/len(sides))
				out = append(out, n)
			}
		}
	}
	return out
}

func (n name) over(others []name, out int) (area float64) {
	for j, other := range others {
		if j != out {
			area += overlap(n.box(), other.box())
		}
	}
	return area
}

// covered is the cost of the circles and edges under a label.
func (c *chart) covered(g placed, n name) float64 {
	const line = 1.5 // points that a thin line is wide to the eye
	cost := heavy * c.discsUnder(g, n)
	box := n.box()
	for _, l := range c.drawn() {
		wide, coloured := c.limits.share(math.Abs(l.pcor))
		cost += line * (0.3 + 0.7*coloured + 2*wide) * within(box, g.at[l.ends[0]], g.at[l.ends[1]])
	}
	return cost
}

func (c *chart) discsUnder(g placed, n name) (area float64) {
	box := n.box()
	for i, at := range g.at {
		near := vg.Point{X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}.Sub(at) // to the box
		if r := g.radius[i]; c.Shown[i] && near.X*near.X+near.Y*near.Y < r*r {
			area += overlap(box, vg.Rectangle{Min: at.Sub(vg.Point{X: r, Y: r}), Max: at.Add(vg.Point{X: r, Y: r})})
		}
	}
	return area
}

func overlap(a, b vg.Rectangle) float64 {
	return float64(max(0, min(a.Max.X, b.Max.X)-max(a.Min.X, b.Min.X)) * max(0, min(a.Max.Y, b.Max.Y)-max(a.Min.Y, b.Min.Y)))
}

func within(box vg.Rectangle, a, b vg.Point) float64 {
	from, to := 0.0, 1.0
	d := b.Sub(a)
	for _, edge := range [][2]vg.Length{{-d.X, a.X - box.Min.X}, {d.X, box.Max.X - a.X}, {-d.Y, a.Y - box.Min.Y}, {d.Y, box.Max.Y - a.Y}} {
		p, q := float64(edge[0]), float64(edge[1])
		switch {
		case p < 0:
			from = max(from, q/p)
		case p > 0:
			to = min(to, q/p)
		case q < 0:
			return 0
		}
	}
	return max(0, to-from) * math.Hypot(float64(d.X), float64(d.Y))
}
