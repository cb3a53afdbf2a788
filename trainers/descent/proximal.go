package descent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"missingscore/internal/setting"
	"missingscore/trainers/engine"
)

// Proximal is for fits with a penalty whose loss is a function of the parameters. It minimises
// F = ℓ + λ Σ_{j<k} Ω(m_jk) over all rows at once by proximal gradient steps
//
//	θ⁺ = prox(θ − tM⁻¹∇ℓ),   M = 2 for couplings, which are two elements of a matrix, else 1
//
// on matrices of couplings that are positive definite, whose t is a Barzilai–Borwein step, long
// and short by turns, halved until F is lower by 10⁻⁴/(2t) ‖θ⁺ − θ‖²_M than the greatest of
// the last F's (SpaRSA, Wright, Nowak & Figueiredo 2009). It ends where
//
//	max_j |θ_j − prox(θ − tM⁻¹∇ℓ)_j| / (t/M_j) · max(|θ_j|, 1) / max(|F|, |F at the start|)
//
// the relative gradient of what is smooth there, is under Config.Tolerance.
type Proximal struct{}

// Spectral is its state at one λ.
type Spectral struct {
	Lambda float64   // 0: it has not begun
	Recent []float64 // the last F's
	Start  float64   // |F| at the start
	Step   float64   // t to try next
	Long   bool      // which of the two steps comes next
	Count  int       // iterations
}

const (
	proximalTolerance       = 1e-7
	proximalSingleTolerance = 1e-3 // of float32
	recentValues            = 5
	proximalDecrease        = 1e-4
	firstStep               = 1e-2
	longestStep             = 1e6
	mostHalved              = 1e-6 // of a step
)

// Name implements Optimiser.
func (Proximal) Name() string { return "proximal" }

// Suits implements Optimiser.
func (Proximal) Suits(p Problem) bool { return p.Penalised && smooth(p) == nil }

// Resolve implements Optimiser.
func (o Proximal) Resolve(c Config, p Problem) (Config, error) {
	if !p.Penalised {
		return c, setting.Errorf("optimiser", o.Name(), "it is for fits with a penalty, and there is none: name one (penalty), or take lbfgs")
	}
	if err := smooth(p); err != nil {
		return c, setting.Errorf("optimiser", o.Name(), "%v; use adam", err)
	}
	if err := c.wholeTable(p, proximalTolerance, proximalSingleTolerance); err != nil {
		return c, err
	}
	return c, nil
}

// proximal is a fit by Proximal at one point.
type proximal struct {
	minimiser
	inverse []float64 // M⁻¹
	from    int       // where the matrix begins among all parameters
}

