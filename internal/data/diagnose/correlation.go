package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/data/gaussian"
)

const (
	emIterations = 25
	emCandidate  = 0.1 // share of unexplained variance: EM converges slowly, so rows confirm
	emCost       = 2e9 // products at most: rows · columns³ · iterations
)

func enoughComplete(rows, d int) bool { return rows >= 3*d+10 }

// correlation is the correlation matrix of some transformed columns: of the complete rows if there
// are enough, else by EM on a subset of rows; nil if neither is feasible. candidate is the
// unexplained share of variance below which a column is examined.
func (e *examined) correlation(columns []int) (r *mat.SymDense, candidate float64) {
	d := len(columns)
	if d < 2 {
		return nil, 0
	}
	if r, n := e.complete(columns); enoughComplete(n, d) {
		return r, explainedBut
	}
	rows := int(min(float64(e.N), emCost/(float64(emIterations*d)*float64(d*d))))
	if !enoughComplete(rows, d) {
		return nil, 0
	}
	return gaussian.Fit(e.standardised(columns, rows), emIterations, 0).Correlation(), emCandidate
}

type unit struct{ mean, sd float64 }

func unitOf(cells []float64) unit {
	mean, sd := stat.PopMeanStdDev(cells, nil)
	return unit{mean, sd}
}

func (e *examined) standardised(columns []int, rows int) *data.Table {
	t, d := e.after, len(columns)
	z := &data.Table{N: rows, D: d, Values: make([]float64, rows*d), Observed: make([]bool, rows*d)}
	for k, j := range columns {
		u := e.units[j]
		for a := range rows {
			i := a * t.N / rows
			if t.Observed[i*t.D+j] {
				z.Values[a*d+k], z.Observed[a*d+k] = (t.Values[i*t.D+j]-u.mean)/u.sd, true
			}
		}
	}
	return z
}

// nearlyEqual reports whether 1 − r² of two transformed columns is at most explainedBut.
func (e *examined) nearlyEqual(j, k int) bool {
	t, first, second := e.after, e.units[j], e.units[k]
	most := explainedBut * float64(e.columns[k].cells)
	var n, x, y, xx, yy, xy float64
	for i := 0; i < len(t.Values); i += t.D {
		if t.Observed[i+j] && t.Observed[i+k] {
			u, v := (t.Values[i+j]-first.mean)/first.sd, (t.Values[i+k]-second.mean)/second.sd
			n, x, y, xx, yy, xy = n+1, x+u, y+v, xx+u*u, yy+v*v, xy+u*v
			if int(n)%32 == 0 && yy-y*y/n-(xy-x*y/n)*(xy-x*y/n)/(xx-x*x/n) > 1.001*most {
				return false
			}
		}
	}
	covariance, u, v := xy-x*y/n, xx-x*x/n, yy-y*y/n
	return n >= fewestRows && u > 0 && v > 0 && 1-covariance*covariance/(u*v) < explainedBut
}

// complete is the correlation of columns over the n rows that have all of them.
func (e *examined) complete(columns []int) (r *mat.SymDense, n int) {
	const atOnce = 512 // rows multiplied at a time
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
