package graph

// Product is the matrix product in use, for kernels; a library that was asked for
// and cannot be had stops the construction.
func (b *Builder) Product() Product {
	found, err := loadProduct()
	if err != nil {
		b.Fail(err)
	}
	return found.gemm
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
		b.fail("matmul: inner sizes %d and %d differ", k, k2)
	}
	gemm := b.Product()
	return b.Apply(Op{Name: "matmul", Rows: m, Cols: n,
		Kernel: func(out []float64, in [][]float64) error {
			gemm(ta, tb, m, n, k, in[0], in[1], out)
			return nil
		},
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

// Affine is x w + bias, and max(·, 0) of it if relu. Shapes: x (n, d), w (d, h),
// bias (1, h), result (n, h). The rectifier's derivative at 0 is 0.
func (b *Builder) Affine(x, w, bias Node, relu bool) Node {
	n, d := shape(x)
	wd, h := shape(w)
	if br, bc := shape(bias); wd != d || br != 1 || bc != h {
		b.fail("affine: (%d, %d) by (%d, %d) plus (%d, %d)", n, d, wd, h, br, bc)
	}
	gemm := b.Product()
	return b.Apply(Op{Name: "affine", Rows: n, Cols: h,
		Kernel: func(out []float64, in [][]float64) error {
			gemm(false, false, n, h, d, in[0], in[1], out)
			for i := range n {
				row, bias := out[i*h:i*h+h], in[2][:h]
				if relu {
					for j, v := range row {
						row[j] = max(v+bias[j], 0)
					}
				} else {
					for j, v := range row {
						row[j] = v + bias[j]
					}
				}
			}
			return nil
		},
		Reverse: func(out, g Node) []Node {
			if relu {
				g = b.gate(out, g)
			}
			return []Node{b.MatMul(false, true, g, w), b.MatMul(true, false, x, g), b.ColSum(g)}
		}}, x, w, bias)
}

// gate is g where y > 0 and 0 elsewhere; without a branch on random signs,
// which would cost ten times as much.
func (b *Builder) gate(y, g Node) Node {
	r, c := shape(y)
	return b.Apply(Op{Name: "gate", Rows: r, Cols: c,
		Kernel: func(out []float64, in [][]float64) error {
			g := in[1][:len(out)]
			for i, v := range in[0][:len(out)] {
				on := 0
				if v > 0 {
					on = 1
				}
				out[i] = float64(on) * g[i]
			}
			return nil
		}}, y, g)
}
