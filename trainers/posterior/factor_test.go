package posterior

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
)

// The factor of some rows and columns of a matrix against gonum's: LLᵀ is what it is of, forward
// and backward solve with it, and times multiplies.
func TestFactor(t *testing.T) {
	const d = 6
	some := []int{0, 2, 3, 5}
	rng := stream.New(1, stream.Sample)
	a := mat.NewDense(d, d, nil)
	a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
	var whole mat.SymDense
	whole.SymOuterK(1, a)
	part := mat.NewSymDense(len(some), nil)
	b := mat.NewVecDense(len(some), nil)
	for i, j := range some {
		b.SetVec(i, rng.NormFloat64())
		for k := i; k < len(some); k++ {
			part.SetSym(i, k, whole.At(j, some[k]))
		}
	}
	var c mat.Cholesky
	require.True(t, c.Factorize(part))
	var l mat.TriDense
	c.LTo(&l)
	var solved, multiplied mat.VecDense
	require.NoError(t, c.SolveVecTo(&solved, b))
	multiplied.MulVec(&l, b)

	var f factor
	require.True(t, f.of(mat.DenseCopyOf(&whole).RawMatrix().Data, d, some))
	require.InDelta(t, c.LogDet()/2, f.logDet, 1e-10)
	v := append([]float64(nil), b.RawVector().Data...)
	f.forward(v)
	f.backward(v)
	require.InDeltaSlice(t, solved.RawVector().Data, v, 1e-9)
	v = append([]float64(nil), b.RawVector().Data...)
	f.times(v)
	require.InDeltaSlice(t, multiplied.RawVector().Data, v, 1e-12)
}
