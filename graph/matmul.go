package graph

// library is the matrix products in use; one that was asked for and cannot be had
// stops the construction.
func (b *Builder) library() library {
	found, err := loadLibrary()
	if err != nil {
		b.Fail(err)
	}
	return found
}

// Product is the matrix product in use, for kernels.
func (b *Builder) Product() Product[float64] { return b.library().double() }

// NewProduct is the matrix product in use, for what is computed outside of graphs.
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
	lib := b.library()
	return b.Apply(Op{Name: "matmul", Rows: m, Cols: n,
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
