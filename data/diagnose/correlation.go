package diagnose

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/gaussian"
)

const (
	emIterations = 25
	emCandidate  = 0.1 // share of a variance left: EM comes near 0 slowly, and rows decide afterwards
	emCost       = 2e9 // products at most: rows · columns³ · iterations
)

// enoughComplete tells whether so many rows determine the correlation of d columns well enough
// to look for combinations in it.
func enoughComplete(rows, d int) bool { return rows >= 3*d+10 }

// correlation is that of some columns as they are modelled: of the complete rows where these
// are enough, else by EM for a normal distribution on as many rows as cost little; with it the
// share of a column's variance below which it is worth a look. It is nil where neither is.
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

// unit is a column's mean and standard deviation.
type unit struct{ mean, sd float64 }

func unitOf(cells []float64) unit {
	mean, sd := stat.PopMeanStdDev(cells, nil)
	return unit{mean, sd}
}

// standardised takes some rows, evenly through the table.
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
