package report

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/spatial/r2"

	"missingscore/cmd/picture"
	"missingscore/internal/data/network"
	"missingscore/internal/printable"
	"missingscore/trainers"
)

// explorer is the interactive picture and the data of its program (page/data.js).
type explorer struct {
	Theme template.CSS `json:"-"` // colours of edges; "" for the page's own

	Compare bool            `json:"compare"`
	Nodes   []string        `json:"nodes"`
	Labels  []string        `json:"labels"` // cut
	Lines   [][]string      `json:"lines"`  // labels, broken
	X       column          `json:"x"`
	Y       column          `json:"y"` // pointing down
	Shown   []bool          `json:"shown"`
	Group   []int           `json:"group"`
	Groups  []explorerGroup `json:"groups"`
	Panels  []string        `json:"panels"`          // titles, empty for none
	Radii   [][]float64     `json:"radii,omitempty"` // of nodes in each panel, at most 1; nil: all 1

	From      []int    `json:"from"`
	To        []int    `json:"to"`
	Values    []column `json:"values"`             // of each panel, 0 for no edge
	Estimate  column   `json:"estimate,omitempty"` // of Compare the difference
	Low       column   `json:"low,omitempty"`
	High      column   `json:"high,omitempty"`
	P         column   `json:"p,omitempty"`
	Q         column   `json:"q,omitempty"`
	Inclusion column   `json:"inclusion,omitempty"`
	Level     float64  `json:"level"`              // of the intervals, in percent
	Unsigned  []bool   `json:"unsigned,omitempty"` // values have no sign
	Levels    []string `json:"levels,omitempty"`   // which levels go together, in words; "" for none

	Lambdas column  `json:"lambdas"`
	Chosen  int     `json:"chosen"` // of Lambdas
	Path    [][]int `json:"path"`   // of each pair: the first λ at which it is an edge, then thousandths from there

	Found     bool           `json:"-"` // the groups are modules
	Left      string         `json:"-"` // says what is not drawn
	More      string         `json:"-"` // says which levels positive edges have more of
	Along     string         `json:"-"` // says what the path is
	Sizes     string         `json:"-"` // the column of centrality.csv that Radii are by
	Note      string         `json:"-"` // says what the intervals are; "" without edges
	EdgesNote string         `json:"-"`
	at        map[[2]int]int // pairs
}

type explorerGroup struct {
	Name   string `json:"name"`
	Colour string `json:"colour"`
}

// mostPairs limits the pairs that a browser draws.
const mostPairs = 5000

