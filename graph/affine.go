package graph

import "missingscore/internal/simd"

// Affine is x w + bias, and max(·, 0) of it if relu. Shapes: x (n, d), w (d, h),
// bias (1, h), result (n, h). The rectifier's derivative at 0 is 0.
func (b *Builder) Affine(x, w, bias Node, relu bool) Node {
	n, d := shape(x)
	wd, h := shape(w)
	if br, bc := shape(bias); wd != d || br != 1 || bc != h {
		b.Failf("affine: (%d, %d) by (%d, %d) plus (%d, %d)", n, d, wd, h, br, bc)
	}
	lib := b.library()
	return b.Apply(Op{Name: "affine", Rows: n, Cols: h,
		Kernel: affine(lib.double(), n, d, h, relu),
		Single: affine(lib.single(), n, d, h, relu),
		Reverse: func(out, g Node) []Node {
			if relu {
				g = b.gate(out, g)
			}
			return []Node{b.MatMul(false, true, g, w), b.MatMul(true, false, x, g), b.ColSum(g)}
		}}, x, w, bias)
}

func affine[T Float](gemm Product[T], n, d, h int, relu bool) Kernel[T] {
	return func(out []T, in [][]T) error {
		gemm(false, false, n, h, d, in[0], in[1], out)
		if relu {
			simd.Rectify(out, in[2])
		} else {
			simd.Add(out, out, in[2])
		}
		return nil
	}
}

// gate is g where y > 0 and 0 elsewhere.
func (b *Builder) gate(y, g Node) Node {
	r, c := shape(y)
	return b.Apply(Op{Name: "gate", Rows: r, Cols: c, Kernel: gate[float64], Single: gate[float32]}, y, g)
}

func gate[T Float](out []T, in [][]T) error {
	simd.Gate(out, in[0], in[1])
	return nil
}
