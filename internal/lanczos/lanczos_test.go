package lanczos_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/lanczos"
	"missingscore/internal/stream"
)

// Against all eigenvalues, by gonum.
func TestSmallest(t *testing.T) {
	for _, d := range []int{1, 2, 7, 40, 450} {
		rng := stream.New(1, uint64(d))
		a := mat.NewSymDense(d, nil)
		for j := range d {
			for k := range j + 1 {
				a.SetSym(j, k, rng.NormFloat64())
			}
		}
		var e mat.EigenSym
		require.True(t, e.Factorize(a, false))
		want := e.Values(nil)[0]
		got, err := lanczos.Smallest(t.Context(), d, func(y, x []float64) {
			mat.NewVecDense(d, y).MulVec(a, mat.NewVecDense(d, x))
		})
		require.NoError(t, err)
		require.InEpsilon(t, want, got, 1e-6, "%d", d)
		require.LessOrEqual(t, got, want+1e-9)
	}
}

func TestEnds(t *testing.T) {
	got, err := lanczos.Smallest(t.Context(), 30, func(y, _ []float64) { clear(y) })
	require.NoError(t, err)
	require.Zero(t, got)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = lanczos.Smallest(ctx, 3, func(y, x []float64) { copy(y, x) })
	require.ErrorIs(t, err, context.Canceled)
}
