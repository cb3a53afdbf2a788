package graph

// Row i·d+j of a matrix (n·d, h) is the tangent of row i along coordinate j, so that one matrix
// product per layer suffices.

// stack is y_i ∘ w_j for rows of y (n, h) and w (d, h), to (n·d, h).
func stack(b *Builder, y, w Node) Node {
	n, _ := shape(y)
	return groupProd(b, y, Tile(b, w, n))
}

// groupProd is c_i ∘ x_ik for each of the rows k of group i: c (n, h), x (n·r, h) to (n·r, h).
func groupProd(b *Builder, c, x Node) Node {
	n, h := shape(c)
	rows, _ := shape(x)
	if k, ok := b.equal[c]; ok {
		return multiple(b, k, x)
	}
	return b.Prod(fold(b, "grouprepeat", c, rows, h, h, rows/n, true, nil), x)
}

// DiagonalOf is the diagonal of each of n matrices (d, d), one below the other: (n·d, d) to (n, d).
func DiagonalOf(b *Builder, x Node) Node {
	n, d := shape(x)
	if n%d != 0 {
		b.Failf("diagonal: %d rows of %d columns", n, d)
	}
	return b.Apply(Op{Name: "diagonal", Rows: n / d, Cols: d,
		Kernel: func(out []float64, in [][]float64) error {
			for i := range out {
				out[i] = in[0][i*d+i%d]
			}
			return nil
		},
		Reverse: func(_, g Node) []Node { return []Node{spreadDiagonal(b, g)} }}, x)
}

// spreadDiagonal writes y_ij (n, d) to element j of row i·d+j of (n·d, d), 0 elsewhere.
func spreadDiagonal(b *Builder, y Node) Node {
	n, d := shape(y)
	return b.Apply(Op{Name: "spread diagonal", Rows: n * d, Cols: d,
		Kernel: func(out []float64, in [][]float64) error {
			clear(out)
			for i, v := range in[0] {
				out[i*d+i%d] = v
			}
			return nil
		},
		Reverse: func(_, g Node) []Node { return []Node{DiagonalOf(b, g)} }}, y)
}
