package em

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/internal/simd"
	"missingscore/internal/trainers/optim"
)

// Lasso minimises over symmetric P (d, d) the score-matching loss of a normal distribution with
// second moments S about its mean and an L1 penalty:
//
//	½ tr(PSP) − tr P + λ Σ_{j<k} w_jk |P_jk|
//
// (Zhang & Zou 2014; Lin, Drton & Shojaie 2016). It is the minimisation step of em-exact
// (docs/theory/complete-data.md#eq-em-exact). With V = PS the derivatives are V_jj − 1 by P_jj and
// V_jk + V_kj by a pair, with curvatures S_jj and S_jj + S_kk.
type Lasso struct {
	// Tolerance ends the descent: largest coordinate step times its curvature; default 1e-7.
	Tolerance float64
	// Weights are w ≥ 0 in the order of graph.PackedIndex; the diagonal is ignored; nil: all 1.
	Weights []float64
	Workers int // default 1; the result does not depend on it

	d      int
	p, v   []float64 // P and PS, (d, d)
	active []pair
	in     []bool            // active, (d, d), upper triangle
	order  *optim.Tournament // of the active pairs
}

type pair struct{ j, k int }

const (
	lassoVisits = 5_000_000 // limit of coordinate visits per minimisation, about a second for a hundred columns
	lassoSweeps = 10_000    // limit of sweeps over one set of active pairs
	fewVisits   = 1_000_000 // element visits per sweep up to which one worker is used, a millisecond
)

func NewLasso(d int) *Lasso {
	return &Lasso{Tolerance: 1e-7, d: d, p: make([]float64, d*d), v: make([]float64, d*d), in: make([]bool, d*d), order: optim.NewTournament(d)}
}

// Minimise moves packed, P in the order of graph.PackedIndex, to the minimum for s (d, d). Zero
// pairs are active from the start if their derivative is at least w·screen: λ, or 2λ − λ' by the
// sequential strong rule (Tibshirani et al. 2012) if P is the minimum for λ'. ok is false if P
// diverges or after 5 million visits.
func (l *Lasso) Minimise(packed, s []float64, lambda, screen float64) (ok bool) {
	l.start(packed, s)
	l.join(screen, 0)
	for visits := 0; ; {
		var ahead leap
		l.draw()
		for moved := math.Inf(1); moved > l.Tolerance; visits += l.d + len(l.active) {
			if moved = l.sweep(s, lambda); !(moved < 1e12) || visits > lassoVisits || ahead.sweeps > lassoSweeps {
				return false
			}
			if moved > l.Tolerance {
				ahead.after(l, s, lambda)
			}
		}
		if !l.join(lambda*(1+1e-9), l.Tolerance) {
			break
		}
	}
	for j := range l.d {
		copy(packed[graph.PackedIndex(l.d, j, j):], l.p[j*l.d+j:j*l.d+l.d])
	}
	return true
}

func (l *Lasso) start(packed, s []float64) {
	d := l.d
	l.active = l.active[:0]
	clear(l.in)
	clear(l.v)
	for j := range d {
		for k := j; k < d; k++ {
			value := packed[graph.PackedIndex(d, j, k)]
			l.p[j*d+k], l.p[k*d+j] = value, value
			if value == 0 {
				continue
			}
			l.add(l.v[j*d:j*d+d], value, s[k*d:k*d+d])
			if j < k {
				l.add(l.v[k*d:k*d+d], value, s[j*d:j*d+d])
				l.active, l.in[j*d+k] = append(l.active, pair{j, k}), true
			}
		}
	}
}

// wide is the size from which vector operations use BLAS.
const wide = 32

func (l *Lasso) add(to []float64, by float64, from []float64) {
	if l.d < wide {
		floats.AddScaled(to, by, from)
		return
	}
	simd.Axpy(to, []float64{by}, from)
}

func (l *Lasso) weight(j, k int) float64 {
	if l.Weights == nil {
		return 1
	}
	return l.Weights[graph.PackedIndex(l.d, j, k)]
}

func (l *Lasso) join(screen, slack float64) (any bool) {
	d := l.d
	for j := range d {
		for k := j + 1; k < d; k++ {
			if !l.in[j*d+k] && math.Abs(l.v[j*d+k]+l.v[k*d+j]) >= max(l.weight(j, k)*screen+slack, 0) {
				l.active, l.in[j*d+k], any = append(l.active, pair{j, k}), true, true
			}
		}
	}
	return any
}

