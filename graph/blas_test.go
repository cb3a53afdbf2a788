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
	t.Run("float64", func(t *testing.T) { productsAgree(t, gonumDouble, fast.double(), 0x1p-53) })
	t.Run("float32", func(t *testing.T) { productsAgree(t, gonumSingle, fast.single(), 0x1p-24) })
}

func productsAgree[T Float](t *testing.T, slow, fast Product[T], unit float64) {
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
			// Each is within k·unit·Σ|a||b| of the exact product (Higham 2002, §3.1).
			size := make([]T, m*n)
			slow(ta, tb, m, n, k, absolute(a), absolute(b), size)
			for i := range want {
				require.InDelta(t, want[i], got[i], 2*k*unit*float64(size[i]))
			}
		}
	}
}

func TestMissingLibraryIsAnError(t *testing.T) {
	_, err := openBLAS("libnosuchblas.so.7")
	require.ErrorContains(t, err, "libnosuchblas.so.7")
}

func absolute[T Float](x []T) (y []T) {
	for _, v := range x {
		y = append(y, max(v, -v))
	}
	return y
}
