package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/spatial/r2"

	"missingscore/cmd/picture"
	"missingscore/data/network"
	"missingscore/internal/printable"
)

// explorer is the picture that one can work with, and all that its program is told (page/data.js).
// Pairs are told by columns of equal lengths.
type explorer struct {
	File    string          `json:"file"` // what saved files are called, without their suffix
	Compare bool            `json:"compare"`
	Nodes   []string        `json:"nodes"`
	Labels  []string        `json:"labels"`
	X       column          `json:"x"`
	Y       column          `json:"y"` // pointing down
	Shown   []bool          `json:"shown"`
	Group   []int           `json:"group"`
	Groups  []explorerGroup `json:"groups"`
	Panels  []string        `json:"panels"` // titles, empty for none

	From      []int    `json:"from"`
	To        []int    `json:"to"`
	Values    []column `json:"values"`             // of each panel, 0 for no edge
	Estimate  column   `json:"estimate,omitempty"` // of Compare the difference
	Low       column   `json:"low,omitempty"`
	High      column   `json:"high,omitempty"`
	P         column   `json:"p,omitempty"`
	Q         column   `json:"q,omitempty"`
	Inclusion column   `json:"inclusion,omitempty"`
	Level     float64  `json:"level"` // of the intervals, in percent

	Lambdas column  `json:"lambdas"`
	Chosen  int     `json:"chosen"` // of Lambdas
	Path    [][]int `json:"path"`   // of each pair: the first λ at which it is an edge, then thousandths from there

	Found bool           `json:"-"` // the groups are modules
	Left  string         `json:"-"` // says what is not drawn
	Along string         `json:"-"` // says what the path is
	at    map[[2]int]int // pairs
	names map[string]int // of nodes
}

type explorerGroup struct {
	Name   string `json:"name"`
	Colour string `json:"colour"`
}

// mostPairs is how many pairs a page has, so that a browser can draw them.
const mostPairs = 5000

// newExplorer has the nodes of a scene, and no pairs yet.
func newExplorer(names []string, s *picture.Scene, panels ...string) *explorer {
	x := &explorer{Nodes: printable.Texts(names), Labels: s.Labels, Shown: s.Shown, Group: s.Group, Found: s.Found, Panels: printable.Texts(panels), Lambdas: column{}, at: map[[2]int]int{}, names: map[string]int{}}
	left, top := math.Inf(1), math.Inf(-1)
	for i, at := range s.Places {
		x.names[names[i]] = i
		if s.Shown[i] {
			left, top = min(left, at.X), max(top, at.Y)
		}
	}
	hidden := 0
	for i, at := range s.Places {
		if !s.Shown[i] {
			hidden++
			at = r2.Vec{X: left, Y: top}
		}
		x.X, x.Y = append(x.X, math.Round(1000*(at.X-left))/1000), append(x.Y, math.Round(1000*(top-at.Y))/1000)
	}
	if hidden > 0 {
		switch {
		case hidden == len(names):
			x.Left = "There are no edges, and of so many nodes none is drawn without."
		case s.Weaker > 0:
			x.Left = fmt.Sprintf("The nodes that the %d strongest edges join are drawn, at places by these; %d others are not, nor their edges.", picture.MostLinks, hidden)
		default:
			x.Left = fmt.Sprintf("%d nodes without an edge are not drawn, nor the edges that they have elsewhere on the path.", hidden)
		}
	}
	for _, g := range s.Groups {
		x.Groups = append(x.Groups, explorerGroup{g.Name, fmt.Sprintf("#%02x%02x%02x", g.Colour.R, g.Colour.G, g.Colour.B)})
	}
	for range panels {
		x.Values = append(x.Values, column{})
	}
	return x
}

// add takes a pair with what is known of it, and gives its number. It has one already where it
// was added before.
func (x *explorer) add(j, k int, u *network.Uncertainty, values ...float64) int {
	if i, ok := x.at[[2]int{j, k}]; ok {
		return i
	}
	i := len(x.From)
	x.at[[2]int{j, k}] = i
	x.From, x.To = append(x.From, j), append(x.To, k)
	for panel, v := range values {
		x.Values[panel] = append(x.Values[panel], v)
	}
	if u == nil {
		none := network.Unknown(0)
		u = &none
	}
	for _, c := range []struct {
		of *column
		is float64
	}{{&x.Estimate, u.Estimate}, {&x.Low, u.Low}, {&x.High, u.High}, {&x.P, u.P}, {&x.Q, u.Q}, {&x.Inclusion, u.Inclusion}} {
		*c.of = append(*c.of, c.is)
	}
	return i
}

// finish leaves out columns of which nothing is known.
func (x *explorer) finish() {
	for _, c := range []*column{&x.Estimate, &x.Low, &x.High, &x.P, &x.Q, &x.Inclusion} {
		if !slices.ContainsFunc(*c, func(v float64) bool { return !math.IsNaN(v) }) {
			*c = nil
		}
	}
}

// LastLambda is the number of the last λ.
func (x *explorer) LastLambda() int { return len(x.Lambdas) - 1 }

// Crowds are how many pairs can be asked for to be drawn at most, the first at the beginning; none
// where all can be drawn.
func (x *explorer) Crowds() []int {
	if len(x.From) <= picture.MostLinks {
		return nil
	}
	return []int{picture.MostLinks, 500, 200, 100}
}

// Rates are the q values that can be asked for.
func (x *explorer) Rates() []float64 { return []float64{0.2, 0.1, 0.05, 0.01, 0.001} }

// Place is the number of a pair of two names.
func (x *explorer) Place(from, to string) int {
	j, k := x.names[from], x.names[to]
	return x.at[[2]int{min(j, k), max(j, k)}]
}

// column is numbers for the page's program, with six digits and null for NaN.
type column []float64

// MarshalJSON implements json.Marshaler.
func (c column) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range c {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', 6, 64)
	}
	return append(out, ']'), nil
}