func (l *Lasso) draw() {
	optim.Draw(l.order, l.active, func(a pair) (j, k int) { return a.j, a.k })
}

// sweep returns the largest step times its curvature.
func (l *Lasso) sweep(s []float64, lambda float64) (moved float64) {
	d := l.d
	for j := range d {
		step := (1 - l.v[j*d+j]) / s[j*d+j]
		l.p[j*d+j] += step
		l.add(l.v[j*d:j*d+d], step, s[j*d:j*d+d])
		moved = max(moved, math.Abs(step*s[j*d+j]))
	}
	workers := 1
	if l.d*len(l.active) > fewVisits {
		workers = max(1, l.Workers)
	}
	return max(moved, l.order.Play(workers, func(from, to int) float64 { return l.visit(l.active[from:to], s, lambda) }))
}

func (l *Lasso) visit(pairs []pair, s []float64, lambda float64) (moved float64) {
	d := l.d
	for _, a := range pairs {
		j, k := a.j, a.k
		curvature, old := s[j*d+j]+s[k*d+k], l.p[j*d+k]
		to := optim.SoftThreshold(old*curvature-l.v[j*d+k]-l.v[k*d+j], l.weight(j, k)*lambda) / curvature
		step := to - old
		if step == 0 {
			continue
		}
		l.p[j*d+k], l.p[k*d+j] = to, to
		l.add(l.v[j*d:j*d+d], step, s[k*d:k*d+d])
		l.add(l.v[k*d:k*d+d], step, s[j*d:j*d+d])
		moved = max(moved, math.Abs(step*curvature))
	}
	return moved
}

// Anderson's acceleration of coordinate descent (Bertrand & Massias 2021) every leapEvery sweeps,
// accepted if the loss is less.
const (
	leapMemory = 4  // earlier sweeps in a leap
	leapEvery  = 20 // sweeps
	leapAfter  = 80 // sweeps before the first leap, a multiple of leapEvery
)

type leap struct {
	anderson optim.Anderson
	sweeps   int
	x        []float64 // coordinates before the next sweep, if it is used
}

func (e *leap) after(l *Lasso, s []float64, lambda float64) {
	if e.sweeps++; e.sweeps <= leapAfter {
		return
	}
	left := leapEvery - e.sweeps%leapEvery // sweeps to the next leap
	if left > leapMemory+1 && left < leapEvery {
		return
	}
	g := l.coordinates()
	if left <= leapMemory || left == leapEvery {
		e.anderson.Memory = leapMemory
		e.anderson.Remember(e.x, g)
	}
	if e.x = g; left < leapEvery {
		return
	}
	ahead, loss := e.anderson.Ahead(), l.loss(lambda)
	e.anderson.Forget()
	if l.put(ahead, s); !(l.loss(lambda) < loss) {
		l.put(g, s)
	}
}

func (l *Lasso) coordinates() []float64 {
	x := make([]float64, 0, l.d+len(l.active))
	for j := range l.d {
		x = append(x, l.p[j*l.d+j])
	}
	for _, a := range l.active {
		x = append(x, l.p[a.j*l.d+a.k])
	}
	return x
}

func (l *Lasso) put(coordinates, s []float64) {
	d := l.d
	clear(l.v)
	for j := range d {
		l.p[j*d+j] = coordinates[j]
		l.add(l.v[j*d:j*d+d], coordinates[j], s[j*d:j*d+d])
	}
	for i, a := range l.active {
		j, k, value := a.j, a.k, coordinates[d+i]
		l.p[j*d+k], l.p[k*d+j] = value, value
		if value != 0 {
			l.add(l.v[j*d:j*d+d], value, s[k*d:k*d+d])
			l.add(l.v[k*d:k*d+d], value, s[j*d:j*d+d])
		}
	}
}

func (l *Lasso) loss(lambda float64) (sum float64) {
	d := l.d
	for i, p := range l.p {
		sum += p * l.v[i] / 2
	}
	for j := range d {
		sum -= l.p[j*d+j]
	}
	for _, a := range l.active {
		sum += lambda * l.weight(a.j, a.k) * math.Abs(l.p[a.j*d+a.k])
	}
	return sum
}
