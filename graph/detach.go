package graph

// Detach is x as a constant: sg(x) in docs/theory/index.md#eq-stop-gradient.
func (b *Builder) Detach(x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "detach", Rows: r, Cols: c, Kernel: identity[float64], Single: identity[float32]}, x)
}

func identity[T Float](out []T, in [][]T) error { copy(out, in[0]); return nil }
