package em

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
)

// Support minimises −log det P + tr(PS), which is maximum likelihood's, over the P that
// are zero off the pairs of a network (covariance selection, Dempster 1972), by
// regressions of each column on its neighbours (Hastie, Tibshirani & Friedman 2009,
// algorithm 17.1): with W the covariances under P, whose entries on the network and the
// diagonal are those of S,
//
//	β = W_nn⁻¹ s_nj,   W_·j = W_·n β,   P_jj = 1/(s_jj − W_njᵀβ),   P_nj = −β P_jj
type Support struct {
	d          int
	neighbours [][]int
	last       []float64 // W of the last minimisation, of covariances much like these: where the next one starts
	room       []float64 // for W_nn
	column     []float64 // for W_·j
}

const (
	supportTolerance = 1e-10 // of a change of W, in units of its diagonal
	supportSweeps    = 1000
)

// NewSupport is for the pairs of packed, a P in the order of graph.PackedIndex, that are
// not zero.
func NewSupport(packed []float64, d int) *Support {
	s, most := &Support{d: d, neighbours: make([][]int, d), column: make([]float64, d)}, 0
	for j := range d {
		for k := range d {
			if j != k && packed[graph.PackedIndex(d, min(j, k), max(j, k))] != 0 {
				s.neighbours[j] = append(s.neighbours[j], k)
			}
		}
		most = max(most, len(s.neighbours[j]))
	}
	s.room = make([]float64, most*most)
	return s
}

// Minimise is a Minimiser. It is not ok where the likelihood has no maximum.
func (s *Support) Minimise(packed, cov []float64) (ok bool) {
	d := s.d
	w := s.begin(cov)
	beta, scale := make([][]float64, d), make([]float64, d)
	for j, at := range s.neighbours {
		beta[j], scale[j] = make([]float64, len(at)), math.Sqrt(cov[j*d+j])
	}
	for moved, sweeps := math.Inf(1), 0; moved > supportTolerance; sweeps++ {
		if sweeps == supportSweeps {
			return false
		}
		moved = 0
		for j := range d {
			change, ok := s.regress(j, w, cov, scale, beta)
			if !ok {
				return false
			}
			moved = max(moved, change)
		}
	}
	for j := range d {
		left := cov[j*d+j]
		for a, k := range s.neighbours[j] {
			left -= cov[j*d+k] * beta[j][a]
		}
		if !(left > 0) {
			return false
		}
		packed[graph.PackedIndex(d, j, j)] = 1 / left
		for a, k := range s.neighbours[j] {
			if k > j {
				packed[graph.PackedIndex(d, j, k)] = -beta[j][a] / left
			}
		}
	}
	return true
}

// begin is W before the first sweep.
func (s *Support) begin(cov []float64) []float64 {
	w := slices.Clone(cov)
	if s.last != nil {
		copy(w, s.last)
		for j := range s.d {
			w[j*s.d+j] = cov[j*s.d+j]
		}
	}
	s.last = w
	return w
}

// regress sets β and the covariances of column j with the others; scale are the roots of the
// variances.
func (s *Support) regress(j int, w, cov, scale []float64, beta [][]float64) (change float64, ok bool) {
	d, at := s.d, s.neighbours[j]
	n := len(at)
	if n == 0 {
		return 0, true
	}
	nn, solved := s.room[:n*n], beta[j]
	for a, k := range at {
		solved[a] = cov[k*d+j]
		for b, l := range at[a:] {
			nn[a*n+a+b] = w[k*d+l]
		}
	}
	if !eliminate(nn, solved) {
		return 0, false
	}
	v := s.column
	clear(v)
	for a, l := range at {
		floats.AddScaled(v, solved[a], w[l*d:l*d+d])
	}
	own, row := scale[j], w[j*d:j*d+d]
	v[j] = row[j]
	for k, to := range v {
		change = max(change, math.Abs(to-row[k])/(own*scale[k]))
		w[k*d+j] = to
	}
	copy(row, v)
	return change, true
}

// eliminate solves Ax = b by Gaussian elimination, x in place of b. a has the upper triangle of A,
// (n, n), which is symmetric, and is overwritten. It is not ok where A is not positive definite.
func eliminate(a, b []float64) (ok bool) {
	n := len(b)
	for j := range n {
		row := a[j*n : j*n+n]
		if !(row[j] > 0) {
			return false
		}
		for k := j + 1; k < n; k++ {
			f := row[k] / row[j]
			floats.AddScaled(a[k*n+k:k*n+n], -f, row[k:])
			b[k] -= f * b[j]
		}
	}
	for j := n - 1; j >= 0; j-- {
		row := a[j*n : j*n+n]
		for k := j + 1; k < n; k++ {
			b[j] -= row[k] * b[k]
		}
		b[j] /= row[j]
	}
	return true
}

// Ridge is, by Minimise, the minimisation step
//
//	P = ((1 − α) S + α diag S)⁻¹,   0 < α < 1,
//
// which shrinks correlations by the factor 1 − α towards none and leaves the columns'
// variances: linear shrinkage of covariances with unequal variances as its target (Schäfer
// & Strimmer 2005). By turns with the expectation step it gives dense pilot estimates
// (docs/theory/penalties.md#eq-ridge-em).
type Ridge struct{ Alpha float64 }

// Minimise is a Minimiser. It is not ok where a variance is 0.
func (r Ridge) Minimise(packed, s []float64) (ok bool) {
	d := int(math.Sqrt(float64(len(s))))
	shrunk := make([]float64, d*d)
	for j := range d {
		for k := range d {
			shrunk[j*d+k] = (1 - r.Alpha) * s[j*d+k]
		}
		shrunk[j*d+j] = s[j*d+j]
	}
	return Unpenalised(packed, shrunk)
}
