package descent

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
	"missingscore/trainers/penalty"
)

type spectral struct {
	optim.Spectral
	Lambda float64 // 0: not started
	Start  float64 // |F| at the start
	Count  int     // iterations
}

const (
	proximalTolerance       = 1e-7
	proximalSingleTolerance = 1e-3 // with float32
	firstStep               = 1e-2
	longestStep             = 1e6
	mostHalved              = 1e-6 // of a step
)

func refusedByProximal(p Problem) error {
	if !p.Penalised {
		return errors.New("proximal needs a penalty; give one, or use lbfgs")
	}
	return refusedByLBFGS(p)
}

type proximal struct {
	minimiser
	inverse []float64 // M⁻¹
	from    int       // index of the matrix among all parameters
}

// runProximal minimises F = ℓ + λ Σ_{j<k} Ω(m_jk), with a deterministic ℓ, over all rows by
// proximal gradient steps
//
//	θ⁺ = prox(θ − tM⁻¹∇ℓ),   M = 2 for couplings, which are two elements of a matrix, else 1
//
// within positive definite matrices of couplings. t is optim.Spectral's, halved until F falls. It
// ends when the relative proximal gradient
//
//	max_j |θ_j − prox(θ − tM⁻¹∇ℓ)_j| / (t/M_j) · max(|θ_j|, 1) / max(|F|, |F at the start|)
//
// is below Config.Tolerance.
func runProximal(ctx context.Context, f *Fit) error {
	p := newProximal(f)
	if err := p.evaluate(ctx); err != nil {
		return err
	}
	s := &f.State.Spectral
	if s.Lambda != f.shrink.lambda {
		value := p.value()
		step := s.Step
		setting.Default(&step, firstStep)
		*s = spectral{optim.Spectral{Recent: []float64{value}, Step: step}, f.shrink.lambda, math.Abs(value), 0}
		f.State.Stuck = false
	}
	for s.Count == 0 || s.Count < f.Config.Iterations && p.residual() > f.Config.Tolerance && !f.State.Stuck {
		if err := p.iterate(ctx); err != nil {
			return err
		}
		if err := f.Save(); err != nil {
			return err
		}
	}
	return nil
}

func newProximal(f *Fit) *proximal {
	p := &proximal{minimiser: minimiser{Fit: f, rows: f.Table.AllRows()}}
	f.Condense(p.rows)
	for i, q := range f.Model.Params() {
		inverse := slices.Repeat([]float64{1}, len(q.Value))
		if i == f.shrink.place {
			p.from = len(p.inverse)
			f.shrink.each(func(k int) { inverse[k] = 0.5 })
		}
		p.inverse = append(p.inverse, inverse...)
	}
	return p
}

func (p *proximal) value() float64 { return p.loss + p.shrink.value() }

func (p *proximal) step(theta []float64, t float64) []float64 {
	to := make([]float64, len(theta))
	for i, v := range theta {
		to[i] = v - t*p.inverse[i]*p.gradient[i]
	}
	matrix := to[p.from : p.from+len(p.shrink.matrix.Value)]
	copy(matrix, p.shrink.proximal(matrix, t))
	return to
}

func (p *proximal) residual() (most float64) {
	theta, t := p.theta(), p.State.Spectral.Step
	to := p.step(theta, t)
	for i, v := range theta {
		most = max(most, math.Abs(v-to[i])/(t*p.inverse[i])*max(math.Abs(v), 1))
	}
	return most / max(math.Abs(p.value()), p.State.Spectral.Start)
}

// After an error the parameters are unchanged.
func (p *proximal) iterate(ctx context.Context) error {
	s, theta, loss, gradient := &p.State.Spectral, p.theta(), p.loss, p.gradient
	slack := p.rounding() * max(math.Abs(p.value()), s.Start)
	for t := s.Step; t > mostHalved*s.Step; t /= 2 {
		p.gradient = gradient // trials overwrite it
		to := p.step(theta, t)
		p.set(to)
		if err := p.evaluate(ctx); engine.Diverged(err) {
			continue
		} else if err != nil {
			p.set(theta)
			p.loss, p.gradient = loss, gradient
			return err
		}
		moved := 0.0
		for i, v := range to {
			moved += (v - theta[i]) * (v - theta[i]) / p.inverse[i]
		}
		if moved > 0 && s.Falls(p.value(), t, moved, slack) {
			s.Accept(p.value(), t, theta, to, gradient, p.gradient, p.inverse)
			s.Step = min(s.Step, longestStep)
			s.Count++
			p.State.Iteration++
			p.Report(engine.Progress{Stage: "fit", Unit: "iteration", Iteration: s.Count, Total: p.Fit.Config.Iterations, Lambda: s.Lambda, Loss: p.loss, EffectiveSize: math.NaN()})
			return p.note(p.residual())
		}
	}
	p.set(theta)
	p.loss, p.gradient = loss, gradient
	p.State.Stuck = true
	return nil
}

