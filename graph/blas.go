package graph

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// BLASVariable is the environment variable that chooses the matrix products:
// "gonum" (pure Go), "openblas" (an error if it is not found), or a library's path.
// Unset, OpenBLAS is used where the system has it.
const BLASVariable = "MISSINGSCORE_BLAS"

// Product is c = op(a) op(b) with c (m, n) and inner size k, row-major, tight strides;
// ta and tb transpose. No size may be 0.
type Product func(ta, tb bool, m, n, k int, a, b, c []float64)

var loadProduct = sync.OnceValues(func() (found struct {
	name string
	gemm Product
}, err error) {
	found.name, found.gemm = "gonum", gonumProduct
	choice := os.Getenv(BLASVariable)
	if choice == "gonum" {
		return found, nil
	}
	libraries := []string{choice}
	if choice == "" || choice == "openblas" {
		libraries = openBLASNames()
	}
	for _, lib := range libraries {
		var name string
		var gemm Product
		if name, gemm, err = openBLAS(lib); err == nil {
			found.name, found.gemm = name, gemm
			return found, nil
		}
	}
	if choice == "" {
		return found, nil
	}
	return found, fmt.Errorf("%s=%s: %w", BLASVariable, choice, err)
})

// BLAS names the library that computes matrix products. It fails if the one
// that BLASVariable demands cannot be loaded.
func BLAS() (string, error) {
	found, err := loadProduct()
	return found.name, err
}

func openBLASNames() []string {
	if runtime.GOOS == "darwin" {
		return []string{"/opt/homebrew/opt/openblas/lib/libopenblas.dylib", "/usr/local/opt/openblas/lib/libopenblas.dylib", "libopenblas.dylib"}
	}
	return []string{"libopenblas.so.0", "libopenblas.so"}
}

// openBLAS loads a CBLAS at run time, without cgo, and keeps it to one thread:
// products this small gain nothing from more, and bits would change.
func openBLAS(path string) (name string, gemm Product, err error) {
	defer func() {
		if e := recover(); e != nil { // purego panics where a symbol is missing
			err = fmt.Errorf("%s: %v", path, e)
		}
	}()
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return "", nil, err
	}
	var threads func(int32)
	var core func() string
	var dgemm func(order, ta, tb, m, n, k int32, alpha float64, a *float64, lda int32, b *float64, ldb int32, beta float64, c *float64, ldc int32)
	purego.RegisterLibFunc(&threads, lib, "openblas_set_num_threads")
	purego.RegisterLibFunc(&core, lib, "openblas_get_corename")
	purego.RegisterLibFunc(&dgemm, lib, "cblas_dgemm")
	threads(1)
	const rowMajor, plain, transposed = 101, 111, 112
	return "openblas " + core(), func(ta, tb bool, m, n, k int, a, b, c []float64) {
		opA, lda, opB, ldb := int32(plain), k, int32(plain), n
		if ta {
			opA, lda = transposed, m
		}
		if tb {
			opB, ldb = transposed, k
		}
		dgemm(rowMajor, opA, opB, int32(m), int32(n), int32(k), 1, &a[0], int32(lda), &b[0], int32(ldb), 0, &c[0], int32(n))
	}, nil
}

func gonumProduct(ta, tb bool, m, n, k int, a, b, c []float64) {
	op := func(t bool, rows, cols int, data []float64) (blas.Transpose, blas64.General) {
		if t {
			return blas.Trans, blas64.General{Rows: cols, Cols: rows, Stride: rows, Data: data}
		}
		return blas.NoTrans, blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	}
	opA, A := op(ta, m, k, a)
	opB, B := op(tb, k, n, b)
	blas64.Gemm(opA, opB, 1, A, B, 0, blas64.General{Rows: m, Cols: n, Stride: n, Data: c})
}
