package diagnose

import (
	"slices"

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
	t, d := e.after, len(columns)
	whole := &data.Table{D: d}
	for i := 0; i < len(t.Values); i += t.D {
		if slices.ContainsFunc(columns, func(j int) bool { return !t.Observed[i+j] }) {
			continue
		}
		for _, j := range columns {
			whole.Values = append(whole.Values, t.Values[i+j])
		}
		whole.N++
	}
	if !enoughComplete(whole.N, d) {
		return nil, whole.N
	}
	whole.Observed = slices.Repeat([]bool{true}, len(whole.Values))
	z, _ := data.StandardScale(whole).InPlace(whole)
	r = mat.NewSymDense(d, z.PairSums().Cross)
	r.ScaleSym(1/float64(whole.N), r)
	return r, whole.N
}
