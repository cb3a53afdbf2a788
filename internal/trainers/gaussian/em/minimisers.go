package em

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
)

// Support minimises −log det P + tr(PS) over the P that are zero off the pairs of a network
// (covariance selection, Dempster 1972), by regressions of each column on its neighbours (Hastie,
// Tibshirani & Friedman 2009, algorithm 17.1). With W the covariances under P, equal to S on the
// network and the diagonal:
//
//	β = W_nn⁻¹ s_nj,   W_·j = W_·n β,   P_jj = 1/(s_jj − W_njᵀβ),   P_nj = −β P_jj
type Support struct {
	d          int
	neighbours [][]int
	last       []float64 // W of the last minimisation, the start of the next
	share      float64   // supportShare after Start
	beta       [][]float64
	room       []float64 // buffer for W_nn
	column     []float64 // buffer for W_·j
}

const (
	supportTolerance = 1e-10 // change of W in units of its diagonal
	supportShare     = 1e-5  // share of the first sweep's change after Start; later iterations correct the rest
	supportSweeps    = 1000
	mostHalvings     = 5 // of the way to the covariances
)

func NewSupport(packed []float64, d int) *Support {
	s, most := &Support{d: d, neighbours: make([][]int, d), beta: make([][]float64, d), column: make([]float64, d)}, 0
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

// Start sets the next start to covariances (d, d), positive definite.
func (s *Support) Start(w []float64) { s.last, s.share = w, supportShare }

// Minimise is a Minimiser. ok is false if the likelihood has no maximum.
func (s *Support) Minimise(packed, cov []float64) (ok bool) {
	if !s.reach(cov, mostHalvings) {
		return false
	}
	d := s.d
	for j := range d {
		left := cov[j*d+j]
		for a, k := range s.neighbours[j] {
			left -= cov[j*d+k] * s.beta[j][a]
		}
		if !(left > 0) {
			return false
		}
		packed[graph.PackedIndex(d, j, j)] = 1 / left
		for a, k := range s.neighbours[j] {
			if k > j {
				packed[graph.PackedIndex(d, j, k)] = -s.beta[j][a] / left
			}
		}
	}
	return true
}

// If W becomes indefinite, reach goes by covariances halfway, up to halvings times.
func (s *Support) reach(cov []float64, halvings int) (ok bool) {
	from := s.last
	if s.sweeps(s.begin(cov), cov) {
		return true
	}
	if s.last = from; from == nil || halvings == 0 {
		return false
	}
	halfway := slices.Clone(cov)
	floats.Add(halfway, from)
	floats.Scale(0.5, halfway)
	return s.reach(halfway, halvings-1) && s.reach(cov, halvings-1)
}

func (s *Support) sweeps(w, cov []float64) (ok bool) {
	d, scale := s.d, make([]float64, s.d)
	for j, at := range s.neighbours {
		scale[j] = math.Sqrt(cov[j*d+j])
		if s.beta[j] == nil {
			s.beta[j] = make([]float64, len(at))
		}
	}
	first := 0.0
	for moved, sweeps := math.Inf(1), 0; moved > max(supportTolerance, s.share*first); sweeps++ {
		if sweeps == supportSweeps {
			return false
		}
		if sweeps == 1 {
			first = moved
		}
		moved = 0
		for j := range d {
			change, ok := s.regress(j, w, cov, scale)
			if !ok {
				return false
			}
			moved = max(moved, change)
		}
	}
	s.last = w
	return true
}

func (s *Support) begin(cov []float64) (w []float64) {
	if s.last == nil {
		return slices.Clone(cov)
	}
	w = slices.Clone(s.last)
	scale := make([]float64, s.d) // keeps it positive definite
	for j := range scale {
		scale[j] = math.Sqrt(cov[j*s.d+j] / w[j*s.d+j])
	}
	for j, by := range scale {
		row := w[j*s.d : j*s.d+s.d]
		floats.Mul(row, scale)
		floats.Scale(by, row)
		row[j] = cov[j*s.d+j]
	}
	return w
}

func (s *Support) regress(j int, w, cov, scale []float64) (change float64, ok bool) {
	d, at := s.d, s.neighbours[j]
	n := len(at)
	if n == 0 {
		return 0, true
	}
	nn, solved := s.room[:n*n], s.beta[j]
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

// eliminate solves Ax = b in place; a is the upper triangle of A. ok is false if A is not positive
// definite.
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

// Ridge is the minimisation step
//
//	P = ((1 − α) S + α diag S)⁻¹,   0 < α < 1,
//
// (Schäfer & Strimmer 2005), for dense pilot estimates (docs/theory/penalties.md#eq-ridge-em).
type Ridge struct{ Alpha float64 }

// Minimise is a Minimiser; ok is false if a variance is 0.
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
