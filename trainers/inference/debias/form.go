package debias

import (
	"gonum.org/v1/gonum/floats"
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
	d, size, workers int
	sums             []float64 // T (size, size)
	x, y             []float64 // not added yet: X by pairs (size, formTogether), Y (formTogether, size)
	count            int
	err              error
}

const formTogether = 128 // matrices that one product adds

func newForm(d, workers int) *form {
	size := d * (d + 1) / 2
	return &form{d: d, size: size, workers: workers, sums: make([]float64, size*size),
		x: make([]float64, size*formTogether), y: make([]float64, formTogether*size)}
}

// add adds w tr(dP X dP Y).
func (f *form) add(w float64, x, y *mat.SymDense) {
	if f.count == formTogether {
		f.flush()
	}
	at := 0
	for j := range f.d {
		for k := j; k < f.d; k++ {
			f.x[at*formTogether+f.count], f.y[f.count*f.size+at] = w*x.At(j, k), y.At(j, k)
			at++
		}
	}
	f.count++
}

func (f *form) flush() {
	if f.count == 0 || f.err != nil {
		return
	}
	f.err = blocks(f.workers, f.size, func(multiply graph.Product[float64], at, count int) {
		product := make([]float64, count*f.size)
		multiply(false, false, count, f.size, formTogether, f.x[at*formTogether:(at+count)*formTogether], f.y, product)
		floats.Add(f.sums[at*f.size:(at+count)*f.size], product)
	})
	clear(f.x)
	clear(f.y)
	f.count = 0
}

// matrix writes K of F = pᵀKp, p the packed dP, to the lower right block of h. An
// off-diagonal coordinate moves two cells:
//
//	K[jk, lm] = ½ Σ T[kl, mj] + T[mj, kl]   over both orders of j, k and of l, m
//
// with a single order where j = k or l = m.
func (f *form) matrix(h *mat.SymDense) error {
	if f.flush(); f.err != nil {
		return f.err
	}
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
	return nil
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

func (f *form) both(a, b int) float64 { return f.sums[a*f.size+b] + f.sums[b*f.size+a] }
