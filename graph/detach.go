package graph

// Detach is x as a constant: sg(x) in maths.md. It copies, because the machine
// may write into what an operation returns.
func (b *Builder) Detach(x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "detach", Rows: r, Cols: c,
		Kernel: func(out []float64, in [][]float64) error { copy(out, in[0]); return nil }}, x)
}
