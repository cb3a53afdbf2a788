package sparse_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/gaussian/sparse"
)

func packed(p *sparse.Matrix) []float64 {
	out := make([]float64, p.D*(p.D+1)/2)
	p.ToPacked(out)
	return out
}

// With G = PS + SP: G_jj = 2, G = 0 elsewhere within blocks, G_AB = −λ √(|A||B|) w P_AB/‖P_AB‖ if P_AB
// is not 0, else ‖G_AB‖ ≤ λ √(|A||B|) w. Without blocks every column is one.
func requireMinimum(t *testing.T, l *sparse.Lasso, p *sparse.Matrix, blocks []data.Block, lambda float64) {
	t.Helper()
	var v, g mat.Dense
	at := mat.DenseCopyOf(p.Symmetric())
	v.Mul(at, mat.NewDense(l.D, l.D, l.S))
	g.Add(&v, v.T())
	entries := 0
	for a, first := range blocks {
		for b := a; b < len(blocks); b++ {
			second := blocks[b]
			most, size := lambda*math.Sqrt(float64(first.Width*second.Width)), groupNorm(at, first, second)
			if l.Weights != nil {
				most *= l.Weights[graph.PackedIndex(l.D, first.First, second.First)]
			}
			if a != b && size == 0 {
				require.LessOrEqual(t, groupNorm(&g, first, second), most+1e-7)
				continue
			}
			for j := first.First; j < first.First+first.Width; j++ {
				for k := second.First; k < second.First+second.Width; k++ {
					want := -most * at.At(j, k) / size
					if a == b {
						want = 0
					}
					if j == k {
						want = 2
					}
					if j < k {
						entries++
					}
					require.InDelta(t, want, g.At(j, k), 1e-7, "%d, %d", j, k)
				}
			}
		}
	}
	require.Len(t, p.At, entries)
}

func TestConditionsOfAMinimum(t *testing.T) {
	single, many := blocksOf(slices.Repeat([]int{1}, 300)...) // more than a tile
	groups, few := blocksOf(1, 2, 1, 3, 1, 4, 2, 1)
	rng := stream.New(8, 1)
	weights := make([]float64, many*(many+1)/2)
	for i := range weights {
		weights[i] = 0.5 + rng.Float64()
		if i%50 == 1 {
			weights[i] = 0
		}
	}
	s := testtables.Covariances(few, 60, 11)
	for _, c := range []struct {
		lasso   sparse.Lasso
		blocks  []data.Block
		lambdas []float64
	}{
		{sparse.Lasso{D: many, S: testtables.Covariances(many, 400, 1)}, single, []float64{0.6, 0.5, 0.42}},
		{sparse.Lasso{D: many, S: testtables.Covariances(many, 400, 1), Weights: weights, Dense: true}, single, []float64{0.6, 0.5, 0.42}},
		{sparse.Lasso{D: few, S: s, Blocks: groups}, groups, []float64{0.6, 0.4, 0.25}},
		{sparse.Lasso{D: few, S: s, Blocks: groups, Weights: weights[2 : 2+few*(few+1)/2]},
			groups, []float64{0.6, 0.4, 0.25}},
	} {
		c.lasso.Tolerance, c.lasso.Sweeps, c.lasso.Workers = 1e-10, 20000, 2
		p := sparse.Identity(c.lasso.D)
		screen, edges := 0.6, 0
		for _, lambda := range c.lambdas {
			o, err := c.lasso.Minimise(t.Context(), p, lambda, 2*lambda-screen)
			require.NoError(t, err)
			require.True(t, o.Done)
			screen = lambda
			requireMinimum(t, &c.lasso, p, c.blocks, lambda)
			require.Greater(t, len(p.At), edges)
			edges = len(p.At)
		}
		require.Less(t, edges, c.lasso.D*(c.lasso.D-1)/2)
	}
}

