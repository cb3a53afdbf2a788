package graph

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// PackedIndex returns the index of the pair j ≤ k in a packed symmetric matrix.
func PackedIndex(d, j, k int) int { return j*d - j*(j-1)/2 + k - j }

// Unpack returns the symmetric matrix (d, d) of a packed upper triangle.
func Unpack(d int, packed []float64) *mat.SymDense {
	upper := make([]float64, d*d) // mat.SymDense reads the upper triangle only
	for j := range d {
		copy(upper[j*d+j:j*d+d], packed[PackedIndex(d, j, j):])
	}
	return mat.NewSymDense(d, upper)
}

// Symmetric unpacks θ to a symmetric matrix.
func Symmetric(b *Builder, packed Node, d int) Node {
	return b.Apply(Op{Name: "symmetric", Rows: d, Cols: d,
		Kernel: unpack[float64](d), Single: unpack[float32](d),
		Reverse: func(_, g Node) []Node {
			return []Node{b.Apply(Op{Name: "symmetric'", Rows: 1, Cols: d * (d + 1) / 2,
				Kernel: pairs[float64](d), Single: pairs[float32](d),
				Reverse: func(_, h Node) []Node { return []Node{Symmetric(b, h, d)} }}, g)}
		}}, packed)
}

func unpack[T Float](d int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for j, i := 0, 0; j < d; j++ {
			for k := j; k < d; k, i = k+1, i+1 {
				out[j*d+k], out[k*d+j] = in[0][i], in[0][i]
			}
		}
		return nil
	}
}

func pairs[T Float](d int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for j, i := 0, 0; j < d; j++ {
			out[i] = in[0][j*d+j]
			i++
			for k := j + 1; k < d; k, i = k+1, i+1 {
				out[i] = in[0][j*d+k] + in[0][k*d+j]
			}
		}
		return nil
	}
}

// FillCholeskyFactor writes L (d, d), row by row, from its packed parameters.
func FillCholeskyFactor(l, packed []float64, d int) {
	clear(l)
	for j, i := 0, 0; j < d; j++ {
		l[j*d+j] = math.Exp(packed[i])
		i++
		for k := j + 1; k < d; k, i = k+1, i+1 {
			l[k*d+j] = packed[i]
		}
	}
}

// CholeskyFactor unpacks θ to the lower triangular L with L_jj = exp(θ_jj).
func CholeskyFactor(b *Builder, packed Node, d int) Node {
	return b.Apply(Op{Name: "factor", Rows: d, Cols: d,
		Kernel: func(out []float64, in [][]float64) error {
			FillCholeskyFactor(out, in[0], d)
			return nil
		},
		Reverse: func(out, g Node) []Node {
			return []Node{b.Apply(Op{Name: "factor'", Rows: 1, Cols: d * (d + 1) / 2,
				Kernel: func(o []float64, in [][]float64) error {
					l, g := in[0], in[1]
					for j, i := 0, 0; j < d; j++ {
						o[i] = g[j*d+j] * l[j*d+j]
						i++
						for k := j + 1; k < d; k, i = k+1, i+1 {
							o[i] = g[k*d+j]
						}
					}
					return nil
				}}, out, g)}
		}}, packed)
}
