package graph

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"missingscore/internal/simd"
)

// BLASVariable is the environment variable for matrix products: "gonum" (pure Go), "openblas" (an
// error if it is missing), or a library's path. If unset, OpenBLAS is used if found, else gonum.
const BLASVariable = "MISSINGSCORE_BLAS"

// Product computes c = op(a) op(b) with c (m, n) and inner size k, row-major; ta and tb transpose.
// It is not safe for concurrent use.
type Product[T Float] func(ta, tb bool, m, n, k int, a, b, c []T)

type library struct {
	name   string
	double func() Product[float64]
	single func() Product[float32]
	factors
}

var loadLibrary = sync.OnceValues(func() (library, error) {
	byGonum := library{name: "gonum", double: func() Product[float64] { return beside(gonumDouble, true) }, single: func() Product[float32] { return beside(gonumSingle, true) }}
	choice := os.Getenv(BLASVariable)
	if choice == "gonum" {
		return byGonum, nil
	}
	paths := []string{choice}
	if choice == "" || choice == "openblas" {
		paths = openBLASNames()
	}
	var err error
	for _, path := range paths {
		var found library
		if found, err = openBLAS(path); err == nil {
			return found, nil
		}
	}
	if choice == "" {
		return byGonum, nil
	}
	return byGonum, fmt.Errorf("%s=%s: %w", BLASVariable, choice, err)
})

// BLAS names the library of matrix products and the instruction set of other loops, which results
// depend on. It fails if the library in BLASVariable cannot be loaded.
func BLAS() (string, error) {
	found, err := loadLibrary()
	return fmt.Sprintf("%s, loops with %s", found.name, simd.Instructions()), err
}

// openBLAS loads a BLAS without cgo, and limits OpenBLAS to one thread: more change rounding.
func openBLAS(path string) (found library, err error) {
	lib, err := openShared(path)
	if err != nil { // the error text is per thread and may be lost
		return found, fmt.Errorf("%s cannot be loaded: %w", path, err)
	}
	dgemm, err := lookUp(lib, "dgemm_")
	if err != nil {
		return found, fmt.Errorf("%s has no dgemm: %w", path, err)
	}
	sgemm, err := lookUp(lib, "sgemm_")
	if err != nil {
		return found, fmt.Errorf("%s has no sgemm: %w", path, err)
	}
	found = library{name: path, double: func() Product[float64] { return beside(fortran[float64](dgemm), false) }, single: func() Product[float32] { return beside(fortran[float32](sgemm), false) }}
	if address, err := lookUp(lib, "openblas_set_num_threads"); err == nil {
		purego.SyscallN(address, 1)
	}
	potrf, noFactor := lookUp(lib, "dpotrf_")
	potri, noInverse := lookUp(lib, "dpotri_")
	if noFactor == nil && noInverse == nil {
		found.factors = factors{potrf, potri}
	}
	if address, err := lookUp(lib, "openblas_get_corename"); err == nil {
		var core func() string
		purego.RegisterFunc(&core, address)
		found.name = "openblas " + core()
	}
	return found, nil
}

// beside uses own loops where these are faster.
func beside[T Float](library Product[T], slow bool) Product[T] {
	p := &simd.Product[T]{Dense: slow}
	return func(ta, tb bool, m, n, k int, a, b, c []T) {
		if !p.Multiply(ta, tb, m, n, k, a, b, c) {
			library(ta, tb, m, n, k, a, b, c)
		}
	}
}

// fortran calls xGEMM, with all arguments as pointers. Column-major, it computes cᵀ = op(b)ᵀ op(a)ᵀ.
func fortran[T Float](gemm uintptr) Product[T] {
	type arguments struct {
		opA, opB               byte
		m, n, k, lda, ldb, ldc int32
		one, zero              T
		list                   [15]uintptr
	}
	s := &arguments{one: 1}
	s.list = [15]uintptr{at(&s.opB), at(&s.opA), at(&s.n), at(&s.m), at(&s.k), at(&s.one), 0, at(&s.ldb),
		0, at(&s.lda), at(&s.zero), 0, at(&s.ldc), 1, 1}
	return func(ta, tb bool, m, n, k int, a, b, c []T) {
		_, _, _ = a[m*k-1], b[k*n-1], c[m*n-1]
		s.m, s.n, s.k, s.ldc = int32(m), int32(n), int32(k), int32(n)
		s.opA, s.lda, s.opB, s.ldb = 'N', s.k, 'N', s.n
		if ta {
			s.opA, s.lda = 'T', s.m
		}
		if tb {
			s.opB, s.ldb = 'T', s.k
		}
		s.list[6], s.list[8], s.list[11] = at(&b[0]), at(&a[0]), at(&c[0])
		purego.SyscallN(gemm, s.list[:]...)
		runtime.KeepAlive(a)
		runtime.KeepAlive(b)
		runtime.KeepAlive(c)
	}
}

func at[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func gonumDouble(ta, tb bool, m, n, k int, a, b, c []float64) {
	opA, lda := operand(ta, m, k)
	opB, ldb := operand(tb, k, n)
	gonum.Implementation{}.Dgemm(opA, opB, m, n, k, 1, a, lda, b, ldb, 0, c, n)
}

func gonumSingle(ta, tb bool, m, n, k int, a, b, c []float32) {
	opA, lda := operand(ta, m, k)
	opB, ldb := operand(tb, k, n)
	gonum.Implementation{}.Sgemm(opA, opB, m, n, k, 1, a, lda, b, ldb, 0, c, n)
}

func operand(transposed bool, rows, cols int) (op blas.Transpose, stride int) {
	if transposed {
		return blas.Trans, rows
	}
	return blas.NoTrans, cols
}