// All pairs are free, those with 0 too.
func whole(packed []float64, d int) *sparse.Matrix {
	p := &sparse.Matrix{D: d}
	for j := range d {
		p.Diagonal = append(p.Diagonal, packed[graph.PackedIndex(d, j, j)])
		for k := j + 1; k < d; k++ {
			p.At = append(p.At, [2]int32{int32(j), int32(k)})
			p.Value = append(p.Value, packed[graph.PackedIndex(d, j, k)])
		}
	}
	return p
}

func TestFit(t *testing.T) {
	blocks, d := blocksOf(2, 1, 2)
	s := testtables.Covariances(d, 50, 3)
	inverse := testtables.Inverse(t, mat.NewSymDense(d, s))
	for _, b := range [][]data.Block{nil, blocks} {
		l := &sparse.Lasso{D: d, S: s, Tolerance: 1e-12, Sweeps: 100_000, Blocks: b}
		p := whole(packed(sparse.Identity(d)), d)
		o, err := l.Fit(t.Context(), p)
		require.NoError(t, err)
		require.True(t, o.Done)
		require.True(t, mat.EqualApprox(inverse, mat.DenseCopyOf(p.Symmetric()), 1e-8))
		// ½ tr(S⁻¹SS⁻¹) − tr S⁻¹
		require.InDelta(t, -mat.Trace(inverse)/2, p.Loss(func(j, k int) float64 { return s[j*d+k] }), 1e-8)

		p = sparse.Identity(d)
		p.At, p.Value = [][2]int32{{0, 3}}, []float64{1e-3}
		_, err = l.Fit(t.Context(), p)
		require.NoError(t, err)
		require.NotZero(t, p.Element(0, 3))
		require.Zero(t, p.Element(0, 2))
		for _, pair := range [][2]int{{1, 4}, {0, 1}} { // of the same pair of blocks, within a block
			require.Equal(t, b != nil, p.Element(pair[0], pair[1]) != 0)
		}
	}
}

func TestCopiesRunAway(t *testing.T) {
	for _, dense := range []bool{false, true} {
		l := &sparse.Lasso{D: 2, S: []float64{1, 1, 1, 1}, Dense: dense}
		o, err := l.Minimise(t.Context(), sparse.Identity(2), 0.01, 0)
		require.NoError(t, err)
		require.False(t, o.Done)
	}
}

// S_jk = ρ^|j−k|: S⁻¹ has the diagonal 1/(1 − ρ²) at the ends, (1 + ρ²)/(1 − ρ²) between, and −ρ/(1
// − ρ²) beside it.
func TestLeapsReachTheMinimum(t *testing.T) {
	const d, rho = 8, 0.98
	s, sweeps := make([]float64, d*d), [2]int{}
	for i := range s {
		s[i] = math.Pow(rho, math.Abs(float64(i/d-i%d)))
	}
	for i := range sweeps {
		l := &sparse.Lasso{D: d, S: s, Tolerance: 1e-9, Sweeps: 100_000, Dense: i == 1}
		p := whole(packed(sparse.Identity(d)), d)
		o, err := l.Fit(t.Context(), p)
		require.NoError(t, err)
		require.True(t, o.Done)
		sweeps[i] = o.Sweeps
		for j := range d {
			require.InDelta(t, (1+rho*rho*float64(min(1, j*(d-1-j))))/(1-rho*rho), p.Element(j, j), 1e-4)
			for k := range j {
				require.InDelta(t, -rho/(1-rho*rho)*float64(max(0, 2-j+k)), p.Element(j, k), 1e-4)
			}
		}
	}
	require.Less(t, sweeps[1], sweeps[0]/3)
}

func TestResidual(t *testing.T) {
	const d = 4
	s := testtables.Covariances(d, 50, 5)
	inverse := testtables.Inverse(t, mat.NewSymDense(d, s))
	of := func(j, k int) float64 { return s[j*d+k] }
	v, ok := sparse.Residual(of, 2, []int{0, 1, 3})
	require.True(t, ok)
	require.InDelta(t, 1/inverse.At(2, 2), v, 1e-12)
	small, ok := sparse.Residual(func(j, k int) float64 { return 1e-12 * of(j, k) }, 2, []int{0, 1, 3})
	require.True(t, ok, "what is left is much in the column's own unit")
	require.InEpsilon(t, v, 1e12*small, 1e-9)
	v, ok = sparse.Residual(of, 1, nil)
	require.True(t, ok)
	require.Equal(t, s[d+1], v)
	_, ok = sparse.Residual(func(j, k int) float64 { return 0 }, 0, nil)
	require.False(t, ok, "of a column of zeros nothing is left")
	_, ok = sparse.Residual(func(j, k int) float64 { return 1 }, 0, []int{1, 2})
	require.False(t, ok)
}

