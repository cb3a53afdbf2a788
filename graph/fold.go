package graph

import "missingscore/internal/simd"

// fold sums r consecutive blocks of l numbers; with up it repeats each block r times, the reverse
// rule. t is the tangent rule, nil if rows of x are mixed.
func (b *Builder) fold(name string, x Node, rows, cols, l, r int, up bool, t func(*sweep, []tangents) tangents) Node {
	xr, xc := shape(x)
	if small, large := min(rows*cols, xr*xc), max(rows*cols, xr*xc); small*r != large || large%l != 0 {
		b.Failf("%s: (%d, %d) to (%d, %d) in blocks of %d × %d", name, xr, xc, rows, cols, r, l)
	}
	if c, ok := b.equal[x]; ok {
		if !up {
			c *= float64(r)
		}
		return b.filled(c, rows, cols)
	}
	return b.Apply(Op{Name: name, Rows: rows, Cols: cols, tangents: t,
		Kernel: foldBlocks[float64](l, r, up), Single: foldBlocks[float32](l, r, up),
		Reverse: func(_, g Node) []Node { return []Node{b.fold(name, g, xr, xc, l, r, !up, nil)} }}, x)
}

func foldBlocks[T Float](l, r int, up bool) Kernel[T] {
	switch {
	case l == 1 && up:
		return func(out []T, in [][]T) error { repeatNumbers(out, in[0], r); return nil }
	case l == 1:
		return func(out []T, in [][]T) error { sumNumbers(out, in[0], r); return nil }
	case up:
		return func(out []T, in [][]T) error { repeatBlocks(out, in[0], l, r); return nil }
	}
	return func(out []T, in [][]T) error { sumBlocks(out, in[0], l, r); return nil }
}

func repeatNumbers[T Float](out, a []T, r int) {
	for _, v := range a {
		for i := range out[:r] {
			out[i] = v
		}
		out = out[r:]
	}
}

func sumNumbers[T Float](out, a []T, r int) {
	for i := 0; i < len(out); i, a = i+1, a[r:] {
		var sum T
		for _, v := range a[:r] {
			sum += v
		}
		out[i] = sum
	}
}

func repeatBlocks[T Float](out, a []T, l, r int) {
	for ; len(a) > 0; a = a[l:] {
		for range r {
			copy(out[:l], a)
			out = out[l:]
		}
	}
}

func sumBlocks[T Float](out, a []T, l, r int) {
	clear(out)
	for ; len(out) > 0; out = out[l:] {
		for range r {
			simd.Add(out[:l], out[:l], a[:l])
			a = a[l:]
		}
	}
}

// RowSum adds up each row: (n, d) to (n, 1).
func (b *Builder) RowSum(x Node) Node {
	n, d := shape(x)
	return b.fold("rowsum", x, n, 1, 1, d, false, func(s *sweep, in []tangents) tangents { return s.rowSum(in[0]) })
}

// ColSum adds up each column: (n, d) to (1, d).
func (b *Builder) ColSum(x Node) Node {
	n, d := shape(x)
	return b.fold("colsum", x, 1, d, d, n, false, nil)
}

// Columns repeats a column d times: (n, 1) to (n, d).
func (b *Builder) Columns(x Node, d int) Node {
	n, _ := shape(x)
	return b.fold("columns", x, n, d, 1, d, true, func(s *sweep, in []tangents) tangents {
		return tangents{all: b.Columns(s.all(in[0]), d)}
	})
}

// SplitRows splits each row into k consecutive rows: (n, k·m) to (n·k, m).
func SplitRows(b *Builder, x Node, k int) Node {
	n, c := shape(x)
	if c%k != 0 {
		b.Failf("split rows: %d columns in %d parts", c, k)
	}
	return b.fold("splitrows", x, n*k, c/k, 1, 1, false, func(s *sweep, in []tangents) tangents {
		return tangents{all: b.swap(s.all(in[0]), n*k*s.d, c/k, s.d, k, c/k)}
	})
}

// JoinRows concatenates each k consecutive rows: (n·k, m) to (n, k·m).
func JoinRows(b *Builder, x Node, k int) Node {
	n, m := shape(x)
	if n%k != 0 {
		b.Failf("join rows: %d rows are not groups of %d", n, k)
	}
	return b.fold("joinrows", x, n/k, k*m, 1, 1, false, func(s *sweep, in []tangents) tangents {
		s.grouped("join rows", n, k)
		return tangents{all: b.swap(s.all(in[0]), n/k*s.d, k*m, k, s.d, m)}
	})
}