func newExplorer(names []string, s *picture.Scene, panels ...string) *explorer {
	x := &explorer{Nodes: printable.Texts(names), Shown: s.Shown, Group: s.Group, Found: s.Found, Panels: printable.Texts(panels), Lambdas: column{}, Theme: template.CSS(s.Theme.Variables()), at: map[[2]int]int{}}
	for _, label := range s.Labels {
		x.Labels, x.Lines = append(x.Labels, picture.Short(label, 24)), append(x.Lines, picture.Wrap(label))
	}
	left, top := math.Inf(1), math.Inf(-1)
	for i, at := range s.Places {
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
	switch {
	case hidden == 0:
	case hidden == len(names):
		x.Left = "There are no edges to draw."
	case s.Weaker > 0:
		x.Left = fmt.Sprintf("The picture shows the nodes of the %d strongest edges and hides %d other nodes.", picture.MostLinks, hidden)
	default:
		x.Left = fmt.Sprintf("%d nodes without an edge are not drawn.", hidden)
	}
	for _, g := range s.Groups {
		x.Groups = append(x.Groups, explorerGroup{g.Name, s.Theme.Hex(g.Colour)})
	}
	for range panels {
		x.Values = append(x.Values, column{})
	}
	return x
}

// add adds a pair, unless it is known, and returns its index.
func (x *explorer) add(ends [2]int, u *network.Uncertainty, values ...float64) int {
	if i, ok := x.at[ends]; ok {
		return i
	}
	i := len(x.From)
	x.at[ends] = i
	x.From, x.To = append(x.From, ends[0]), append(x.To, ends[1])
	for panel, v := range values {
		x.Values[panel] = append(x.Values[panel], v)
	}
	if u == nil {
		none := network.Unknown(0)
		u = &none
	}
	of := x.uncertain()
	for k, v := range []float64{u.Estimate, u.Low, u.High, u.P, u.Q, u.Inclusion} {
		*of[k] = append(*of[k], v)
	}
	return i
}

func (x *explorer) uncertain() []*column {
	return []*column{&x.Estimate, &x.Low, &x.High, &x.P, &x.Q, &x.Inclusion}
}

// size sets the radii of nodes by a column of centrality.csv; nil for all alike.
func (x *explorer) size(column string, panels ...[]float64) {
	if panels[0] == nil {
		return
	}
	x.Sizes = strings.ReplaceAll(column, "_", " ")
	for _, sizes := range panels {
		x.Radii = append(x.Radii, picture.Radii(sizes, len(x.Nodes)))
	}
}

// finish drops columns without a number, and Unsigned if all pairs have a sign.
func (x *explorer) finish() {
	for _, c := range x.uncertain() {
		if !slices.ContainsFunc(*c, func(v float64) bool { return !math.IsNaN(v) }) {
			*c = nil
		}
	}
	if !slices.Contains(x.Unsigned, true) {
		x.Unsigned = nil
	}
}

func (x *explorer) LastLambda() int { return len(x.Lambdas) - 1 }

// Crowds are the choices for the number of edges to draw; nil if all can be drawn.
func (x *explorer) Crowds() []int {
	if len(x.From) <= picture.MostLinks {
		return nil
	}
	return []int{picture.MostLinks, 500, 200, 100}
}

func (x *explorer) Rates() []float64 { return []float64{0.2, 0.1, 0.05, 0.01, 0.001} }

// column is numbers in JSON with six digits, null for NaN.
type column []float64

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

const mostValues = 120_000

// explore takes edges and the strongest pairs of the path, up to mostPairs.
func explore(r *trainers.NetworkResult, s *picture.Scene, level float64) *explorer {
	x := newExplorer(r.Names, s, "")
	x.Level = math.Round(1000*level) / 10
	for _, e := range r.Network.Edges[:min(len(r.Network.Edges), mostPairs)] {
		x.add(e.Ends, e.Uncertainty, e.PartialCorrelation)
	}
	if more := len(r.Network.Edges) - mostPairs; more > 0 {
		x.Left += fmt.Sprintf(" The page has the %d strongest edges; %d more are in edges.csv.", mostPairs, more)
	}
	known := map[[2]int]*network.Uncertainty{}
	for _, e := range r.Network.Pairs {
		known[e.Ends] = e.Uncertainty
	}
	for _, pair := range alongPath(r) {
		if len(x.From) == mostPairs {
			break
		}
		x.add(pair, known[pair], 0)
	}
	x.takePath(r)
	x.takeLevels(r.Network)
	x.More = picture.LevelsText(r.Network)
	x.finish()
	return x
}

const mostLevels = 6

// takeLevels adds which levels go together and which pairs have no sign.
func (x *explorer) takeLevels(n *network.Network) {
	if n.Levels == nil {
		return
	}
	x.Unsigned, x.Levels = make([]bool, len(x.From)), make([]string, len(x.From))
	for i, from := range x.From {
		x.Unsigned[i] = len(n.Levels[from]) > 2 || len(n.Levels[x.To[i]]) > 2
	}
	for _, e := range n.Edges {
		i, there := x.at[e.Ends]
		if !there || e.Together == nil {
			continue
		}
		pairs := slices.Clone(e.Together)
		slices.SortStableFunc(pairs, func(a, b network.LevelPair) int {
			return cmp.Compare(math.Abs(b.Association), math.Abs(a.Association))
		})
		var words []string
		for _, p := range pairs[:min(len(pairs), mostLevels)] {
			ends := printable.Text(cmp.Or(p.From, "more "+e.From)) + " with " + printable.Text(cmp.Or(p.To, "more "+e.To))
			words = append(words, ends+" "+strings.ReplaceAll(fmt.Sprintf("%+.2f", p.Association), "-", "−"))
		}
		x.Levels[i] = strings.Join(words, ", ")
	}
}

// alongPath are the pairs that are an edge anywhere on the path, the largest first.
func alongPath(r *trainers.NetworkResult) [][2]int {
	largest := map[[2]int]float64{}
	for _, p := range r.Points {
		p.EachEdge(r.Threshold, func(j, k int) {
			pair := [2]int{j, k}
			largest[pair] = max(largest[pair], math.Abs(p.PartialCorrelation(j, k)))
		})
	}
	return slices.SortedFunc(maps.Keys(largest), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(largest[b], largest[a]), slices.Compare(a[:], b[:]))
	})
}

