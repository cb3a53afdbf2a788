package graph

import "missingscore/internal/simd"

func shape(n Node) (rows, cols int) {
	s := n.Shape()
	if len(s) != 2 {
		return 0, 0
	}
	return s[0], s[1]
}

// Shape is a matrix's (rows, columns); a scalar's is (0, 0).
func Shape(n Node) (rows, cols int) { return shape(n) }

func need(b *Builder, name string, x Node, rows, cols int) {
	if r, c := shape(x); r != rows || c != cols {
		b.Failf("%s: shape (%d, %d), expected (%d, %d)", name, r, c, rows, cols)
	}
}

// Add is x + y.
func (b *Builder) Add(x, y Node) Node {
	r, c := shape(x)
	need(b, "add", y, r, c)
	switch {
	case isZero(b, x):
		return y
	case isZero(b, y):
		return x
	}
	return b.Apply(Op{Name: "add", Rows: r, Cols: c,
		Kernel: add[float64], Single: add[float32],
		tangents: func(s *sweep, in []tangents) tangents { return s.sum(in[0], in[1]) },
		Reverse:  func(_, g Node) []Node { return []Node{g, g} }}, x, y)
}

// Sub is x − y.
func (b *Builder) Sub(x, y Node) Node { return b.Add(x, b.Scale(-1, y)) }

// Prod is the elementwise product x ∘ y.
func (b *Builder) Prod(x, y Node) Node {
	r, c := shape(x)
	need(b, "prod", y, r, c)
	if k, ok := b.equal[x]; ok {
		return multiple(b, k, y)
	} else if k, ok := b.equal[y]; ok {
		return multiple(b, k, x)
	}
	return b.Apply(Op{Name: "prod", Rows: r, Cols: c,
		Kernel: prod[float64], Single: prod[float32],
		tangents: func(s *sweep, in []tangents) tangents { return s.prod(x, y, in[0], in[1]) },
		Reverse:  func(_, g Node) []Node { return []Node{b.Prod(g, y), b.Prod(g, x)} }}, x, y)
}

// Scale is k x.
func (b *Builder) Scale(k float64, x Node) Node {
	r, c := shape(x)
	if v, ok := b.equal[x]; ok {
		return filled(b, k*v, r, c)
	}
	return b.Apply(Op{Name: "scale", Rows: r, Cols: c, Elementwise: true,
		Kernel: scale[float64](k), Single: scale[float32](k),
		Reverse: func(_, g Node) []Node { return []Node{b.Scale(k, g)} }}, x)
}

// Sum is the sum of all elements, a scalar.
func (b *Builder) Sum(x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "sum",
		Kernel: sum[float64], Single: sum[float32],
		Reverse: func(_, g Node) []Node { return []Node{fill(b, g, r, c)} }}, x)
}

func fill(b *Builder, x Node, rows, cols int) Node {
	return b.Apply(Op{Name: "fill", Rows: rows, Cols: cols,
		Kernel: fillLoop[float64], Single: fillLoop[float32],
		Reverse: func(_, g Node) []Node { return []Node{b.Sum(g)} }}, x)
}

func add[T Float](out []T, in [][]T) error {
	simd.Add(out, in[0], in[1])
	return nil
}

func prod[T Float](out []T, in [][]T) error {
	simd.Mul(out, in[0], in[1])
	return nil
}

func scale[T Float](k float64) Kernel[T] {
	factor := T(k)
	return func(out []T, in [][]T) error {
		for i, v := range in[0][:len(out)] {
			out[i] = factor * v
		}
		return nil
	}
}

func square[T Float](out []T, in [][]T) error {
	simd.Mul(out, in[0], in[0])
	return nil
}

// sum accumulates in float64 for every T.
func sum[T Float](out []T, in [][]T) error {
	s := 0.0
	for _, v := range in[0] {
		s += float64(v)
	}
	out[0] = T(s)
	return nil
}

func fillLoop[T Float](out []T, in [][]T) error {
	for i := range out {
		out[i] = in[0][0]
	}
	return nil
}

// Detach is x as a constant: sg(x) in docs/theory/index.md#eq-stop-gradient.
func Detach(b *Builder, x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "detach", Rows: r, Cols: c, Constant: []bool{true}, Kernel: identity[float64], Single: identity[float32]}, x)
}

func identity[T Float](out []T, in [][]T) error { copy(out, in[0]); return nil }
