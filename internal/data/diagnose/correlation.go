package diagnose

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/data/gaussian"
)

const (
	emIterations = 25
	emCandidate  = 0.1     // share of unexplained variance: EM converges slowly, so rows confirm
	emCost       = 2e9     // products at most: rows · columns³ · iterations
	mostComplete = 1 << 22 // cells of complete rows examined: a copy
)

func enoughComplete(rows, d int) bool { return rows >= 3*d+10 }

// correlation is the correlation matrix of some transformed columns: of the complete rows if there
// are enough, else by EM on a subset of rows; nil if neither is feasible. candidate is the
// unexplained share of variance below which a column is examined.
func (e *examined) correlation(columns []int) (r *mat.SymDense, candidate float64) {
	t, d := e.after, len(columns)
	if d < 2 {
		return nil, 0
	}
	var complete []int
	for i := range t.N {
		if !slices.ContainsFunc(columns, func(j int) bool { return !t.Observed[i*t.D+j] }) {
			complete = append(complete, i)
		}
	}
	if enoughComplete(len(complete), d) {
		z, _ := data.Standardise(e.part(complete, columns, mostComplete/d))
		r = mat.NewSymDense(d, z.PairSums().Cross)
		r.ScaleSym(1/float64(z.N), r)
		return r, explainedBut
	}
	part := e.part(t.AllRows(), columns, int(emCost/(float64(emIterations*d)*float64(d*d))))
	if !enoughComplete(part.N, d) {
		return nil, 0
	}
	var units data.Scale
	for _, j := range columns {
		units.Mean, units.Deviation = append(units.Mean, e.units.Mean[j]), append(units.Deviation, e.units.Deviation[j])
	}
	return gaussian.Fit(units.Standardised(part), emIterations, 0).Correlation(), emCandidate
}

// part copies columns of the transformed table in at most most of the rows, evenly spread.
func (e *examined) part(rows, columns []int, most int) *data.Table {
	t, n := e.after, min(len(rows), most)
	p := &data.Table{N: n, D: len(columns)}
	for a := range n {
		for _, j := range columns {
			k := rows[a*len(rows)/n]*t.D + j
			p.Values, p.Observed = append(p.Values, t.Values[k]), append(p.Observed, t.Observed[k])
		}
	}
	return p
}

// nearlyEqual reports whether 1 − r² of two transformed columns is at most explainedBut.
func (e *examined) nearlyEqual(j, k int) bool {
	t, s := e.after, e.units
	most := explainedBut * float64(e.columns[k].cells)
	var n, x, y, xx, yy, xy float64
	for i := 0; i < len(t.Values); i += t.D {
		if t.Observed[i+j] && t.Observed[i+k] {
			u, v := (t.Values[i+j]-s.Mean[j])/s.Deviation[j], (t.Values[i+k]-s.Mean[k])/s.Deviation[k]
			n, x, y, xx, yy, xy = n+1, x+u, y+v, xx+u*u, yy+v*v, xy+u*v
			if int(n)%32 == 0 && yy-y*y/n-(xy-x*y/n)*(xy-x*y/n)/(xx-x*x/n) > 1.001*most {
				return false
			}
		}
	}
	covariance, u, v := xy-x*y/n, xx-x*x/n, yy-y*y/n
	return n >= fewestRows && u > 0 && v > 0 && 1-covariance*covariance/(u*v) < explainedBut
}