// takePath takes every n-th λ, so that the page has at most mostValues numbers.
func (x *explorer) takePath(r *trainers.NetworkResult) {
	if len(r.Points) < 2 {
		return
	}
	total := 0
	for _, p := range r.Points {
		total += min(p.Edges, len(x.From))
	}
	stride := 1 + total/mostValues
	x.Path = make([][]int, len(x.From))
	for i := r.Chosen % stride; i < len(r.Points); i += stride {
		if i == r.Chosen {
			x.Chosen = len(x.Lambdas)
		}
		p, place := r.Points[i], len(x.Lambdas)
		x.Lambdas = append(x.Lambdas, p.Lambda)
		p.EachEdge(r.Threshold, func(j, k int) {
			i, ok := x.at[[2]int{j, k}]
			if !ok {
				return
			}
			if x.Path[i] == nil {
				x.Path[i] = []int{place}
			}
			for len(x.Path[i]) < 1+place-x.Path[i][0] { // it left and comes again
				x.Path[i] = append(x.Path[i], 0)
			}
			x.Path[i] = append(x.Path[i], int(math.Round(1000*p.PartialCorrelation(j, k))))
		})
	}
	x.Along = "Partial correlations from the largest to the smallest λ. The dashed line marks the λ of the picture; click to change it."
	if r.Choice != "" {
		x.Along += " The network belongs to no single λ and is refitted without the penalty; the line marks the λ with the most similar network."
	} else {
		x.Along += " The penalty shrinks estimates along the path."
	}
	if stride > 1 {
		x.Along += fmt.Sprintf(" Only every %d-th λ is shown; path.csv has all.", stride)
	}
}

func (c Comparison) explore(s *picture.Scene) *explorer {
	names := c.Groups[0].Result.Network.Names
	x := newExplorer(names, s, c.Groups[0].Name, c.Groups[1].Name)
	x.Compare, x.Level = true, math.Round(1000*c.Result.Config.Level)/10
	for _, d := range c.Ranked() {
		if len(x.From) == mostPairs {
			x.Left += " differences.csv has more pairs."
			break
		}
		u := certain(d)
		if d.Weights[0] == 0 && d.Weights[1] == 0 && !(u.Q <= x.Rates()[0]) {
			continue
		}
		x.add(d.Ends, &u, d.Weights[0], d.Weights[1])
	}
	nominal := func(j int) bool {
		return slices.ContainsFunc(c.Groups[:], func(g Group) bool {
			levels := g.Result.Network.Network.Levels
			return levels != nil && len(levels[j]) > 2
		})
	}
	for i, from := range x.From {
		x.Unsigned = append(x.Unsigned, nominal(from) || nominal(x.To[i]))
	}
	x.finish()
	return x
}
