package graph

import (
	"runtime"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// leastFactored is the size from which on factors are the library's: below it a call takes
// longer than it saves.
const leastFactored = 48

// factors are LAPACK's routines of the library of matrix products, 0 where it has none.
type factors struct{ potrf, potri uintptr }

// Factor puts the lower triangle of L, A = LLᵀ, in place of that of A (n, n), which is
// symmetric and given row by row, stride numbers apart. It is not ok where A is not positive
// definite. It may be called at the same time by many goroutines.
func Factor(a []float64, n, stride int) (ok bool) {
	if by := lapack(n); by.potrf != 0 {
		ok = factor(by.potrf, a, n, stride)
		for j := 0; ok && j < n; j++ {
			ok = a[j*stride+j] > 0 // not NaN, which OpenBLAS lets pass
		}
		return ok
	}
	_, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: stride, Data: a})
	return ok
}

// InvertFactor puts the lower triangle of A⁻¹ in place of that of L, which Factor left. It
// is not ok where L is singular.
func InvertFactor(a []float64, n, stride int) (ok bool) {
	if by := lapack(n); by.potri != 0 {
		return factor(by.potri, a, n, stride)
	}
	_, ok = lapack64.Potri(blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: stride, Data: a})
	return ok
}

// lapack is what factors a matrix of size n.
func lapack(n int) factors {
	if n < leastFactored {
		return factors{}
	}
	found, _ := loadLibrary() // New has failed if there was to be one and is not
	return found.factors
}

// factor calls a routine by its Fortran interface (see fortran). Fortran stores by columns:
// the lower triangle is its upper one.
func factor(routine uintptr, a []float64, n, stride int) (ok bool) {
	_ = a[(n-1)*stride+n-1]
	s := &struct {
		upper           byte
		n, stride, info int32
	}{'U', int32(n), int32(stride), 0}
	purego.SyscallN(routine, at(&s.upper), at(&s.n), at(&a[0]), at(&s.stride), at(&s.info), 1)
	runtime.KeepAlive(a)
	runtime.KeepAlive(s)
	return s.info == 0
}
