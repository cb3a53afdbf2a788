package lanczos_test

import (
	"context"
	"math"
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

func TestSearchAgain(t *testing.T) {
	var again lanczos.Search
	for _, d := range []int{30, 3, 30, 45} {
		for _, size := range []float64{1, 0} {
			mul := func(y, x []float64) {
				for j := range y {
					y[j] = size * math.Cos(float64(j)) * x[j]
				}
			}
			got, err := again.Smallest(t.Context(), d, mul)
			require.NoError(t, err)
			want, err := lanczos.Smallest(t.Context(), d, mul)
			require.NoError(t, err)
			require.Equal(t, want, got)
			if size == 0 {
				require.Zero(t, got)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := again.Smallest(ctx, 3, func(y, x []float64) { copy(y, x) })
	require.ErrorIs(t, err, context.Canceled)
	allocated := testing.AllocsPerRun(5, func() {
		_, err := again.Smallest(t.Context(), 45, func(y, x []float64) { copy(y, x) })
		require.NoError(t, err)
	})
	require.LessOrEqual(t, allocated, 5.)
}
