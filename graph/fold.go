package graph

import "missingscore/internal/simd"

// fold sums r consecutive blocks of l numbers; with up it repeats each block r times, the reverse
// rule. t is the tangent rule, nil if rows of x are mixed.
func fold(b *Builder, name string, x Node, rows, cols, l, r int, up bool, t func(*sweep, []tangents) tangents) Node {
	xr, xc := shape(x)
	if small, large := min(rows*cols, xr*xc), max(rows*cols, xr*xc); small*r != large || large%l != 0 {
		b.Failf("%s: (%d, %d) to (%d, %d) in blocks of %d × %d", name, xr, xc, rows, cols, r, l)
	}
	if c, ok := b.equal[x]; ok {
		if !up {
			c *= float64(r)
		}
		return filled(b, c, rows, cols)
	}
	return b.Apply(Op{Name: name, Rows: rows, Cols: cols, tangents: t,
		Kernel: foldBlocks[float64](l, r, up), Single: foldBlocks[float32](l, r, up),
		Reverse: func(_, g Node) []Node { return []Node{fold(b, name, g, xr, xc, l, r, !up, nil)} }}, x)
}

func foldBlocks[T Float](l, r int, up bool) Kernel[T] {
	return func(out []T, in [][]T) error {
		small, large := out, in[0]
		if up {
			small, large = large, small
		} else {
			clear(out)
		}
		for ; len(small) > 0; small, large = small[l:], large[r*l:] {
			switch {
			case l == 1 && up:
				for i := range large[:r] {
					large[i] = small[0]
				}
			case l == 1:
				var sum T
				for _, v := range large[:r] {
					sum += v
				}
				small[0] = sum
			case up:
				for k := range r {
					copy(large[k*l:(k+1)*l], small)
				}
			default:
				for k := range r {
					simd.Add(small[:l], small[:l], large[k*l:(k+1)*l])
				}
			}
		}
		return nil
	}
}

// RowSum adds up each row: (n, d) to (n, 1).
func (b *Builder) RowSum(x Node) Node {
	n, d := shape(x)
	return fold(b, "rowsum", x, n, 1, 1, d, false, func(s *sweep, in []tangents) tangents { return s.rowSum(in[0]) })
}

// ColSum adds up each column: (n, d) to (1, d).
func (b *Builder) ColSum(x Node) Node {
	n, d := shape(x)
	return fold(b, "colsum", x, 1, d, d, n, false, nil)
}

// Columns repeats a column d times: (n, 1) to (n, d).
func (b *Builder) Columns(x Node, d int) Node {
	n, _ := shape(x)
	return fold(b, "columns", x, n, d, 1, d, true, func(s *sweep, in []tangents) tangents {
		return tangents{all: b.Columns(s.all(in[0]), d)}
	})
}

// SplitRows splits each row into k consecutive rows: (n, k·m) to (n·k, m).
func SplitRows(b *Builder, x Node, k int) Node {
	n, c := shape(x)
	if c%k != 0 {
		b.Failf("split rows: %d columns in %d parts", c, k)
	}
	return fold(b, "splitrows", x, n*k, c/k, 1, 1, false, func(s *sweep, in []tangents) tangents {
		return tangents{all: swap(b, s.all(in[0]), n*k*s.d, c/k, s.d, k, c/k)}
	})
}

// JoinRows concatenates each k consecutive rows: (n·k, m) to (n, k·m).
func JoinRows(b *Builder, x Node, k int) Node {
	n, m := shape(x)
	if n%k != 0 {
		b.Failf("join rows: %d rows are not groups of %d", n, k)
	}
	return fold(b, "joinrows", x, n/k, k*m, 1, 1, false, func(s *sweep, in []tangents) tangents {
		s.grouped("join rows", n, k)
		return tangents{all: swap(b, s.all(in[0]), n/k*s.d, k*m, k, s.d, m)}
	})
}

// Rows repeats a row n times: (1, d) to (n, d).
func (b *Builder) Rows(x Node, n int) Node {
	_, d := shape(x)
	return fold(b, "rows", x, n, d, d, n, true, nil)
}

// Tile stacks n copies of a matrix: (k, d) to (n·k, d).
func Tile(b *Builder, x Node, n int) Node {
	k, d := shape(x)
	return fold(b, "tile", x, n*k, d, k*d, n, true, nil)
}

// AddRow is x + row in each row: (n, d) and (1, d) to (n, d).
func (b *Builder) AddRow(x, row Node) Node {
	n, d := shape(x)
	need(b, "add row", row, 1, d)
	return b.Apply(Op{Name: "addrow", Rows: n, Cols: d, Kernel: add[float64], Single: add[float32],
		tangents: func(s *sweep, in []tangents) tangents {
			if !in[1].none() {
				b.Failf("add row: a row that depends on x mixes rows of x")
			}
			return in[0]
		},
		Reverse: func(_, g Node) []Node { return []Node{g, b.ColSum(g)} }}, x, row)
}

// GroupSum sums each r consecutive rows, the imputations of one table row: (n·r, d) to (n, d).
func (b *Builder) GroupSum(x Node, r int) Node {
	n, d := shape(x)
	if n%r != 0 {
		b.Failf("group sum: %d rows are not groups of %d", n, r)
	}
	return fold(b, "groupsum", x, n/r, d, d, r, false, func(s *sweep, in []tangents) tangents { return s.groupSum(in[0], n, d, r) })
}

// GroupRepeat repeats each row r times in place: (n, d) to (n·r, d).
func (b *Builder) GroupRepeat(x Node, r int) Node {
	if r == 1 {
		return x
	}
	n, d := shape(x)
	return fold(b, "grouprepeat", x, n*r, d, d, r, true, func(s *sweep, in []tangents) tangents { return s.groupRepeat(in[0], n, d, r) })
}

// ConcatColumns joins two matrices side by side: (n, c) and (n, k) to (n, c+k).
func ConcatColumns(b *Builder, x, y Node) Node {
	n, c := shape(x)
	_, k := shape(y)
	need(b, "concat columns", y, n, k)
	return b.Add(columns(b, x, c+k, 0, c, 0), columns(b, y, c+k, 0, k, c))
}

// SomeColumns is w columns of x, from column from on: (n, d) to (n, w).
func SomeColumns(b *Builder, x Node, from, w int) Node { return columns(b, x, w, from, w, 0) }

// columns copies w columns of x, from column from on, to a matrix of d columns, from column to on; the
// others are 0.
func columns(b *Builder, x Node, d, from, w, to int) Node {
	n, c := shape(x)
	return b.Apply(Op{Name: "columns", Rows: n, Cols: d,
		Kernel: copyColumns[float64](n, d, to, c, from, w), Single: copyColumns[float32](n, d, to, c, from, w),
		tangents: func(s *sweep, in []tangents) tangents { return tangents{all: columns(b, s.all(in[0]), d, from, w, to)} },
		Reverse:  func(_, g Node) []Node { return []Node{columns(b, g, c, to, w, from)} }}, x)
}

func copyColumns[T Float](n, d, to, c, from, w int) Kernel[T] {
	return func(out []T, in [][]T) error {
		clear(out)
		for i := range n {
			copy(out[i*d+to:][:w], in[0][i*c+from:])
		}
		return nil
	}
}
