package graph

import "missingscore/internal/simd"

// Row i·d+j of a matrix (n·d, h) is the tangent of row i along coordinate j, so that one matrix
// product per layer suffices.

// stack is y_i ∘ w_j for rows of y (n, h) and w (d, h), to (n·d, h).
func stack(b *Builder, y, w Node) Node {
	n, h := shape(y)
	d, wh := shape(w)
	if h != wh {
		b.Failf("stack: %d and %d columns", h, wh)
	}
	if c, ok := b.equal[y]; ok {
		return Tile(b, multiple(b, c, w), n)
	}
	return b.Apply(Op{Name: "stack", Rows: n * d, Cols: h, Kernel: stackLoop[float64](h), Single: stackLoop[float32](h),
		Reverse: func(_, g Node) []Node {
			return []Node{stackByRow(b, w, g), stackByCoordinate(b, y, g)}
		}}, y, w)
}

// stackByRow is Σ_j w_j ∘ g_ij, (n, h).
func stackByRow(b *Builder, w, g Node) Node {
	d, h := shape(w)
	rows, _ := shape(g)
	return b.Apply(Op{Name: "stack by row", Rows: rows / d, Cols: h, Kernel: stackByRowLoop[float64](h), Single: stackByRowLoop[float32](h),
		Reverse: func(_, v Node) []Node { return []Node{stackByCoordinate(b, v, g), stack(b, v, w)} }}, w, g)
}

// stackByCoordinate is Σ_i y_i ∘ g_ij, (d, h).
func stackByCoordinate(b *Builder, y, g Node) Node {
	n, h := shape(y)
	rows, _ := shape(g)
	return b.Apply(Op{Name: "stack by coordinate", Rows: rows / n, Cols: h, Kernel: stackByCoordinateLoop[float64](h), Single: stackByCoordinateLoop[float32](h),
		Reverse: func(_, v Node) []Node { return []Node{stackByRow(b, v, g), stack(b, y, v)} }}, y, g)
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

// groupProd is c_i ∘ x_ik for each of the r rows k of group i: c (n, h), x (n·r, h) to (n·r, h).
func groupProd(b *Builder, c, x Node, r int) Node {
	n, h := groups(b, "group prod", c, nil, x, r)
	if k, ok := b.equal[c]; ok {
		return multiple(b, k, x)
	}
	return b.Apply(Op{Name: "groupprod", Rows: n * r, Cols: h, Kernel: groupProdLoop[float64](h, r), Single: groupProdLoop[float32](h, r),
		Reverse: func(_, g Node) []Node {
			return []Node{
				b.Apply(Op{Name: "groupprod'", Rows: n, Cols: h, Kernel: groupProdSum[float64](h, r), Single: groupProdSum[float32](h, r),
					Reverse: func(_, v Node) []Node { return []Node{groupProd(b, v, g, r), groupProd(b, v, x, r)} }}, x, g),
				groupProd(b, c, g, r),
			}
		},
		tangents: func(s *sweep, in []tangents) tangents {
			return s.through(b.Prod(b.GroupRepeat(c, r), x), []Node{c, x}, in)
		}}, c, x)
}

func stackLoop[T Float](h int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for y := in[0]; len(y) > 0; y = y[h:] {
			for w := in[1]; len(w) > 0; w, out = w[h:], out[h:] {
				simd.Mul(out[:h], y[:h], w[:h])
			}
		}
		return nil
	}
}

func stackByRowLoop[T Float](h int) Kernel[T] {
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

func stackByCoordinateLoop[T Float](h int) Kernel[T] {
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

func groupProdLoop[T Float](h, r int) Kernel[T] {
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
