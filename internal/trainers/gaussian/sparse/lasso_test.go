package sparse_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
	"missingscore/internal/trainers/gaussian/sparse"
)

func covariances(d, n int, seed uint64) []float64 {
	rng := stream.New(seed, 1)
	x := mat.NewDense(n, d, nil)
	for i := range n {
		common := rng.NormFloat64()
		for j := range d {
			x.Set(i, j, rng.NormFloat64()*(1+0.1*float64(j%7))+0.6*common)
		}
	}
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1/float64(n), x.T())
	return mat.DenseCopyOf(s).RawMatrix().Data
}

func packed(p *sparse.Matrix) []float64 {
	out := make([]float64, p.D*(p.D+1)/2)
	p.ToPacked(out)
	return out
}

// With V = PS: V_jj = 1, V_jk + V_kj = −λ w_jk sign P_jk, and at most λ w_jk where P_jk is 0.
func TestConditionsOfAMinimum(t *testing.T) {
	const d = 300 // more than a tile
	s := covariances(d, 400, 1)
	rng := stream.New(8, 1)
	weights := make([]float64, d*(d+1)/2)
	for i := range weights {
		weights[i] = float64(1 + rng.IntN(3))
		if i%50 == 0 {
			weights[i] = 0
		}
	}
	for i, w := range [][]float64{nil, weights} {
		l := &sparse.Lasso{D: d, S: s, Tolerance: 1e-9, Workers: 2, Weights: w, Dense: i == 1}
		p := sparse.Identity(d)
		screen := 0.6
		for _, lambda := range []float64{0.6, 0.5, 0.42} {
			o, err := l.Minimise(t.Context(), p, lambda, 2*lambda-screen)
			require.NoError(t, err)
			require.True(t, o.Done)
			screen = lambda
			var v mat.Dense
			v.Mul(p.Symmetric(), mat.NewDense(d, d, s))
			edges, at := 0, 0
			for j := range d {
				require.InDelta(t, 1, v.At(j, j), 1e-7)
				at++
				for k := j + 1; k < d; k, at = k+1, at+1 {
					slope, most := v.At(j, k)+v.At(k, j), lambda
					if w != nil {
						most *= w[at]
					}
					if e := p.Element(j, k); e == 0 {
						require.LessOrEqual(t, math.Abs(slope), most+1e-7)
					} else {
						edges++
						require.InDelta(t, -math.Copysign(most, e), slope, 1e-7)
					}
				}
			}
			require.Len(t, p.At, edges)
			require.Positive(t, edges)
		}
	}
}

func on(packed []float64, held []bool, d int) *sparse.Matrix {
	p := &sparse.Matrix{D: d}
	i := 0
	for j := range d {
		p.Diagonal = append(p.Diagonal, packed[i])
		for k := j + 1; k < d; k++ {
			if i++; !held[i] {
				p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, packed[i])
			}
		}
		i++
	}
	return p
}

func TestFit(t *testing.T) {
	const d = 5
	s := covariances(d, 50, 3)
	l := &sparse.Lasso{D: d, S: s, Tolerance: 1e-12, Sweeps: 100_000}
	start := packed(sparse.Identity(d))
	p := on(start, make([]bool, len(start)), d)
	o, err := l.Fit(t.Context(), p)
	require.NoError(t, err)
	require.True(t, o.Done)
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(mat.NewDense(d, d, s)))
	for j := range d {
		for k := range d {
			require.InDelta(t, inverse.At(j, k), p.Element(j, k), 1e-9)
		}
	}
	require.InDelta(t, -mat.Trace(&inverse)/2, p.Loss(func(j, k int) float64 { return s[j*d+k] }), 1e-9) // ½ tr(S⁻¹SS⁻¹) − tr S⁻¹

	held := make([]bool, len(start))
	held[1] = true // the pair 0, 1
	p = on(start, held, d)
	_, err = l.Fit(t.Context(), p)
	require.NoError(t, err)
	require.Zero(t, p.Element(0, 1))
	require.NotZero(t, p.Element(0, 2))
}

// b = −(2ρ − λ)/(2(1 − ρ²)) for 2ρ > λ.
func TestTwoColumns(t *testing.T) {
	const rho, lambda = 0.6, 0.5
	l := &sparse.Lasso{D: 2, S: []float64{1, rho, rho, 1}, Tolerance: 1e-12}
	p := sparse.Identity(2)
	_, err := l.Minimise(t.Context(), p, lambda, lambda)
	require.NoError(t, err)
	b := -(2*rho - lambda) / (2 * (1 - rho*rho))
	require.InDeltaSlice(t, []float64{1 - b*rho, b, 1 - b*rho}, packed(p), 1e-10)
	p = sparse.Identity(2)
	_, err = l.Minimise(t.Context(), p, 2*rho+0.01, 0)
	require.NoError(t, err)
	require.Empty(t, p.At)
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
		p := on(packed(sparse.Identity(d)), make([]bool, d*(d+1)/2), d)
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
	s := covariances(d, 50, 5)
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(mat.NewDense(d, d, s)))
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
	p := on([]float64{1, 2, 1}, make([]bool, 3), 2)
	within, err := p.KeepDefinite(t.Context(), 0.1)
	require.NoError(t, err)
	require.False(t, within)
	require.InDelta(t, 0.9, p.Element(0, 1), 1e-10)
	within, err = p.KeepDefinite(t.Context(), 0.05)
	require.NoError(t, err)
	require.True(t, within)
}

// Equal to the byte; Dense comes to the same minimum.
func TestWorkersAtOnce(t *testing.T) {
	at := func(d, workers int, dense bool, lambdas ...float64) []float64 {
		l, p := &sparse.Lasso{D: d, S: covariances(d, 2*d, 6), Tolerance: 1e-9, Workers: workers, Dense: dense}, sparse.Identity(d)
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
	zeros := make([]bool, 6)
	a, b := on([]float64{1, 0.5, 0, 1, 0, 1}, zeros, 3), sparse.FromPacked([]float64{1.25, 0, 0, 1, -0.75, 1}, 3)
	require.Equal(t, 0.75, a.Distance(b))
	require.Equal(t, 0.75, b.Distance(a))
	b.Value[0] = 0.125
	require.Equal(t, 0.5, a.Distance(b))
	require.Zero(t, a.Distance(a.Clone()))
	b.Value[0], b.Diagonal[2] = 0.125, -3
	require.Equal(t, 4., a.Distance(b))

	whole := sparse.FromPacked([]float64{1, 0.5, 0, 0.25, 2, 0, 0, 3, -1, 4}, 4).Symmetric()
	dense := mat.NewSymDense(4, nil)
	dense.CopySym(whole)
	columns := []int{0, 2, 3}
	require.True(t, mat.Equal(sparse.BlockOf(whole, columns), sparse.BlockOf(dense, columns)))
	require.Equal(t, -1., sparse.BlockOf(whole, columns).At(2, 1))
	require.True(t, mat.Equal(whole, dense))
}
