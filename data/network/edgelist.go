package network

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteEdges writes CSV with the columns from, to, weight, partial_correlation and
// precision, one edge a line in the order of Edges, numbers in the shortest form that reads
// back to the same value.
func (n *Network) WriteEdges(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"from", "to", "weight", "partial_correlation", "precision"})
	for _, e := range n.Edges {
		c.Write([]string{e.From, e.To, number(e.Weight()), number(e.PartialCorrelation), number(e.Precision)})
	}
	c.Flush()
	return c.Error()
}

// number is the shortest text that reads back to x.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
