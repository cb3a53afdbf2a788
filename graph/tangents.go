package graph

import "missingscore/internal/simd"

// Row i·d+j of a matrix (n·d, h) is the tangent of row i along coordinate j, so that one matrix
// product per layer suffices.

// stack is y_i ∘ w_j for rows of y (n, h) and w (d, h), to (n·d, h).
func (b *Builder) stack(y, w Node) Node {
	n, h := shape(y)
	d, wh := shape(w)
	if h != wh {
		b.Failf("stack: %d and %d columns", h, wh)
	}
	if c, ok := b.equal[y]; ok {
		return Tile(b, b.multiple(c, w), n)
	}
	return b.Apply(Op{Name: "stack", Rows: n * d, Cols: h, Kernel: stack[float64](h), Single: stack[float32](h),
		Reverse: func(_, g Node) []Node {
			return []Node{b.stackByRow(w, g), b.stackByCoordinate(y, g)}
		}}, y, w)
}

// stackByRow is Σ_j w_j ∘ g_ij, (n, h).
func (b *Builder) stackByRow(w, g Node) Node {
	d, h := shape(w)
	rows, _ := shape(g)
	return b.Apply(Op{Name: "stack by row", Rows: rows / d, Cols: h, Kernel: stackByRow[float64](h), Single: stackByRow[float32](h),
		Reverse: func(_, v Node) []Node { return []Node{b.stackByCoordinate(v, g), b.stack(v, w)} }}, w, g)
}

// stackByCoordinate is Σ_i y_i ∘ g_ij, (d, h).
func (b *Builder) stackByCoordinate(y, g Node) Node {
	n, h := shape(y)
	rows, _ := shape(g)
	return b.Apply(Op{Name: "stack by coordinate", Rows: rows / n, Cols: h, Kernel: stackByCoordinate[float64](h), Single: stackByCoordinate[float32](h),
		Reverse: func(_, v Node) []Node { return []Node{b.stackByRow(v, g), b.stack(y, v)} }}, y, g)
}

// stackDiagonal is element j of the tangent along coordinate j: (n·d, d) to (n, d).
func (b *Builder) stackDiagonal(x Node) Node {
	n, d := shape(x)
	if n%d != 0 {
		b.Failf("stack diagonal: %d rows of %d columns", n, d)
	}
	return b.Apply(Op{Name: "stack diagonal", Rows: n / d, Cols: d,
		Kernel: func(out []float64, in [][]float64) error {
			for i := range out {
				out[i] = in[0][i*d+i%d]
			}
			return nil
		},
		Reverse: func(_, g Node) []Node { return []Node{b.spreadDiagonal(g)} }}, x)
}

// spreadDiagonal writes y_ij (n, d) to element j of row i·d+j of (n·d, d), 0 elsewhere.
func (b *Builder) spreadDiagonal(y Node) Node {
	n, d := shape(y)
	return b.Apply(Op{Name: "spread diagonal", Rows: n * d, Cols: d,
		Kernel: func(out []float64, in [][]float64) error {
			clear(out)
			for i, v := range in[0] {
				out[i*d+i%d] = v
			}
			return nil
		},
		Reverse: func(_, g Node) []Node { return []Node{b.stackDiagonal(g)} }}, y)
}

// groupProd is c_i ∘ x_ik for each of the r rows k of group i: c (n, h), x (n·r, h) to (n·r, h).
func (b *Builder) groupProd(c, x Node, r int) Node {
	n, h := b.groups("group prod", c, nil, x, r)
	if k, ok := b.equal[c]; ok {
		return b.multiple(k, x)
	}
	return b.Apply(Op{Name: "groupprod", Rows: n * r, Cols: h, Kernel: groupProd[float64](h, r), Single: groupProd[float32](h, r),
		Reverse: func(_, g Node) []Node {
			return []Node{
				b.Apply(Op{Name: "groupprod'", Rows: n, Cols: h, Kernel: groupProdSum[float64](h, r), Single: groupProdSum[float32](h, r),
					Reverse: func(_, v Node) []Node { return []Node{b.groupProd(v, g, r), b.groupProd(v, x, r)} }}, x, g),
				b.groupProd(c, g, r),
			}
		},
		tangents: func(s *sweep, in []tangents) tangents {
			return s.through(b.Prod(b.GroupRepeat(c, r), x), []Node{c, x}, in)
		}}, c, x)
}

func stack[T Float](h int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for y := in[0]; len(y) > 0; y = y[h:] {
			for w := in[1]; len(w) > 0; w, out = w[h:], out[h:] {
				simd.Mul(out[:h], y[:h], w[:h])
			}
		}
		return nil
	}
}

func stackByRow[T Float](h int) Kernel[T] {
	return func(out []T, in [][]T) error {
		clear(out)
		for g := in[1]; len(g) > 0; out = out[h:] {
			for w := in[0]; len(w) > 0; w, g = w[h:], g[h:] {
				addProd(out[:h], w[:h], g[:h])
			}
		}
		return nil
	}
}

func stackByCoordinate[T Float](h int) Kernel[T] {
	return func(out []T, in [][]T) error {
		clear(out)
		g := in[1]
		for y := in[0]; len(y) > 0; y = y[h:] {
			for o := out; len(o) > 0; o, g = o[h:], g[h:] {
				addProd(o[:h], y[:h], g[:h])
			}
		}
		return nil
	}
}

func groupProd[T Float](h, r int) Kernel[T] {
	return func(out []T, in [][]T) error {
		x := in[1]
		for c := in[0]; len(c) > 0; c = c[h:] {
			for range r {
				simd.Mul(out[:h], c[:h], x[:h])
				out, x = out[h:], x[h:]
			}
		}
		return nil
	}
}

func groupProdSum[T Float](h, r int) Kernel[T] {
	return func(out []T, in [][]T) error {
		clear(out)
		x, g := in[0], in[1]
		for ; len(out) > 0; out = out[h:] {
			for range r {
				addProd(out[:h], x[:h], g[:h])
				x, g = x[h:], g[h:]
			}
		}
		return nil
	}
}

func addProd[T Float](out, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	for i := range out {
		out[i] += x[i] * y[i]
	}
}
