package graph

import "missingscore/internal/simd"

// A requested library that cannot be loaded stops the construction.
func needLibrary(b *Builder) library {
	found, err := loadLibrary()
	if err != nil {
		b.Fail(err)
	}
	return found
}

// NewProduct returns the current matrix product, for code outside of graphs.
func NewProduct() (Product[float64], error) {
	found, err := loadLibrary()
	return found.double(), err
}

// MatMul is op(x) op(y), where ta and tb transpose the factors.
func (b *Builder) MatMul(ta, tb bool, x, y Node) Node {
	m, k := shape(x)
	if ta {
		m, k = k, m
	}
	k2, n := shape(y)
	if tb {
		k2, n = n, k2
	}
	if k != k2 {
		b.Failf("matmul: inner sizes %d and %d differ", k, k2)
	}
	lib := needLibrary(b)
	return b.Apply(Op{Name: "matmul", Rows: m, Cols: n,
		tangents: func(s *sweep, in []tangents) tangents {
			if ta || !in[1].none() {
				b.Failf("matmul: a product by a right factor, or a transposed left one, that depends on x mixes rows of x")
			}
			return s.matMul(in[0], y, tb)
		},
		Kernel: multiply(lib.double(), ta, tb, m, n, k),
		Single: multiply(lib.single(), ta, tb, m, n, k),
		Reverse: func(_, g Node) []Node {
			gx := func() Node {
				if ta {
					return b.MatMul(tb, true, y, g)
				}
				return b.MatMul(false, !tb, g, y)
			}
			gy := func() Node {
				if tb {
					return b.MatMul(true, ta, g, x)
				}
				return b.MatMul(!ta, false, x, g)
			}
			return []Node{gx(), gy()}
		}}, x, y)
}

func multiply[T Float](multiply Product[T], ta, tb bool, m, n, k int) Kernel[T] {
	return func(out []T, in [][]T) error {
		multiply(ta, tb, m, n, k, in[0], in[1], out)
		return nil
	}
}

// Affine is x w + bias: x (n, d), w (d, h), bias (1, h) to (n, h).
func (b *Builder) Affine(x, w, bias Node) Node {
	n, d := shape(x)
	_, h := shape(w)
	need(b, "affine", w, d, h)
	need(b, "affine", bias, 1, h)
	lib := needLibrary(b)
	return b.Apply(Op{Name: "affine", Rows: n, Cols: h,
		tangents: func(s *sweep, in []tangents) tangents {
			if !in[1].none() || !in[2].none() {
				b.Failf("affine: weights that depend on x mix rows of x")
			}
			return s.matMul(in[0], w, false)
		},
		Kernel: affine(lib.double(), n, d, h),
		Single: affine(lib.single(), n, d, h),
		Reverse: func(_, g Node) []Node {
			return []Node{b.MatMul(false, true, g, w), b.MatMul(true, false, x, g), b.ColSum(g)}
		}}, x, w, bias)
}

func affine[T Float](gemm Product[T], n, d, h int) Kernel[T] {
	return func(out []T, in [][]T) error {
		gemm(false, false, n, h, d, in[0], in[1], out)
		simd.Add(out, out, in[2])
		return nil
	}
}
