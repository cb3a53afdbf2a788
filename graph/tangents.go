package graph

import "missingscore/internal/simd"

// Derivatives along all d coordinates are stacked: the tangent of row i along
// coordinate j is row i·d+j of a matrix (n·d, h), so that one matrix product carries
// all of them through a layer.

// Stack is y_i ∘ w_j for each row of y (n, h) and each row of w (d, h), to (n·d, h).
// With y the slopes and w the weights of a network's first layer, it is the tangents
// of that layer's units.
func (b *Builder) Stack(y, w Node) Node {
	n, h := shape(y)
	d, wh := shape(w)
	if h != wh {
		b.Failf("stack: %d and %d columns", h, wh)
	}
	return b.Apply(Op{Name: "stack", Rows: n * d, Cols: h, Kernel: stack[float64](h), Single: stack[float32](h),
		Reverse: func(_, g Node) []Node {
			return []Node{
				b.Apply(Op{Name: "stack by row", Rows: n, Cols: h, Kernel: stackByRow[float64](h), Single: stackByRow[float32](h)}, w, g),
				b.Apply(Op{Name: "stack by coordinate", Rows: d, Cols: h, Kernel: stackByCoordinate[float64](h), Single: stackByCoordinate[float32](h)}, y, g),
			}
		}}, y, w)
}

// Unstack puts one number per row and coordinate into its place: (n·d, 1) to (n, d).
func (b *Builder) Unstack(x Node, d int) Node {
	n, c := shape(x)
	if c != 1 || n%d != 0 {
		b.Failf("unstack: (%d, %d) to %d columns", n, c, d)
	}
	return b.fold("unstack", x, n/d, d, 1, 1, false)
}

// StackDiagonal is element j of the tangent along coordinate j: (n·d, d) to (n, d).
func (b *Builder) StackDiagonal(x Node) Node {
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
		Reverse: func(_, g Node) []Node {
			return []Node{b.Apply(Op{Name: "stack diagonal'", Rows: n, Cols: d,
				Kernel: func(out []float64, in [][]float64) error {
					clear(out)
					for i, g := range in[0] {
						out[i*d+i%d] = g
					}
					return nil
				}}, g)}
		}}, x)
}

// GroupProd is c_i ∘ x_ik for each of the r rows k of group i: c (n, h), x (n·r, h) to (n·r, h).
func (b *Builder) GroupProd(c, x Node, r int) Node {
	n, h := b.groups("group prod", c, nil, x, r)
	return b.Apply(Op{Name: "groupprod", Rows: n * r, Cols: h, Kernel: groupProd[float64](h, r), Single: groupProd[float32](h, r),
		Reverse: func(_, g Node) []Node {
			return []Node{
				b.Apply(Op{Name: "groupprod'", Rows: n, Cols: h, Kernel: groupProdSum[float64](h, r), Single: groupProdSum[float32](h, r)}, x, g),
				b.GroupProd(c, g, r),
			}
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

// stackByRow is Σ_j w_j ∘ g_ij.
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

// stackByCoordinate is Σ_i y_i ∘ g_ij.
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

// groupProdSum is Σ_k x_ik ∘ g_ik.
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
