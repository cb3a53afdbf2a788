package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

const (
	emIterations = 25
	emCandidate  = 0.1  // share of a variance left: EM comes near 0 slowly, and rows decide afterwards
	emRidge      = 1e-6 // of correlations, so that dependent columns can be solved for
	emCost       = 2e9  // products at most: rows · columns³ · iterations
)

// correlation is that of some columns as they are modelled: of the complete rows where these
// are enough, else by EM for a normal distribution on as many rows as cost little; with it the
// share of a column's variance below which it is worth a look. It is nil where neither is.
func (e *examined) correlation(columns []int) (r *mat.SymDense, candidate float64) {
	d := len(columns)
	if d < 2 {
		return nil, 0
	}
	if r, n := e.complete(columns); n >= 3*d+10 {
		return r, explainedBut
	}
	rows := int(min(float64(e.N), emCost/(float64(emIterations*d)*float64(d*d))))
	if rows < 3*d+10 {
		return nil, 0
	}
	return e.standardised(columns, rows).maximise(emIterations), emCandidate
}

// unit is a column's mean and standard deviation.
type unit struct{ mean, sd float64 }

func unitOf(cells []float64) unit {
	mean, sd := stat.PopMeanStdDev(cells, nil)
	return unit{mean, sd}
}

// gapped is rows (n, d) of standardised columns with gaps, NaN.
type gapped struct {
	d int
	z []float64
}

// standardised takes some rows, evenly through the table.
func (e *examined) standardised(columns []int, rows int) gapped {
	g := gapped{d: len(columns), z: make([]float64, rows*len(columns))}
	t := e.after
	for k, j := range columns {
		u := e.units[j]
		for a := range rows {
			i := a * t.N / rows
			g.z[a*g.d+k] = math.NaN()
			if t.Observed[i*t.D+j] {
				g.z[a*g.d+k] = (t.Values[i*t.D+j] - u.mean) / u.sd
			}
		}
	}
	return g
}

// maximise is the correlation after some iterations of EM (Dempster, Laird and Rubin 1977,
// section 4.1.3): each row is completed by its expected products given what is observed.
func (g gapped) maximise(iterations int) *mat.SymDense {
	d := g.d
	mean, cov := make([]float64, d), mat.NewSymDense(d, nil)
	for j := range d {
		cov.SetSym(j, j, 1)
	}
	n := len(g.z) / d
	for range iterations {
		sum, products := make([]float64, d), mat.NewSymDense(d, nil)
		for i := range n {
			if !g.expect(g.z[i*d:(i+1)*d], mean, cov, sum, products) {
				return nil
			}
		}
		next := mat.NewSymDense(d, nil)
		for j := range d {
			mean[j] = sum[j] / float64(n)
		}
		for j := range d {
			for k := j; k < d; k++ {
				next.SetSym(j, k, products.At(j, k)/float64(n)-mean[j]*mean[k])
			}
		}
		cov = next
	}
	r := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			r.SetSym(j, k, cov.At(j, k)/math.Sqrt(cov.At(j, j)*cov.At(k, k)))
		}
	}
	return r
}

// expect adds E[x] and E[xxᵀ] of one row given its observed cells.
func (g gapped) expect(row, mean []float64, cov *mat.SymDense, sum []float64, products *mat.SymDense) bool {
	var seen, gaps []int
	x := slices.Clone(row)
	for j, v := range row {
		if math.IsNaN(v) {
			gaps = append(gaps, j)
			x[j] = mean[j]
		} else {
			seen = append(seen, j)
		}
	}
	slopes, ok := regression(cov, seen, gaps)
	if !ok {
		return false
	}
	for b, k := range gaps {
		for a, j := range seen {
			x[k] += slopes.At(a, b) * (row[j] - mean[j])
		}
		for _, l := range gaps[b:] {
			left := cov.At(k, l)
			for a, j := range seen {
				left -= slopes.At(a, b) * cov.At(j, l)
			}
			products.SetSym(k, l, products.At(k, l)+left)
		}
	}
	products.SymRankOne(products, 1, mat.NewVecDense(len(x), x))
	floats.Add(sum, x)
	return true
}

// regression gives the slopes (seen, gaps) of the columns gaps on the columns seen.
func regression(cov *mat.SymDense, seen, gaps []int) (slopes *mat.Dense, ok bool) {
	slopes = &mat.Dense{}
	if len(seen) == 0 || len(gaps) == 0 {
		return slopes, true
	}
	inner, cross := mat.NewSymDense(len(seen), nil), mat.NewDense(len(seen), len(gaps), nil)
	for a, j := range seen {
		for b := a; b < len(seen); b++ {
			inner.SetSym(a, b, cov.At(j, seen[b]))
		}
		inner.SetSym(a, a, inner.At(a, a)+emRidge)
		for b, k := range gaps {
			cross.Set(a, b, cov.At(j, k))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(inner) {
		return nil, false
	}
	err := factor.SolveTo(slopes, cross)
	return slopes, err == nil || !math.IsInf(factor.Cond(), 1)
}
