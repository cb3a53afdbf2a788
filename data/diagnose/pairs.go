package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// unexplained is 1 − r² of two columns, as they are modelled, over the rows that have both; 1 where
// these are few.
func (e *examined) unexplained(j, k int) float64 {
	t, first, second := e.after, e.units[j], e.units[k]
	var n, x, y, xx, yy, xy float64
	for i := 0; i < len(t.Values); i += t.D {
		if t.Observed[i+j] && t.Observed[i+k] {
			u, v := (t.Values[i+j]-first.mean)/first.sd, (t.Values[i+k]-second.mean)/second.sd
			n, x, y, xx, yy, xy = n+1, x+u, y+v, xx+u*u, yy+v*v, xy+u*v
		}
	}
	if n < fewestRows {
		return 1
	}
	covariance, u, v := xy-x*y/n, xx-x*x/n, yy-y*y/n
	if !(u > 0 && v > 0) {
		return 1
	}
	return 1 - covariance*covariance/(u*v)
}

// complete is the correlation of some columns, as they are modelled, over the rows that have all of
// them, n.
func (e *examined) complete(columns []int) (r *mat.SymDense, n int) {
	const atOnce = 512 // rows that are multiplied
	t, d := e.after, len(columns)
	mean, rows := make([]float64, d), make([]float64, 0, atOnce*d)
	each := func(visit func()) {
		for i := 0; i < len(t.Values); i += t.D {
			if !slices.ContainsFunc(columns, func(j int) bool { return !t.Observed[i+j] }) {
				for _, j := range columns {
					rows = append(rows, (t.Values[i+j]-e.units[j].mean)/e.units[j].sd)
				}
			}
			if len(rows) == cap(rows) || i+t.D == len(t.Values) {
				visit()
				rows = rows[:0]
			}
		}
	}
	each(func() {
		n += len(rows) / d
		for i := 0; i < len(rows); i += d {
			floats.Add(mean, rows[i:i+d])
		}
	})
	if n == 0 {
		return nil, 0
	}
	floats.Scale(1/float64(n), mean)
	r = mat.NewSymDense(d, nil)
	each(func() {
		for i := 0; i < len(rows); i += d {
			floats.Sub(rows[i:i+d], mean)
		}
		if len(rows) > 0 {
			blas64.Syrk(blas.Trans, 1, blas64.General{Rows: len(rows) / d, Cols: d, Stride: d, Data: rows}, 1, r.RawSymmetric())
		}
	})
	sd := make([]float64, d)
	for k := range sd {
		sd[k] = math.Sqrt(r.At(k, k))
	}
	for k := range sd {
		for l := k; l < d; l++ {
			r.SetSym(k, l, r.At(k, l)/(sd[k]*sd[l]))
		}
	}
	return r, n
}
