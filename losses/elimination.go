package losses

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// elimination inverts a positive definite matrix A (m, m) with many zeros. Columns with few
// neighbours are eliminated one by one, always one that has the fewest then (minimum degree:
// Tinney & Walker 1967), until the rest, the core, has few zeros. In the opposite order, the
// core being first, column t with the neighbours N then has
//
//	l = A_tN / A_tt,   A_NN ← A_NN − A_tt l lᵀ
//
// and after the core has been inverted, with C the inverse of what comes before t,
//
//	C_t· = −lᵀ C_N·,   C_tt = 1/A_tt − lᵀ C_Nt
//
// so that a column costs as much as it has neighbours times columns before it, and not the
// square of these.
type elimination struct {
	m, core int
	words   int      // of 64 columns
	joined  []uint64 // (m, words): the neighbours of each column among those that are left
	degree  []int
	left    []bool

	gone       []int // eliminated, the first first
	neighbours []int // theirs then, one after the other
	starts     []int // of these
	turned     []int // place of each column in the order
	ordered    []int
	slopes     []float64 // l, like neighbours
	pivots     []float64 // A_tt, like gone
	rest       []float64 // the core
	whole      []int
}

// densest is the share of the core that a column's neighbours make up where the elimination ends.
const densest = 0.5

// begin prepares for m columns without neighbours.
func (e *elimination) begin(m int) {
	e.m, e.words = m, (m+63)/64
	e.joined, e.degree, e.left = room(e.joined, m*e.words), room(e.degree, m), room(e.left, m)
	clear(e.joined)
	for j := range e.left {
		e.left[j], e.degree[j] = true, 0
	}
	e.gone, e.neighbours, e.starts = e.gone[:0], e.neighbours[:0], append(e.starts[:0], 0)
}

// join makes column k a neighbour of j.
func (e *elimination) join(j, k int) {
	e.joined[j*e.words+k/64] |= 1 << (k % 64)
	e.degree[j]++
}

// order finds the columns to eliminate and puts at, as long as A is, into the opposite order.
func (e *elimination) order(at []int) {
	for left := e.m; left > 0; left-- {
		least := -1
		for j, in := range e.left {
			if in && (least < 0 || e.degree[j] < e.degree[least]) {
				least = j
			}
		}
		if float64(e.degree[least]) > densest*float64(left-1) && left > 2 {
			break
		}
		e.eliminate(least)
	}
	e.core = e.m - len(e.gone)
	e.turned, e.ordered = room(e.turned, e.m), room(e.ordered, e.m)
	place := 0
	for j, in := range e.left {
		if in {
			e.turned[j] = place
			place++
		}
	}
	for i, j := range e.gone {
		e.turned[j] = e.m - 1 - i
	}
	for j, t := range e.turned[:e.m] {
		e.ordered[t] = at[j]
	}
	copy(at, e.ordered[:e.m])
	for i, j := range e.neighbours {
		e.neighbours[i] = e.turned[j]
	}
}

// eliminate takes column j out, whose neighbours become each other's.
func (e *elimination) eliminate(j int) {
	own := e.joined[j*e.words : (j+1)*e.words]
	e.left[j] = false
	from := len(e.neighbours)
	for w, word := range own {
		for ; word != 0; word &= word - 1 {
			e.neighbours = append(e.neighbours, 64*w+bits.TrailingZeros64(word))
		}
	}
	for _, k := range e.neighbours[from:] {
		other, degree := e.joined[k*e.words:(k+1)*e.words], 0
		for w, word := range own {
			other[w] |= word
		}
		other[j/64] &^= 1 << (j % 64)
		other[k/64] &^= 1 << (k % 64)
		for _, word := range other {
			degree += bits.OnesCount64(word)
		}
		e.degree[k] = degree
	}
	e.gone, e.starts = append(e.gone, j), append(e.starts, len(e.neighbours))
}

// of are the neighbours of the column that is the i-th to be eliminated, and its slopes.
func (e *elimination) of(i int) (neighbours []int, slopes []float64) {
	return e.neighbours[e.starts[i]:e.starts[i+1]], e.slopes[e.starts[i]:e.starts[i+1]]
}

// invert puts A's inverse in place of A, whose columns are in the order found, and gives A's
// log determinant. It is not ok where A is not positive definite.
func (e *elimination) invert(a []float64) (logDet float64, ok bool) {
	m := e.m
	e.slopes, e.pivots = room(e.slopes, len(e.neighbours)), room(e.pivots, len(e.gone))
	for i := range e.gone {
		t := m - 1 - i
		row, pivot := a[t*m:t*m+m], a[t*m+t]
		if !(pivot > 0) {
			return 0, false
		}
		e.pivots[i] = pivot
		logDet += math.Log(pivot)
		neighbours, slopes := e.of(i)
		for n, j := range neighbours {
			slopes[n] = row[j] / pivot
		}
		for n, j := range neighbours {
			other := a[j*m : j*m+m]
			for _, k := range neighbours {
				other[k] -= slopes[n] * row[k]
			}
		}
	}
	core, ok := e.invertCore(a)
	if !ok {
		return 0, false
	}
	for i := len(e.gone) - 1; i >= 0; i-- {
		e.grow(a, i)
	}
	return logDet + core, true
}

// invertCore inverts the leading block of a.
func (e *elimination) invertCore(a []float64) (logDet float64, ok bool) {
	n := e.core
	for j := len(e.whole); j < n; j++ {
		e.whole = append(e.whole, j)
	}
	e.rest = room(e.rest, n*n)
	if logDet, ok = invert(e.rest, a, e.m, e.whole[:n]); ok {
		for j := range n {
			copy(a[j*e.m:j*e.m+n], e.rest[j*n:j*n+n])
		}
	}
	return logDet, ok
}

// grow adds to the inverse in the leading block the column that is the i-th to be eliminated.
func (e *elimination) grow(a []float64, i int) {
	m := e.m
	t := m - 1 - i
	row := a[t*m : t*m+t]
	clear(row)
	neighbours, slopes := e.of(i)
	for n, j := range neighbours {
		floats.AddScaled(row, -slopes[n], a[j*m:j*m+t])
	}
	own := 1 / e.pivots[i]
	for n, j := range neighbours {
		own -= slopes[n] * row[j]
	}
	a[t*m+t] = own
	blas64.Copy(blas64.Vector{N: t, Inc: 1, Data: row}, blas64.Vector{N: t, Inc: m, Data: a[t:]})
}
