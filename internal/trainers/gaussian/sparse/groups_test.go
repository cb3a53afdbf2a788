package sparse_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
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

// proximal minimises the penalised loss by proximal gradient steps of length 1/L, L twice the
// largest eigenvalue of S.
func proximal(s *mat.Dense, blocks []data.Block, weight func(a, b int) float64, lambda float64, steps int) *mat.Dense {
	d, _ := s.Dims()
	p := mat.NewDense(d, d, nil)
	for j := range d {
		p.Set(j, j, 1)
	}
	length := 1 / (2 * mat.Norm(s, math.Inf(1)))
	for range steps {
		var v, g mat.Dense
		v.Mul(p, s)
		g.Add(&v, v.T()) // twice the derivative by a symmetric P
		for j := range d {
			g.Set(j, j, g.At(j, j)-2)
		}
		g.Scale(length, &g)
		p.Sub(p, &g)
		for a, first := range blocks {
			for b := a + 1; b < len(blocks); b++ {
				second := blocks[b]
				// The norm ‖P‖² counts a pair twice, as g does the derivative: thresholds are those of one.
				shrink := max(0, 1-length*lambda*weight(a, b)*math.Sqrt(float64(first.Width*second.Width))/groupNorm(p, first, second))
				for j := first.First; j < first.First+first.Width; j++ {
					for k := second.First; k < second.First+second.Width; k++ {
						p.Set(j, k, shrink*p.At(j, k))
						p.Set(k, j, p.At(j, k))
					}
				}
			}
		}
	}
	return p
}

// With G = PS + SP: diagonal of PS 1, G = 0 within blocks, G_AB = −λ √(|A||B|) w P_AB/‖P_AB‖ if
// P_AB is not 0, else ‖G_AB‖ ≤ λ √(|A||B|) w.
func TestGroups(t *testing.T) {
	blocks, d := blocksOf(1, 2, 1, 3, 1, 4, 2, 1)
	raw := covariances(d, 60, 11)
	s := mat.NewDense(d, d, raw)
	weights := make([]float64, d*(d+1)/2)
	rng := stream.New(4, 1)
	for i := range weights {
		weights[i] = 0.5 + rng.Float64()
	}
	for _, w := range [][]float64{nil, weights} {
		weight := func(a, b int) float64 {
			if w == nil {
				return 1
			}
			return w[graph.PackedIndex(d, blocks[a].First, blocks[b].First)]
		}
		l := &sparse.Lasso{D: d, S: raw, Tolerance: 1e-11, Blocks: blocks, Weights: w, Sweeps: 20000}
		p := sparse.Identity(d)
		screen, kept := 0.6, 0
		for _, lambda := range []float64{0.6, 0.4, 0.25} {
			o, err := l.Minimise(t.Context(), p, lambda, 2*lambda-screen)
			require.NoError(t, err)
			require.True(t, o.Done)
			screen = lambda
			var v, g mat.Dense
			v.Mul(p.Symmetric(), s)
			g.Add(&v, v.T())
			edges := 0
			for j := range d {
				require.InDelta(t, 1, v.At(j, j), 1e-8)
			}
			for a, first := range blocks {
				for b := a; b < len(blocks); b++ {
					second := blocks[b]
					most, size := lambda*math.Sqrt(float64(first.Width*second.Width))*weight(a, b), groupNorm(p.Symmetric(), first, second)
					if a != b && size == 0 {
						require.LessOrEqual(t, groupNorm(&g, first, second), most+1e-8)
						continue
					}
					if a != b {
						edges++
					}
					for j := first.First; j < first.First+first.Width; j++ {
						for k := second.First; k < second.First+second.Width; k++ {
							want := -most * p.Element(j, k) / size
							if a == b {
								if want = 0; j == k {
									want = 2
								}
							}
							require.InDelta(t, want, g.At(j, k), 1e-7, "%d, %d", j, k)
						}
					}
				}
			}
			require.Greater(t, edges, kept)
			require.Less(t, edges, len(blocks)*(len(blocks)-1)/2)
			kept = edges
		}
		require.True(t, mat.EqualApprox(proximal(s, blocks, weight, 0.25, 6000), mat.DenseCopyOf(p.Symmetric()), 1e-6))
	}
}

func TestFitOfGroups(t *testing.T) {
	blocks, d := blocksOf(2, 1, 2)
	s := covariances(d, 50, 3)
	l := &sparse.Lasso{D: d, S: s, Tolerance: 1e-12, Sweeps: 100_000, Blocks: blocks}
	p := sparse.Identity(d)
	p.At, p.Value = [][2]int32{{0, 2}, {0, 3}, {2, 3}}, []float64{1e-3, 1e-3, 1e-3}
	_, err := l.Fit(t.Context(), p)
	require.NoError(t, err)
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(mat.NewDense(d, d, s)))
	require.True(t, mat.EqualApprox(&inverse, mat.DenseCopyOf(p.Symmetric()), 1e-8))

	p = sparse.Identity(d)
	p.At, p.Value = [][2]int32{{0, 3}}, []float64{1e-3}
	_, err = l.Fit(t.Context(), p)
	require.NoError(t, err)
	require.NotZero(t, p.Element(1, 4))
	require.NotZero(t, p.Element(0, 1))
	require.Zero(t, p.Element(0, 2))
}

// Strengths are the square roots of the largest eigenvalues of P_AA⁻¹ P_AB P_BB⁻¹ P_BA, invariant
// to maps within blocks.
func TestStrengthsAndMaps(t *testing.T) {
	blocks, d := blocksOf(1, 2, 3, 1)
	s := mat.NewDense(d, d, covariances(d, 40, 9))
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

	maps, turn := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	rng := stream.New(3, 1)
	for _, b := range blocks {
		own := mat.NewDense(b.Width, b.Width, nil)
		own.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, own)
		var qr mat.QR
		qr.Factorize(own)
		var q mat.Dense
		qr.QTo(&q)
		maps.Slice(b.First, b.First+b.Width, b.First, b.First+b.Width).(*mat.Dense).Copy(own)
		turn.Slice(b.First, b.First+b.Width, b.First, b.First+b.Width).(*mat.Dense).Copy(&q)
	}
	var mapped mat.Dense
	mapped.Product(maps, &inverse, maps.T())
	require.InDeltaSlice(t, strengths, of(&mapped), 1e-9)

	var turned, back mat.Dense
	turned.Product(turn, s, turn.T())
	minimum := func(s *mat.Dense) mat.Matrix {
		l := &sparse.Lasso{D: d, S: s.RawMatrix().Data, Tolerance: 1e-12, Blocks: blocks, Sweeps: 20000}
		p := sparse.Identity(d)
		_, err := l.Minimise(t.Context(), p, 0.2, 0.2)
		require.NoError(t, err)
		require.NotEmpty(t, p.Value)
		return p.Symmetric()
	}
	back.Product(turn.T(), minimum(&turned), turn)
	require.True(t, mat.EqualApprox(&back, mat.DenseCopyOf(minimum(s)), 1e-8))
}
