package graph

// ConcatColumns is the two matrices side by side: (n, c) and (n, k) to (n, c+k).
func (b *Builder) ConcatColumns(x, y Node) Node {
	n, c := shape(x)
	m, k := shape(y)
	if n != m {
		b.Failf("concat columns: %d and %d rows", n, m)
	}
	return b.Apply(Op{Name: "concatcolumns", Rows: n, Cols: c + k,
		Kernel: func(out []float64, in [][]float64) error {
			for i := range n {
				copy(out[i*(c+k):], in[0][i*c:i*c+c])
				copy(out[i*(c+k)+c:], in[1][i*k:i*k+k])
			}
			return nil
		},
		Reverse: func(_, g Node) []Node {
			return []Node{b.between(g, 0, c), b.between(g, c, c+k)}
		}}, x, y)
}

// between is the columns from, …, to−1 of x.
func (b *Builder) between(x Node, from, to int) Node {
	n, d := shape(x)
	return b.Apply(Op{Name: "between", Rows: n, Cols: to - from,
		Kernel: func(out []float64, in [][]float64) error {
			for i := range n {
				copy(out[i*(to-from):(i+1)*(to-from)], in[0][i*d+from:])
			}
			return nil
		}}, x)
}
