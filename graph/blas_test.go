package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

func TestProductsAgree(t *testing.T) {
	name, fast, err := openBLAS(openBLASNames()[0])
	if err != nil {
		t.Skip("no OpenBLAS on this machine: ", err)
	}
	t.Log(name)
	rng := stream.New(1, 1)
	const m, n, k = 7, 5, 9
	a, b := make([]float64, m*k), make([]float64, k*n)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	for i := range b {
		b[i] = rng.NormFloat64()
	}
	for _, ta := range []bool{false, true} {
		for _, tb := range []bool{false, true} {
			want, got := make([]float64, m*n), make([]float64, m*n)
			gonumProduct(ta, tb, m, n, k, a, b, want)
			fast(ta, tb, m, n, k, a, b, got)
			require.InDeltaSlice(t, want, got, 1e-13)
		}
	}
}

func TestMissingLibraryIsAnError(t *testing.T) {
	_, _, err := openBLAS("libnosuchblas.so.7")
	require.ErrorContains(t, err, "libnosuchblas.so.7")
}
