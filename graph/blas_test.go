package graph

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

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

// Factor and inverse of a matrix larger than those left to gonum, and with a stride, by the
// library and by gonum, and that LLᵀ is A.
func TestFactorsAgree(t *testing.T) {
	fast, err := openBLAS(openBLASNames()[0])
	if err != nil || fast.potrf == 0 {
		t.Skip("no OpenBLAS with factors on this machine: ", err)
	}
	const n, stride = 70, 73
	rng := stream.New(1, 2)
	a := make([]float64, n*stride)
	for i := range n {
		a[i*stride+i] = 2 * n
		for j := range i {
			a[i*stride+j] = rng.NormFloat64()
		}
	}
	got, want := slices.Clone(a), slices.Clone(a)
	require.True(t, factor(fast.potrf, got, n, stride))
	_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: stride, Data: want})
	require.True(t, ok)
	require.InDeltaSlice(t, want, got, 1e-12)
	for i := range n {
		for j := range i + 1 {
			require.InDelta(t, a[i*stride+j], floats.Dot(got[i*stride:i*stride+j+1], got[j*stride:j*stride+j+1]), 1e-11)
		}
	}
	require.True(t, factor(fast.potri, got, n, stride))
	_, ok = lapack64.Potri(blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: stride, Data: want})
	require.True(t, ok)
	require.InDeltaSlice(t, want, got, 1e-14)
	a[3*stride+3] = -1
	require.False(t, Factor(slices.Clone(a), n, stride))
	require.False(t, factor(fast.potrf, a, n, stride))
}
