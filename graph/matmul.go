package graph

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// gemm is c = op(a) op(b) with c (m, n) and inner size k, tight strides.
func gemm(ta, tb bool, m, n, k int, a, b, c []float64) {
	op := func(t bool, rows, cols int, data []float64) (blas.Transpose, blas64.General) {
		if t {
			return blas.Trans, blas64.General{Rows: cols, Cols: rows, Stride: rows, Data: data}
		}
		return blas.NoTrans, blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	}
	opA, A := op(ta, m, k, a)
	opB, B := op(tb, k, n, b)
	blas64.Gemm(opA, opB, 1, A, B, 0, blas64.General{Rows: m, Cols: n, Stride: n, Data: c})
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