// Rows repeats a row n times: (1, d) to (n, d).
func (b *Builder) Rows(x Node, n int) Node {
	_, d := shape(x)
	rows := b.fold("rows", x, n, d, d, n, true, nil)
	b.rows[rows] = x
	return rows
}

// Tile stacks n copies of a matrix: (k, d) to (n·k, d).
func Tile(b *Builder, x Node, n int) Node {
	k, d := shape(x)
	return b.fold("tile", x, n*k, d, k*d, n, true, nil)
}

// AddRow is x + row in each row: (n, d) and (1, d) to (n, d).
func (b *Builder) AddRow(x, row Node) Node {
	n, d := shape(x)
	if r, c := shape(row); r != 1 || c != d {
		b.Failf("add row: (%d, %d) to (%d, %d)", r, c, n, d)
	}
	return b.Apply(Op{Name: "addrow", Rows: n, Cols: d, Kernel: addRow[float64], Single: addRow[float32],
		tangents: func(s *sweep, in []tangents) tangents {
			if !in[1].none() {
				b.Failf("add row: a row that depends on x mixes rows of x")
			}
			return in[0]
		},
		Reverse: func(_, g Node) []Node { return []Node{g, b.ColSum(g)} }}, x, row)
}

func addRow[T Float](out []T, in [][]T) error {
	simd.Add(out, in[0], in[1])
	return nil
}

// GroupSum sums each r consecutive rows, the imputations of one table row: (n·r, d) to (n, d).
func (b *Builder) GroupSum(x Node, r int) Node {
	n, d := shape(x)
	if n%r != 0 {
		b.Failf("group sum: %d rows are not groups of %d", n, r)
	}
	return b.fold("groupsum", x, n/r, d, d, r, false, func(s *sweep, in []tangents) tangents { return s.groupSum(in[0], n, d, r) })
}

// GroupRepeat repeats each row r times in place: (n, d) to (n·r, d).
func (b *Builder) GroupRepeat(x Node, r int) Node {
	if r == 1 {
		return x
	}
	n, d := shape(x)
	return b.fold("grouprepeat", x, n*r, d, d, r, true, func(s *sweep, in []tangents) tangents { return s.groupRepeat(in[0], n, d, r) })
}

// ConcatColumns joins two matrices side by side: (n, c) and (n, k) to (n, c+k).
func ConcatColumns(b *Builder, x, y Node) Node {
	n, c := shape(x)
	m, k := shape(y)
	if n != m {
		b.Failf("concat columns: %d and %d rows", n, m)
	}
	return b.Apply(Op{Name: "concatcolumns", Rows: n, Cols: c + k,
		tangents: func(s *sweep, in []tangents) tangents {
			part := func(u tangents, cols int) Node {
				if u.none() {
					return b.filled(0, n*s.d, cols)
				}
				return s.all(u)
			}
			return tangents{all: ConcatColumns(b, part(in[0], c), part(in[1], k))}
		},
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

// between returns the columns from, …, to−1 of x.
func (b *Builder) between(x Node, from, to int) Node {
	n, d := shape(x)
	return b.Apply(Op{Name: "between", Rows: n, Cols: to - from,
		Kernel: func(out []float64, in [][]float64) error {
			for i := range n {
				copy(out[i*(to-from):(i+1)*(to-from)], in[0][i*d+from:])
			}
			return nil
		},
		Reverse: func(_, g Node) []Node { return []Node{b.widen(g, from, d)} }}, x)
}

// widen places x in the columns from, from+1, … of d columns, 0 elsewhere.
func (b *Builder) widen(x Node, from, d int) Node {
	n, c := shape(x)
	return b.Apply(Op{Name: "widen", Rows: n, Cols: d,
		Kernel: func(out []float64, in [][]float64) error {
			clear(out)
			for i := range n {
				copy(out[i*d+from:], in[0][i*c:(i+1)*c])
			}
			return nil
		},
		Reverse: func(_, g Node) []Node { return []Node{b.between(g, from, from+c)} }}, x)
}
