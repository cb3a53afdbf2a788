package debias

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// form is a quadratic form of symmetric matrices dP (d, d)
// (docs/theory/inference.md#eq-form),
//
//	F(dP) = Σ_i w_i tr(dP X_i dP Y_i)
//
// kept as T[ab, cd] = Σ_i w_i X_i,ab Y_i,cd over packed pairs: a matrix product of all X
// with all Y, so that no product of d² × d² is formed for a pattern.
type form struct {
	d, size int
	sums    blas64.General // T (size, size)
	x, y    blas64.General // those not added yet
	count   int
}

const formTogether = 64 // matrices that one product adds

func newForm(d int) *form {
	size := d * (d + 1) / 2
	general := func(rows int) blas64.General {
		return blas64.General{Rows: rows, Cols: size, Stride: size, Data: make([]float64, rows*size)}
	}
	return &form{d: d, size: size, sums: general(size), x: general(formTogether), y: general(formTogether)}
}

// add adds w tr(dP X dP Y).
func (f *form) add(w float64, x, y *mat.SymDense) {
	if f.count == formTogether {
		f.flush()
	}
	at := f.count * f.size
	for j := range f.d {
		for k := j; k < f.d; k++ {
			f.x.Data[at], f.y.Data[at] = w*x.At(j, k), y.At(j, k)
			at++
		}
	}
	f.count++
}

func (f *form) flush() {
	x, y := f.x, f.y
	x.Rows, y.Rows = f.count, f.count
	if f.count > 0 {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, x, y, 1, f.sums)
	}
	f.count = 0
}

// matrix writes K of F = pᵀKp, p the packed dP, to the lower right block of h. An
// off-diagonal coordinate moves two cells:
//
//	K[jk, lm] = ½ Σ T[kl, mj] + T[mj, kl]   over both orders of j, k and of l, m
//
// with a single order where j = k or l = m.
func (f *form) matrix(h *mat.SymDense) {
	f.flush()
	d := f.d
	places := make([]int, d*d)
	for j := range d {
		for k := range d {
			places[j*d+k] = graph.PackedIndex(d, min(j, k), max(j, k))
		}
	}
	for j := range d {
		for k := j; k < d; k++ {
			row := places[j*d+k]
			for l := j; l < d; l++ {
				for m := l; m < d; m++ {
					if column := places[l*d+m]; column >= row {
						h.SetSym(d+row, d+column, f.entry(places, j, k, l, m))
					}
				}
			}
		}
	}
}

func (f *form) entry(places []int, j, k, l, m int) float64 {
	d := f.d
	sum := f.both(places[k*d+l], places[m*d+j])
	if l != m {
		sum += f.both(places[k*d+m], places[l*d+j])
	}
	if j != k {
		sum += f.both(places[j*d+l], places[m*d+k])
		if l != m {
			sum += f.both(places[j*d+m], places[l*d+k])
		}
	}
	return sum / 2
}

func (f *form) both(a, b int) float64 { return f.sums.Data[a*f.size+b] + f.sums.Data[b*f.size+a] }
