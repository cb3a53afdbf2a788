package graph

import (
	"runtime"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// leastFactored is the least size at which the library factors faster than own code.
const leastFactored = 48

// factors holds the library's LAPACK routines, 0 if missing.
type factors struct{ potrf, potri uintptr }

// Factor replaces the lower triangle of symmetric A (n, n), row-major, by that of L, A = LLᵀ. ok is
// false if A is not positive definite. It is safe for concurrent use.
func Factor(a []float64, n, stride int) (ok bool) {
	if by := lapack(n); by.potrf != 0 {
		ok = factor(by.potrf, a, n, stride)
		for j := 0; ok && j < n; j++ {
			ok = a[j*stride+j] > 0 // also false for NaN, which OpenBLAS accepts
		}
		return ok
	}
	_, ok = lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: stride, Data: a})
	return ok
}

// InvertFactor replaces the lower triangle of L (Factor) by that of A⁻¹; ok is false if L is
// singular.
func InvertFactor(a []float64, n, stride int) (ok bool) {
	if by := lapack(n); by.potri != 0 {
		return factor(by.potri, a, n, stride)
	}
	_, ok = lapack64.Potri(blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: stride, Data: a})
	return ok
}

func lapack(n int) factors {
	if n < leastFactored {
		return factors{}
	}
	found, _ := loadLibrary() // NewProduct reports the error
	return found.factors
}

// factor calls a routine (see fortran). In column-major order the lower triangle is the upper one.
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
