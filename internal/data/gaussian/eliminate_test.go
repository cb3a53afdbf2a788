package gaussian

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestElimination(t *testing.T) {
	const d = 90
	rng := rand.New(rand.NewPCG(3, 1))
	e := NewElimination(d, Gonum.Factor)
	for _, neighbours := range []float64{0, 1, 3, 8, 40, 2} {
		p := mat.NewSymDense(d, sparse(d, neighbours, rng))
		row := func(j int) []float64 { return p.RawSymmetric().Data[j*d+j : j*d+d] }
		b := make([]float64, d)
		for j := range b {
			b[j] = rng.NormFloat64()
		}
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(p, false))
		least := eigen.Values(nil)[0]
		for _, floor := range []float64{0, least * 0.999, least * 1.001} {
			got, ok := e.Factor(row, floor)
			var c mat.Cholesky
			shifted := mat.NewSymDense(d, nil)
			for j := range d {
				for k := range j + 1 {
					shifted.SetSym(j, k, p.At(j, k))
				}
				shifted.SetSym(j, j, p.At(j, j)-floor)
			}
			require.Equal(t, c.Factorize(shifted), ok)
			require.Equal(t, floor < least, ok)
			if !ok {
				continue
			}
			require.Equal(t, neighbours < 8, len(e.order) > d/2, "columns are eliminated")
			require.InDelta(t, c.LogDet(), got, 1e-9)
			x, want := append([]float64(nil), b...), mat.NewVecDense(d, nil)
			e.Solve(x)
			require.NoError(t, c.SolveVecTo(want, mat.NewVecDense(d, b)))
			require.InDeltaSlice(t, want.RawVector().Data, x, 1e-8)
		}
	}
}
