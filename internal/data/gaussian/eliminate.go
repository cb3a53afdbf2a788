package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Elimination factors symmetric positive definite matrices A (d, d): columns with few neighbours
// are eliminated one by one, fewest first, the others densely
// (docs/theory/gaussian.md#eq-elimination). It is not safe for concurrent use.
type Elimination struct {
	factor func(a []float64, n, stride int) (ok bool) // as Algebra.Factor

	d     int
	a     []float64 // (d, d) off the diagonal, without the contributions of eliminated columns
	pivot []float64 // diagonal, likewise
	near  [][]int32 // remaining columns with non-zero A; of an eliminated column, those at its elimination
	order []int     // eliminated columns
	rest  []int     // the others
	dense []float64 // their factor
	mark  []bool    // work space
	part  []float64 // work space
}

const (
	leastEliminated = 64 // smallest d for which columns are eliminated
	denseColumns    = 7  // with more than 1/7 of the remaining columns as neighbours, dense is faster
)

// NewElimination factors dense matrices by factor, as Algebra.Factor.
func NewElimination(d int, factor func(a []float64, n, stride int) (ok bool)) *Elimination {
	vector := func() []float64 { return make([]float64, d) }
	return &Elimination{factor: factor, d: d, a: make([]float64, d*d), pivot: vector(), near: make([][]int32, d), mark: make([]bool, d), part: vector()}
}

// Factor factors A − floor·I. row returns the elements of row j from the diagonal on. ok is false
// if the matrix is not positive definite.
func (e *Elimination) Factor(row func(j int) []float64, floor float64) (logDet float64, ok bool) {
	d := e.d
	for j, near := range e.near {
		for _, k := range near {
			e.a[j*d+int(k)] = 0
		}
		e.near[j] = near[:0]
	}
	e.order, e.rest = e.order[:0], e.rest[:0]
	for j := range d {
		e.rest = append(e.rest, j)
		upper := row(j)
		e.pivot[j] = upper[0] - floor
		for i, v := range upper[1:] {
			if k := j + 1 + i; v != 0 {
				e.a[j*d+k], e.a[k*d+j] = v, v
				e.near[j], e.near[k] = append(e.near[j], int32(k)), append(e.near[k], int32(j))
			}
		}
	}
	for d >= leastEliminated && len(e.rest) > 0 {
		place := 0
		for i, j := range e.rest {
			if len(e.near[j]) < len(e.near[e.rest[place]]) {
				place = i
			}
			if len(e.near[e.rest[place]]) < 2 {
				break
			}
		}
		j, last := e.rest[place], len(e.rest)-1
		if denseColumns*len(e.near[j]) > last {
			break
		}
		if !(e.pivot[j] > 0) {
			return 0, false
		}
		e.rest[place], e.rest = e.rest[last], e.rest[:last]
		e.eliminate(j)
		logDet += math.Log(e.pivot[j])
	}
	of, ok := e.factorRest()
	return logDet + of, ok
}

// eliminate subtracts A_·j A_j· / A_jj from the remaining columns.
func (e *Elimination) eliminate(j int) {
	d, near := e.d, e.near[j]
	row := e.a[j*d : j*d+d]
	e.order = append(e.order, j)
	for x, a := range near {
		others := e.near[a]
		at := slices.Index(others, int32(j))
		others[at] = others[len(others)-1]
		others = others[:len(others)-1]
		for _, b := range others {
			e.mark[b] = true
		}
		by := row[a] / e.pivot[j]
		e.a[int(a)*d+j] = 0
		e.pivot[a] -= by * row[a]
		for y, b := range near {
			if b != a && !e.mark[b] {
				others = append(others, b)
			}
			if y > x {
				v := e.a[int(a)*d+int(b)] - by*row[b]
				e.a[int(a)*d+int(b)], e.a[int(b)*d+int(a)] = v, v
			}
		}
		for _, b := range others {
			e.mark[b] = false
		}
		e.near[a] = others
	}
}

func (e *Elimination) factorRest() (logDet float64, ok bool) {
	n := len(e.rest)
	if n == 0 {
		return 0, true
	}
	slices.Sort(e.rest)
	e.dense = room(e.dense, n*n)
	for x, j := range e.rest {
		for y, k := range e.rest[:x] {
			e.dense[x*n+y] = e.a[j*e.d+k]
		}
		e.dense[x*n+x] = e.pivot[j]
	}
	if !e.factor(e.dense, n, n) {
		return 0, false
	}
	for x := range n {
		logDet += 2 * math.Log(e.dense[x*n+x])
	}
	return logDet, true
}

// Solve overwrites x (d) with A⁻¹x.
func (e *Elimination) Solve(x []float64) {
	for _, j := range e.order {
		by := x[j] / e.pivot[j]
		for _, k := range e.near[j] {
			x[k] -= e.a[j*e.d+int(k)] * by
		}
	}
	if n := len(e.rest); n > 0 {
		for i, j := range e.rest {
			e.part[i] = x[j]
		}
		l, v := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: n, Data: e.dense}, blas64.Vector{N: n, Inc: 1, Data: e.part}
		blas64.Trsv(blas.NoTrans, l, v)
		blas64.Trsv(blas.Trans, l, v)
		for i, j := range e.rest {
			x[j] = e.part[i]
		}
	}
	for _, j := range slices.Backward(e.order) {
		for _, k := range e.near[j] {
			x[j] -= e.a[j*e.d+int(k)] * x[k]
		}
		x[j] /= e.pivot[j]
	}
}
