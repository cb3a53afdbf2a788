package graph

// Σ_ikj c_ij w_ik x_ikj over rows i, draws k < r and columns j has three partial sums. The reverse
// rules of one are the other two. Shapes: c (n, m), w (n·r, 1), x (n·r, m).

// GroupMean is Σ_k w_ik x_ikj: w (n·r, 1), x (n·r, m) to (n, m).
func GroupMean(b *Builder, w, x Node, r int) Node {
	rows, m := shape(x)
	n := rows / r
	need(b, "group mean", x, n*r, m)
	need(b, "group mean", w, n*r, 1)
	if k, ok := b.equal[w]; ok {
		if r > 1 {
			x = b.GroupSum(x, r)
		}
		return multiple(b, k, x)
	}
	return b.Apply(Op{Name: "groupmean", Rows: n, Cols: m,
		tangents: func(s *sweep, in []tangents) tangents {
			return s.through(b.GroupSum(b.Prod(b.Columns(w, m), x), r), []Node{w, x}, in)
		},
		Kernel:  groupMean[float64](m, r),
		Single:  groupMean[float32](m, r),
		Reverse: func(_, g Node) []Node { return []Node{b.GroupDot(g, x, r), GroupOuter(b, g, w, r)} }}, w, x)
}

// GroupDot is Σ_j c_ij x_ikj: c (n, m), x (n·r, m) to (n·r, 1).
func (b *Builder) GroupDot(c, x Node, r int) Node {
	n, m := shape(c)
	need(b, "group dot", x, n*r, m)
	return b.Apply(Op{Name: "groupdot", Rows: n * r, Cols: 1,
		tangents: func(s *sweep, in []tangents) tangents {
			return s.through(b.RowSum(b.Prod(b.GroupRepeat(c, r), x)), []Node{c, x}, in)
		},
		Kernel:  groupDot[float64](m, r),
		Single:  groupDot[float32](m, r),
		Reverse: func(_, g Node) []Node { return []Node{GroupMean(b, g, x, r), GroupOuter(b, c, g, r)} }}, c, x)
}

// GroupOuter is c_ij w_ik: c (n, m), w (n·r, 1) to (n·r, m).
func GroupOuter(b *Builder, c, w Node, r int) Node {
	n, m := shape(c)
	need(b, "group outer", w, n*r, 1)
	if k, ok := b.equal[w]; ok {
		return multiple(b, k, b.GroupRepeat(c, r))
	}
	return b.Apply(Op{Name: "groupouter", Rows: n * r, Cols: m,
		tangents: func(s *sweep, in []tangents) tangents {
			return s.through(b.Prod(b.GroupRepeat(c, r), b.Columns(w, m)), []Node{c, w}, in)
		},
		Kernel:  groupOuter[float64](m, r),
		Single:  groupOuter[float32](m, r),
		Reverse: func(_, g Node) []Node { return []Node{GroupMean(b, w, g, r), b.GroupDot(c, g, r)} }}, c, w)
}

// GroupSquares is Σ_j c_ij x_ikj²: c (n, m), x (n·r, m) to (n·r, 1).
func GroupSquares(b *Builder, c, x Node, r int) Node { return b.GroupDot(c, b.Map(Square, x), r) }

// RowDot is Σ_j x_ij y_ij: (n, d) and (n, d) to (n, 1).
func (b *Builder) RowDot(x, y Node) Node { return b.GroupDot(x, y, 1) }

func groupMean[T Float](m, r int) Kernel[T] {
	return func(out []T, in [][]T) error {
		clear(out)
		for w, x := in[0], in[1]; len(w) > 0; out, w, x = out[m:], w[r:], x[r*m:] {
			sum := out[:m]
			for k, weight := range w[:r] {
				for i, v := range x[k*m : k*m+m] {
					sum[i] += weight * v
				}
			}
		}
		return nil
	}
}

func groupDot[T Float](m, r int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for c, x := in[0], in[1]; len(out) > 0; out, c, x = out[r:], c[m:], x[r*m:] {
			for k := range out[:r] {
				var sum T
				row := x[k*m : k*m+m]
				for i, v := range c[:m] {
					sum += v * row[i]
				}
				out[k] = sum
			}
		}
		return nil
	}
}

func groupOuter[T Float](m, r int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for c, w := in[0], in[1]; len(w) > 0; out, c, w = out[r*m:], c[m:], w[r:] {
			for k, weight := range w[:r] {
				row := out[k*m : k*m+m]
				for i, v := range c[:m] {
					row[i] = weight * v
				}
			}
		}
		return nil
	}
}
