package network

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/internal/printable"
)

// Uncertainty of the partial correlation of a pair; NaN if the inference does not provide a value.
type Uncertainty struct {
	Estimate  float64 // of the partial correlation: unpenalised, for every pair
	SE        float64 // standard error of Estimate
	Low, High float64 // confidence interval
	P         float64 // two-sided p value of "no edge"
	Q         float64 // P corrected for the number of pairs: the smallest false discovery rate at which the pair is an edge
	Inclusion float64 // share of resamples whose network has the edge
	SameSign  float64 // share of those resamples with the sign of Estimate
	Rows      int     // of the table that have both columns
}

// Unknown returns an Uncertainty with NaN values except the rows.
func Unknown(rows int) Uncertainty {
	n := math.NaN()
	return Uncertainty{n, n, n, n, n, n, n, n, rows}
}

func (n *Network) nominal(j int) bool { return n.Levels != nil && len(n.Levels[j]) > 2 }

// SetUncertainty sets the uncertainty of every pair, in the order of Adjacency, and of the edges. p
// is the precision given to New. Pairs with a nominal node have no sign.
func (n *Network) SetUncertainty(p mat.Symmetric, pairs []Uncertainty) {
	n.Pairs = make([]Edge, 0, len(pairs))
	for j := range n.Nodes {
		for k := j + 1; k < len(n.Nodes); k++ {
			u, unsigned := &pairs[len(n.Pairs)], n.nominal(j) || n.nominal(k)
			if unsigned {
				u.SameSign = math.NaN()
			}
			e := n.Edge(j, k, p.At(j, k), PartialCorrelation(p, j, k))
			e.Uncertainty, e.Unsigned = u, unsigned
			n.Pairs = append(n.Pairs, e)
		}
	}
	for i, at := range n.PairsOfEdges() {
		n.Edges[i].Uncertainty = n.Pairs[at].Uncertainty
	}
}

// TakeEstimates replaces the edges' partial correlations by the estimates of inference, in the
// order of Adjacency, and sorts again; edges without an estimate stay.
func (n *Network) TakeEstimates(pairs []Uncertainty) {
	for i, at := range n.PairsOfEdges() {
		if v := pairs[at].Estimate; !math.IsNaN(v) {
			n.Edges[i].PartialCorrelation = v
		}
	}
	n.sort()
}

// attribute is a value of an edge in files: text, a count, or a number, NaN if unknown.
type attribute struct {
	name  string
	value any
}

func (a attribute) text() string {
	if x, isNumber := a.value.(float64); !isNumber {
		return fmt.Sprint(a.value)
	} else if !math.IsNaN(x) {
		return number(x)
	}
	return ""
}

func (e Edge) attributes() []attribute {
	out := []attribute{{"weight", e.Weight()}, {"partial_correlation", e.PartialCorrelation}, {"precision", e.Precision}}
	if u := e.Uncertainty; u != nil {
		out = append(out, attribute{"estimate", u.Estimate}, attribute{"se", u.SE}, attribute{"low", u.Low}, attribute{"high", u.High},
			attribute{"p", u.P}, attribute{"q", u.Q}, attribute{"inclusion", u.Inclusion}, attribute{"same_sign", u.SameSign}, attribute{"pairs", u.Rows})
	}
	return out
}

// columns are attributes of an edge without values.
func columns(uncertain bool) []attribute {
	if uncertain {
		return Edge{Uncertainty: &Uncertainty{}}.attributes()
	}
	return Edge{}.attributes()
}

// signed are the known attributes with the sign.
func (e Edge) signed() []attribute {
	all := slices.Insert(e.attributes(), 3, attribute{"sign", e.Sign()})
	return slices.DeleteFunc(all, func(a attribute) bool { return a.name != "sign" && a.text() == "" })
}

// WritePairs writes the columns of WriteEdges for every pair, in column order.
func (n *Network) WritePairs(w io.Writer) error { return writeEdges(w, n.Pairs, true) }

func writeEdges(w io.Writer, edges []Edge, uncertain bool) error {
	lines := [][]string{{"from", "to"}}
	for _, a := range columns(uncertain) {
		lines[0] = append(lines[0], a.name)
	}
	for _, e := range edges {
		line := printable.Texts([]string{e.From, e.To})
		for _, a := range e.attributes() {
			line = append(line, a.text())
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteEdges writes CSV with the columns from, to, weight, partial_correlation and precision, and
// with inference estimate, se, low, high, p, q, inclusion, same_sign and pairs, empty if unknown.
func (n *Network) WriteEdges(w io.Writer) error { return writeEdges(w, n.Edges, n.Pairs != nil) }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