// With unit diagonal and one pair b, the factor makes 1 − |b| the floor.
func TestKeepDefinite(t *testing.T) {
	p := whole([]float64{1, 2, 1}, 2)
	within, err := p.KeepDefinite(t.Context(), 0.1)
	require.NoError(t, err)
	require.False(t, within)
	require.InDelta(t, 0.9, p.Element(0, 1), 1e-10)
	within, err = p.KeepDefinite(t.Context(), 0.05)
	require.NoError(t, err)
	require.True(t, within)
}

// Equal to the byte; Dense reaches the same minimum.
func TestWorkersAtOnce(t *testing.T) {
	at := func(d, workers int, dense bool, lambdas ...float64) []float64 {
		l, p := &sparse.Lasso{D: d, S: testtables.Covariances(d, 2*d, 6), Tolerance: 1e-9, Workers: workers, Dense: dense}, sparse.Identity(d)
		for _, lambda := range lambdas {
			o, err := l.Minimise(t.Context(), p, lambda, lambda)
			require.NoError(t, err)
			require.True(t, o.Done)
		}
		return packed(p)
	}
	require.Equal(t, at(300, 1, false, 0.4, 0.3), at(300, 3, false, 0.4, 0.3))
	require.InDeltaSlice(t, at(70, 1, false, 0.4, 0.05), at(70, 1, true, 0.4, 0.05), 1e-7)
}

func TestDistanceAndBlock(t *testing.T) {
	a, b := whole([]float64{1, 0.5, 0, 1, 0, 1}, 3), sparse.FromPacked([]float64{1.25, 0, 0, 1, -0.75, 1}, 3)
	require.Equal(t, 0.75, a.Distance(b))
	require.Equal(t, 0.75, b.Distance(a))
	b.Value[0] = 0.125
	require.Equal(t, 0.5, a.Distance(b))
	require.Zero(t, a.Distance(a.Clone()))
	b.Value[0], b.Diagonal[2] = 0.125, -3
	require.Equal(t, 4., a.Distance(b))

	four := sparse.FromPacked([]float64{1, 0.5, 0, 0.25, 2, 0, 0, 3, -1, 4}, 4).Symmetric()
	dense := mat.NewSymDense(4, nil)
	dense.CopySym(four)
	columns := []int{0, 2, 3}
	require.True(t, mat.Equal(sparse.BlockOf(four, columns), sparse.BlockOf(dense, columns)))
	require.Equal(t, -1., sparse.BlockOf(four, columns).At(2, 1))
	require.True(t, mat.Equal(four, dense))
}

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
	inverse := testtables.Inverse(t, mat.NewSymDense(d, testtables.Covariances(d, 40, 9)))
	of := func(m mat.Matrix) []float64 { return sparse.FromPacked(graph.Pack(m), d).Strengths(blocks) }
	strengths := of(inverse)
	require.InDelta(t, math.Abs(inverse.At(0, 6))/math.Sqrt(inverse.At(0, 0)*inverse.At(6, 6)), strengths[graph.PackedIndex(4, 0, 3)], 1e-12)
	require.Zero(t, strengths[0])
	dense := mat.DenseCopyOf(inverse)
	part := func(a, b int) mat.Matrix {
		first, second := blocks[a], blocks[b]
		return dense.Slice(first.First, first.First+first.Width, second.First, second.First+second.Width)
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
	mapped.Product(maps, inverse, maps.T())
	require.InDeltaSlice(t, strengths, of(&mapped), 1e-9)
}
