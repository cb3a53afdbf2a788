package network

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"missingscore/internal/printable"
)

// Uncertainty is what is known of the partial correlation of a pair beside its size in the
// network. NaN stands for what a kind of inference does not tell.
type Uncertainty struct {
	Estimate  float64 // of the partial correlation, made for inference: without the penalty's shrinkage and for every pair
	SE        float64 // standard error of Estimate
	Low, High float64 // confidence interval
	P         float64 // two-sided p value of "no edge"
	Q         float64 // P corrected for the number of pairs: the smallest false discovery rate at which the pair is an edge
	Inclusion float64 // share of resamples whose network has the edge
	SameSign  float64 // share of those resamples, by which the sign is that of Estimate
	Rows      int     // of the table, that show both columns
}

// Unknown is an Uncertainty of which nothing is known but the rows.
func Unknown(rows int) Uncertainty {
	n := math.NaN()
	return Uncertainty{n, n, n, n, n, n, n, n, rows}
}

// nominal says whether a node has levels without an order.
func (n *Network) nominal(j int) bool { return n.Levels != nil && len(n.Levels[j]) > 2 }

// SetUncertainty tells of every pair what is known of it: pairs j < k in column order, (0,1), (0,2), …, as
// Adjacency has them. p is the precision that New had. Pairs with a nominal node have no sign.
func (n *Network) SetUncertainty(p Precision, pairs []Uncertainty) {
	n.Pairs = make([]Edge, 0, len(pairs))
	for j, from := range n.Nodes {
		for k := j + 1; k < len(n.Nodes); k++ {
			u, unsigned := &pairs[len(n.Pairs)], n.nominal(j) || n.nominal(k)
			if unsigned {
				u.SameSign = math.NaN()
			}
			n.Pairs = append(n.Pairs, Edge{From: from, To: n.Nodes[k], Precision: p.At(j, k), PartialCorrelation: PartialCorrelation(p, j, k), Uncertainty: u, Unsigned: unsigned})
		}
	}
	for i, at := range n.pairsOfEdges() {
		n.Edges[i].Uncertainty = n.Pairs[at].Uncertainty
	}
}

// TakeEstimates gives edges the partial correlations of estimates made for inference, of
// pairs j < k in column order, and sorts them again; those without one keep what they have.
func (n *Network) TakeEstimates(pairs []Uncertainty) {
	for i, at := range n.pairsOfEdges() {
		if v := pairs[at].Estimate; !math.IsNaN(v) {
			n.Edges[i].PartialCorrelation = v
		}
	}
	n.sort()
}

// pairsOfEdges is each edge's place among all pairs in column order.
func (n *Network) pairsOfEdges() (pairs []int) {
	at, _ := places(n.Nodes) // New has checked the names
	for _, e := range n.Edges {
		pairs = append(pairs, pairAt(len(n.Nodes), at[e.From], at[e.To]))
	}
	return pairs
}

// uncertaintyColumns are the names of what Uncertainty has, in files.
var uncertaintyColumns = []string{"estimate", "se", "low", "high", "p", "q", "inclusion", "same_sign", "pairs"}

// record is the line of uncertaintyColumns; what is not known is empty.
func (u *Uncertainty) record() []string {
	var out []string
	for _, x := range []float64{u.Estimate, u.SE, u.Low, u.High, u.P, u.Q, u.Inclusion, u.SameSign} {
		if math.IsNaN(x) {
			out = append(out, "")
			continue
		}
		out = append(out, number(x))
	}
	return append(out, strconv.Itoa(u.Rows))
}

// known are name and value of those of uncertaintyColumns that are known; none of nil.
func (u *Uncertainty) known() (out [][2]string) {
	if u == nil {
		return nil
	}
	for i, value := range u.record() {
		if value != "" {
			out = append(out, [2]string{uncertaintyColumns[i], value})
		}
	}
	return out
}

// WritePairs writes the columns of WriteEdges for every pair, in column order. Weight, partial correlation and
// precision of a pair without an edge are those of the fit, 0 where it holds them there.
func (n *Network) WritePairs(w io.Writer) error { return writeEdges(w, n.Pairs, true) }

func writeEdges(w io.Writer, edges []Edge, uncertain bool) error {
	c := csv.NewWriter(w)
	header := []string{"from", "to", "weight", "partial_correlation", "precision"}
	if uncertain {
		header = append(header, uncertaintyColumns...)
	}
	c.Write(header)
	for _, e := range edges {
		line := []string{printable.Text(e.From), printable.Text(e.To), number(e.Weight()), number(e.PartialCorrelation), number(e.Precision)}
		if uncertain {
			line = append(line, e.Uncertainty.record()...)
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// WriteEdges writes CSV with the columns from, to, weight, partial_correlation and
// precision, one edge a line in the order of Edges, numbers in the shortest form that reads
// back to the same value. Where uncertainty is told, the columns estimate, se, low, high,
// p, q, inclusion, same_sign and pairs follow (Uncertainty), empty where nothing is known.
func (n *Network) WriteEdges(w io.Writer) error { return writeEdges(w, n.Edges, n.Pairs != nil) }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
