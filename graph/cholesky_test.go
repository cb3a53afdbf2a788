package graph_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/internal/stream"
)

// Sizes below and above that from which on a library factors, rows apart from each other: LLᵀ is
// A and the inverse is A's. What is not positive definite, or no number, is refused.
func TestFactors(t *testing.T) {
	for _, n := range []int{1, 2, 7, 47, 48, 49, 80} {
		stride := n + 3
		rng := stream.New(1, uint64(n))
		root := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				root.Set(i, j, rng.NormFloat64())
			}
			root.Set(i, i, root.At(i, i)+float64(n))
		}
		var want mat.SymDense
		want.SymOuterK(1, root)
		a := make([]float64, n*stride)
		fill := func() {
			for i := range n {
				for j := range n {
					a[i*stride+j] = want.At(i, j)
				}
				for j := n; j < stride; j++ {
					a[i*stride+j] = -7
				}
			}
		}
		at := func(i, j int) float64 { return a[max(i, j)*stride+min(i, j)] }
		fill()
		require.True(t, graph.Factor(a, n, stride))
		for i := range n {
			for j := range i + 1 {
				sum := 0.0
				for k := range j + 1 {
					sum += at(i, k) * at(j, k)
				}
				require.InDelta(t, want.At(i, j), sum, 1e-9*float64(n*n), fmt.Sprint(n, i, j))
			}
		}
		require.True(t, graph.InvertFactor(a, n, stride))
		for i := range n {
			for j := range n {
				sum := 0.0
				for k := range n {
					sum += want.At(i, k) * at(k, j)
				}
				require.InDelta(t, map[bool]float64{true: 1}[i == j], sum, 1e-9)
			}
			for j := n; j < stride; j++ {
				require.Equal(t, -7., a[i*stride+j], "between rows")
			}
		}
		for _, bad := range []float64{-1, 0, math.NaN()} {
			for _, i := range []int{0, n / 2, n - 1} {
				fill()
				a[i*stride+i] = bad
				require.False(t, graph.Factor(a, n, stride), fmt.Sprint(n, i, bad))
			}
		}
	}
}
