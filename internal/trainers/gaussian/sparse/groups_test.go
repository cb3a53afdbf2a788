package sparse_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/gaussian/sparse"
)

func blocksOf(widths ...int) (blocks []data.Block, d int) {
	for _, w := range widths {
		blocks = append(blocks, data.Block{First: d, Width: w})
		d += w
	}
	return blocks, d
}

func groupNorm(m mat.Matrix, a, b data.Block) float64 {
	sum := 0.0
	for j := a.First; j < a.First+a.Width; j++ {
		for k := b.First; k < b.First+b.Width; k++ {
			sum += m.At(j, k) * m.At(j, k)
		}
	}
	return math.Sqrt(sum)
}

// Strengths are the square roots of the largest eigenvalues of P_AA⁻¹ P_AB P_BB⁻¹ P_BA, invariant
// to maps within blocks.
func TestStrengthsAndMaps(t *testing.T) {
	blocks, d := blocksOf(1, 2, 3, 1)
	s := mat.NewDense(d, d, testtables.Covariances(d, 40, 9))
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(s))
	of := func(m mat.Matrix) []float64 {
		flat := make([]float64, 0, d*(d+1)/2)
		for j := range d {
			for k := j; k < d; k++ {
				flat = append(flat, (m.At(j, k)+m.At(k, j))/2)
			}
		}
		return sparse.FromPacked(flat, d).Strengths(blocks)
	}
	strengths := of(&inverse)
	require.InDelta(t, math.Abs(inverse.At(0, 6))/math.Sqrt(inverse.At(0, 0)*inverse.At(6, 6)), strengths[graph.PackedIndex(4, 0, 3)], 1e-12)
	require.Zero(t, strengths[0])
	part := func(a, b int) mat.Matrix {
		return inverse.Slice(blocks[a].First, blocks[a].First+blocks[a].Width, blocks[b].First, blocks[b].First+blocks[b].Width)
	}
	var aa, bb, m mat.Dense
	require.NoError(t, aa.Inverse(part(1, 1)))
	require.NoError(t, bb.Inverse(part(2, 2)))
	m.Mul(&aa, part(1, 2))
	m.Mul(&m, &bb)
	var square mat.Dense
	square.Mul(&m, part(2, 1))
	var e mat.Eigen
	require.True(t, e.Factorize(&square, mat.EigenNone))
	largest := max(real(e.Values(nil)[0]), real(e.Values(nil)[1]))
	require.InDelta(t, math.Sqrt(largest), strengths[graph.PackedIndex(4, 1, 2)], 1e-12)

	maps := mat.NewDense(d, d, nil)
	rng := stream.New(3, 1)
	for _, b := range blocks {
		own := maps.Slice(b.First, b.First+b.Width, b.First, b.First+b.Width).(*mat.Dense)
		own.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, own)
	}
	var mapped mat.Dense
	mapped.Product(maps, &inverse, maps.T())
	require.InDeltaSlice(t, strengths, of(&mapped), 1e-9)
}