func atLastLambda(h []Record) []Record {
	from := len(h) - 1
	for from > 0 && h[from-1].Lambda == h[len(h)-1].Lambda {
		from--
	}
	return h[max(from, 0):]
}

type shrinkage struct {
	by     penalty.Penalty
	lambda float64      // +Inf: all couplings are 0
	matrix *graph.Param // packed
	place  int          // index of matrix among the model's parameters
	d      int
	least  float64 // minimum eigenvalue of the matrix
	bounds optim.PositiveDefinite
}

// leastEigenvalue is the minimum eigenvalue relative to the mean diagonal at the start.
const leastEigenvalue = 1e-3

// least is 0 if the model is at its start.
func newShrinkage(c penalty.Config, m model.Model, least float64) (*shrinkage, error) {
	by, err := penalty.ByName(c.Kind)
	if err != nil {
		return nil, err
	}
	coupled, _ := model.CoupledOf(m) // checked by checkPenalised
	s := &shrinkage{by: by, matrix: coupled.Matrix(), d: m.Dim()}
	s.place = slices.Index(m.Params(), s.matrix)
	if s.least = least; least == 0 {
		s.least = leastEigenvalue * s.size()
	}
	return s, nil
}

func (s *shrinkage) each(visit func(i int)) {
	for j := range s.d {
		for k := j + 1; k < s.d; k++ {
			visit(graph.PackedIndex(s.d, j, k))
		}
	}
}

// value returns λ Σ_{j<k} Ω(m_jk).
func (s *shrinkage) value() (sum float64) {
	s.each(func(i int) {
		if v := s.matrix.Value[i]; v != 0 {
			sum += s.lambda * s.by.Value(v)
		}
	})
	return sum
}

func (s *shrinkage) size() (mean float64) {
	for j := range s.d {
		mean += s.matrix.Value[graph.PackedIndex(s.d, j, j)] / float64(s.d)
	}
	return mean
}

// proximal returns the proximal map of λtΩ at a packed matrix, over matrices with eigenvalues of at
// least s.least, in the metric in which a coupling counts twice. Dykstra's corrections (Bauschke &
// Combettes 2008).
func (s *shrinkage) proximal(packed []float64, t float64) []float64 {
	shrunk := slices.Clone(packed)
	s.each(func(i int) { shrunk[i] = s.by.Shrink(packed[i], s.lambda*t/2) })
	if !engine.Finite(shrunk...) || s.inside(shrunk) {
		return shrunk
	}
	n := len(packed)
	x, p, q := slices.Clone(packed), make([]float64, n), make([]float64, n)
	for range mostTurns {
		sum, furthest := make([]float64, n), 0.0
		for i := range sum {
			sum[i] = x[i] + p[i]
			shrunk[i] = sum[i]
		}
		s.each(func(i int) { shrunk[i] = s.by.Shrink(sum[i], s.lambda*t/2) })
		for i := range sum {
			p[i] = sum[i] - shrunk[i]
			sum[i] = shrunk[i] + q[i]
		}
		x = s.nearest(sum)
		for i := range sum {
			q[i] = sum[i] - x[i]
			furthest = max(furthest, math.Abs(x[i]-shrunk[i]))
		}
		if furthest < alike*s.least {
			break
		}
	}
	return shrunk
}

const (
	mostTurns = 1000
	alike     = 1e-7 // relative to the minimum eigenvalue: agreement of the two maps
)

func (s *shrinkage) nearest(packed []float64) []float64 {
	var e mat.EigenSym
	if !e.Factorize(graph.Unpack(s.d, packed), true) {
		return packed
	}
	var vectors, scaled mat.Dense
	e.VectorsTo(&vectors)
	values := e.Values(nil)
	for j, v := range values {
		values[j] = max(v, s.least)
	}
	scaled.Mul(&vectors, mat.NewDiagDense(s.d, values))
	var product mat.Dense
	product.Mul(&scaled, vectors.T())
	return graph.Pack(&product)
}

func (s *shrinkage) inside(packed []float64) bool {
	s.bounds.Floor = s.least / 2
	return s.bounds.InsidePacked(packed, s.d)
}

// afterAdam applies the penalty's proximal map in the metric of a step of Adam (ProxGen, Yun,
// Lozano & Yang 2021).
func (s *shrinkage) afterAdam(a *optim.Adam) {
	if s == nil {
		return
	}
	s.each(func(i int) {
		s.matrix.Value[i] = s.by.Shrink(s.matrix.Value[i], s.lambda*a.Length(s.place, i))
	})
	s.bounds.Floor = s.least
	s.bounds.ProjectPacked(s.matrix.Value, s.d) // zeros stay
}
