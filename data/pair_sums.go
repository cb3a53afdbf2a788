package data

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// multiplied rows are taken at a time.
const multiplied = 512

// PairSums are the sums Σ_i a_i x_ij x_ik of values and Σ_i a_i of rows that have both columns
// of a pair, a_i the Weight of row i: one pass over the rows.
func (t *Table) PairSums() *Pairs {
	d := t.D
	cross, number := newSymmetric(d), newSymmetric(d)
	value, mask := make([]float64, multiplied*d), make([]float64, multiplied*d)
	for first := 0; first < t.N; first += multiplied {
		n := min(multiplied, t.N-first)
		complete := true
		for i := range n {
			root := math.Sqrt(t.Weight(first + i))
			from := (first + i) * d
			x, o := value[i*d:(i+1)*d], mask[i*d:(i+1)*d]
			for j, seen := range t.Observed[from : from+d] {
				if x[j], o[j] = 0, 0; seen {
					x[j], o[j] = root*t.Values[from+j], root
				} else {
					complete = false
				}
			}
		}
		rows := func(x []float64) blas64.General { return blas64.General{Rows: n, Cols: d, Stride: d, Data: x} }
		blas64.Syrk(blas.Trans, 1, rows(value), 1, cross)
		if complete && t.Counted == nil && t.Weights == nil {
			for j := range d {
				for k := j; k < d; k++ {
					number.Data[j*d+k] += float64(n)
				}
			}
		} else {
			blas64.Syrk(blas.Trans, 1, rows(mask), 1, number)
		}
	}
	for j := range d {
		for k := range j {
			cross.Data[j*d+k], number.Data[j*d+k] = cross.Data[k*d+j], number.Data[k*d+j]
		}
	}
	return &Pairs{Cross: cross.Data, Number: number.Data}
}

func newSymmetric(d int) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: d, Data: make([]float64, d*d)}
}
