package losses

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"missingscore/internal/stream"
)

func TestSmallInversesAreThoseOfLAPACK(t *testing.T) {
	rng := stream.New(1, 1)
	for n := 1; n < largeBlock; n++ {
		for range 500 {
			x, p := make([]float64, 2*n*n), make([]float64, n*n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			for j := range n {
				for k := range n {
					for i := range 2 * n {
						p[j*n+k] += x[i*n+j] * x[i*n+k]
					}
				}
			}
			ours := append([]float64(nil), p...)
			l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: p})
			require.True(t, ok)
			require.True(t, factorSmall(ours, n))
			lapack64.Potri(l)
			invertSmall(ours, n)
			for j := range n {
				for k := range j + 1 {
					require.InEpsilon(t, p[j*n+k], ours[j*n+k], 1e-9, "%d: %d, %d", n, j, k)
					if runtime.GOARCH == "amd64" { // to the bit: elsewhere the compiler may round a product and a sum once
						require.Equal(t, math.Float64bits(p[j*n+k]), math.Float64bits(ours[j*n+k]), "%d: %d, %d", n, j, k)
					}
				}
			}
		}
	}
	require.False(t, factorSmall([]float64{1, 0, 2, 1}, 2))
	require.False(t, factorSmall([]float64{math.NaN()}, 1))
}
