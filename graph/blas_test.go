package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

func TestProductsAgree(t *testing.T) {
	fast, err := openBLAS(openBLASNames()[0])
	if err != nil {
		t.Skip("no OpenBLAS on this machine: ", err)
	}
	t.Log(fast.name)
	t.Run("float64", func(t *testing.T) { productsAgree(t, gonumDouble, fast.double(), 1e-13) })
	t.Run("float32", func(t *testing.T) { productsAgree(t, gonumSingle, fast.single(), 1e-5) })
}

func productsAgree[T Float](t *testing.T, slow, fast Product[T], tolerance float64) {
	rng := stream.New(1, 1)
	const m, n, k = 7, 5, 9
	a, b := make([]T, m*k), make([]T, k*n)
	for i := range a {
		a[i] = T(rng.NormFloat64())
	}
	for i := range b {
		b[i] = T(rng.NormFloat64())
	}
	for _, ta := range []bool{false, true} {
		for _, tb := range []bool{false, true} {
			want, got := make([]T, m*n), make([]T, m*n)
			slow(ta, tb, m, n, k, a, b, want)
			fast(ta, tb, m, n, k, a, b, got)
			require.InDeltaSlice(t, want, got, tolerance)
		}
	}
}

func TestMissingLibraryIsAnError(t *testing.T) {
	_, err := openBLAS("libnosuchblas.so.7")
	require.ErrorContains(t, err, "libnosuchblas.so.7")
}
