package network

import (
	"io"
	"strconv"
)

// WriteEdges writes CSV with the columns from, to, weight, partial_correlation and
// precision, one edge a line in the order of Edges, numbers in the shortest form that reads
// back to the same value. Where uncertainty is told, the columns estimate, se, low, high,
// p, q, inclusion, same_sign and pairs follow (Uncertainty), empty where nothing is known.
func (n *Network) WriteEdges(w io.Writer) error { return writeEdges(w, n.Edges, n.Pairs != nil) }

// number is the shortest text that reads back to x.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