// Run implements Optimiser, at the λ that the fit is at. It saves after each iteration.
func (Proximal) Run(ctx context.Context, f *Fit) error {
	p := newProximal(f)
	if err := p.evaluate(ctx); err != nil {
		return err
	}
	s := &f.State.Spectral
	if s.Lambda != f.shrink.lambda {
		value := p.value()
		step := s.Step
		setting.Default(&step, firstStep)
		*s = Spectral{Lambda: f.shrink.lambda, Recent: []float64{value}, Start: math.Abs(value), Step: step}
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
	p := &proximal{minimiser: minimiser{Fit: f, rows: f.AllRows()}}
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

// value is F where the parameters are.
func (p *proximal) value() float64 { return p.loss + p.shrink.value() }

// step is prox(θ − tM⁻¹∇ℓ).
func (p *proximal) step(theta []float64, t float64) []float64 {
	to := make([]float64, len(theta))
	for i, v := range theta {
		to[i] = v - t*p.inverse[i]*p.gradient[i]
	}
	matrix := to[p.from : p.from+len(p.shrink.matrix.Value)]
	copy(matrix, p.shrink.proximal(matrix, t))
	return to
}

// residual is the relative gradient of what is smooth.
func (p *proximal) residual() (most float64) {
	theta, t := p.theta(), p.State.Spectral.Step
	to := p.step(theta, t)
	for i, v := range theta {
		most = max(most, math.Abs(v-to[i])/(t*p.inverse[i])*max(math.Abs(v), 1))
	}
	if most == 0 {
		return 0
	}
	return most / max(math.Abs(p.value()), p.State.Spectral.Start)
}

// iterate makes one step. A cut leaves the parameters where they were.
func (p *proximal) iterate(ctx context.Context) error {
	s, theta, loss, gradient := &p.State.Spectral, p.theta(), p.loss, p.gradient
	slack := p.rounding() * max(math.Abs(p.value()), s.Start)
	for t := s.Step; t > mostHalved*s.Step; t /= 2 {
		p.gradient = gradient // trials have changed it
		to := p.step(theta, t)
		p.set(to, 0, nil)
		if !engine.Finite(to...) || !p.shrink.inside(p.shrink.matrix.Value) {
			continue
		}
		if err := p.evaluate(ctx); engine.Diverged(err) {
			continue
		} else if err != nil {
			p.set(theta, 0, nil)
			p.loss, p.gradient = loss, gradient
			return err
		}
		moved := 0.0
		for i, v := range to {
			moved += (v - theta[i]) * (v - theta[i]) / p.inverse[i]
		}
		if moved > 0 && p.value() <= slices.Max(s.Recent)-proximalDecrease/(2*t)*moved+slack {
			p.accept(theta, to, gradient, t, moved)
			return p.note()
		}
	}
	p.set(theta, 0, nil)
	p.loss, p.gradient = loss, gradient
	p.State.Stuck = true
	return nil
}

// accept takes a trial for the next point and chooses the length of the step after it.
func (p *proximal) accept(from, to, gradient []float64, t, moved float64) {
	s := &p.State.Spectral
	if s.Recent = append(s.Recent, p.value()); len(s.Recent) > recentValues {
		s.Recent = slices.Clone(s.Recent[1:])
	}
	along, across := 0.0, 0.0 // ⟨Δθ, Δ∇ℓ⟩ and ‖Δ∇ℓ‖² in the dual of M
	for i, v := range to {
		change := p.gradient[i] - gradient[i]
		along += (v - from[i]) * change
		across += change * change * p.inverse[i]
	}
	switch {
	case along <= 0: // no curvature to go by
		s.Step = 2 * t
	case s.Long:
		s.Step = moved / along
	default:
		s.Step = along / across
	}
	s.Step = min(s.Step, longestStep)
	s.Long = !s.Long
	s.Count++
	p.State.Iteration++
	p.Report(engine.Progress{Stage: "fit", Unit: "iteration", Iteration: s.Count, Total: p.Fit.Config.Iterations, Lambda: s.Lambda, Loss: p.loss, EffectiveSize: math.NaN()})
}

// note records the point.
func (p *proximal) note() error {
	return p.record(Record{Iteration: p.State.Iteration, Loss: p.loss, EffectiveSize: math.NaN(), HeldOut: math.NaN(), Gradient: p.residual()})
}

// Verdict implements Optimiser.
func (Proximal) Verdict(f *Fit) (converged bool, verdict string) {
	s, last := f.State, f.Final()
	switch {
	case last.Gradient <= f.Config.Tolerance:
		return true, fmt.Sprintf("converged: the relative gradient beside the penalty is %.2g after %d iterations at the last λ", last.Gradient, s.Spectral.Count)
	case s.Stuck && last.Gradient <= math.Sqrt(f.rounding()):
		return true, fmt.Sprintf("converged: no step lowers loss and penalty any more, after %d iterations at the last λ; the relative gradient is %.2g", s.Spectral.Count, last.Gradient)
	case s.Stuck:
		return false, fmt.Sprintf("NOT converged: after %d iterations no step lowers loss and penalty, but the relative gradient is %.2g; take a larger λ", s.Spectral.Count, last.Gradient)
	}
	return false, fmt.Sprintf("NOT converged: after %d iterations the relative gradient is %.2g, not under %.2g; allow more iterations, or take a larger λ", s.Spectral.Count, last.Gradient, f.Config.Tolerance)
}

// atLastLambda are the records of a history that were made at its last λ.
func atLastLambda(h []Record) []Record {
	from := len(h) - 1
	for from > 0 && h[from-1].Lambda == h[len(h)-1].Lambda {
		from--
	}
	return h[max(from, 0):]
}
