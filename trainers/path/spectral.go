package path

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph/model"
	"missingscore/trainers/engine"
	"missingscore/trainers/optim"
)

// Spectral is the state of the accelerated path: proximal gradient steps
//
//	θ⁺ = prox(θ − tM⁻¹∇ℓ),   M = 1 on the diagonal of P and on η, 2 off the diagonal
//
// (the metric of symmetric matrices) whose t is a Barzilai–Borwein step, long and
// short by turns, halved until P is positive definite and
//
//	F(θ⁺) ≤ max(the last F's) − 10⁻⁴/(2t) ‖θ⁺ − θ‖²_M,   F = ℓ + λ Σ_{j<k} w_jk |P_jk|
//
// (SpaRSA, Wright, Nowak & Figueiredo 2009; for losses that are not convex, as the
// marginal one, Gong et al. 2013: every limit point is stationary). An accepted
// trial's gradient is the next step's: mostly one gradient an iteration. Where no step
// leads down among the positive definite matrices F falls towards one that is not
// (docs/theory/path.md#stuck), and the iterations end.
type Spectral struct {
	Gradient []float64 // ∇ℓ at the present θ; nil: not known
	Loss     float64   // ℓ there
	Recent   []float64 // the last F's at this λ
	Step     float64   // t to try next
	Long     bool      // which of the two steps comes next
	Still    bool      // the last step moved θ by rounding only, so that Step tells nothing of the curvature
	Stuck    bool      // at this λ no step leads down: F falls towards a P that is not positive definite
}

const (
	spectralMemory   = 5
	spectralDecrease = 1e-4
	spectralNoise    = 1e-10 // of θ: a shorter movement is rounding
	spectralShortest = 1e-4  // of the proximal gradient step: a shorter one means that P runs into its bound
)

// accelerated is the schedule of spectral steps.
type accelerated struct {
	*Run
	space space
}

// iterate goes to the minimum at λ_k, or as far as MaxIter iterations lead.
func (r *accelerated) iterate(ctx context.Context, k int) error {
	lambda := r.lambdas[k]
	if err := r.open(lambda); err != nil {
		return err
	}
	observe := func(done int) {
		r.Report(engine.Progress{Stage: "path", Unit: "λ", Iteration: done, Total: len(r.lambdas), Lambda: lambda,
			Edges: r.edges(), Loss: r.State.Spectral.Loss, EffectiveSize: math.NaN()})
	}
	for n := &r.State.Block.Count; *n == 0 || *n < r.Config.MaxIter && !r.State.Spectral.Stuck && !r.stands(lambda, r.Config.StopTol); {
		if err := r.accelerate(ctx, lambda); err != nil {
			return err
		}
		observe(k)
	}
	observe(k + 1)
	return nil
}

func (r *accelerated) close(p *Point) {
	p.Loss, p.EffectiveSize = r.State.Spectral.Loss, math.NaN()
	p.Stuck = r.State.Spectral.Stuck
	p.Unfinished = !r.stands(p.Lambda, r.Config.StopTol)
}

func (r *accelerated) moved() string {
	return fmt.Sprintf("would move by at most %.2g in %d proximal gradient steps", r.State.Refine.Movement, refineBlock)
}

// space is the vector θ of what a path fits: (η, P) or P alone.
type space struct {
	memory    [][]float64 // the parameters' own
	grads     []int       // their places among the gradients
	inverse   []float64   // M⁻¹
	penalised []float64   // w; 0: not
}

func newSpace(m *model.Gaussian) space {
	var s space
	if m.Parameterisation() == model.Natural {
		s.memory, s.grads = append(s.memory, m.Location.Value), append(s.grads, 0)
		s.inverse, s.penalised = slices.Repeat([]float64{1}, m.Dim()), make([]float64, m.Dim())
	}
	s.memory, s.grads = append(s.memory, m.Packed.Value), append(s.grads, 1)
	for j := range m.Dim() {
		s.inverse, s.penalised = append(s.inverse, 1), append(s.penalised, 0)
		for range m.Dim() - j - 1 {
			s.inverse, s.penalised = append(s.inverse, 0.5), append(s.penalised, 1)
		}
	}
	return s
}

// weigh sets the weights of pairs, packed.
func (s space) weigh(weights []float64) {
	pairs := s.penalised[len(s.penalised)-len(weights):]
	for i, w := range weights {
		pairs[i] *= w
	}
}

// get is a copy of θ.
func (s space) get() []float64 { return slices.Concat(s.memory...) }

func (s space) set(theta []float64) {
	for _, m := range s.memory {
		copy(m, theta)
		theta = theta[len(m):]
	}
}

func (s space) gradient(grads [][]float64) []float64 {
	var g []float64
	for _, i := range s.grads {
		g = append(g, grads[i]...)
	}
	return g
}

func (s space) penalty(theta []float64) (sum float64) {
	for i, v := range theta {
		sum += s.penalised[i] * math.Abs(v)
	}
	return sum
}

// step is prox(θ − tM⁻¹g); plain takes M = 1, as Proximal does.
func (s space) step(theta, g []float64, t, lambda float64, plain bool) []float64 {
	to := make([]float64, len(theta))
	for i, v := range theta {
		rate := t
		if !plain {
			rate *= s.inverse[i]
		}
		to[i] = v - rate*g[i]
		if w := s.penalised[i]; w > 0 {
			to[i] = optim.SoftThreshold(to[i], lambda*rate*w)
		}
	}
	return to
}

// evaluate computes loss and gradient at the present θ.
func (r *accelerated) evaluate() (loss float64, g []float64, err error) {
	s, err := r.Gradient(r.State.Iteration, r.rows, 1/(r.total()*float64(r.Table.D)))
	if err != nil {
		return 0, nil, err
	}
	g = r.space.gradient(s.Grads)
	for i, held := range r.held {
		if held {
			g[len(g)-len(r.held)+i] = 0
		}
	}
	return s.Loss, g, nil
}

// open prepares the iterations at λ: it does nothing when they are under way.
func (r *accelerated) open(lambda float64) error {
	if r.State.Block.Start != nil {
		return nil
	}
	s := &r.State.Spectral
	if s.Gradient == nil {
		loss, g, err := r.evaluate()
		if err != nil {
			return err
		}
		if !engine.Finite(loss) || !engine.Finite(g...) {
			return &engine.DivergedError{Iteration: r.State.Iteration, What: "loss"}
		}
		s.Loss, s.Gradient = loss, g
	}
	if s.Step == 0 || s.Still {
		s.Step, s.Still = r.plainStep(), false
	}
	s.Recent, s.Stuck = []float64{s.Loss + lambda*r.space.penalty(r.space.get())}, false
	r.State.Block = Block{Start: slices.Clone(r.packed())}
	return nil
}

func (r *accelerated) plainStep() float64 { return r.Config.Rate * float64(r.Table.D) }

// movement is how far refineBlock proximal gradient steps would move an element of
// θ if all were as the next: zero where the conditions of a minimum hold.
func (r *accelerated) movement(lambda float64) float64 {
	theta := r.space.get()
	return refineBlock * floats.Distance(theta, r.space.step(theta, r.State.Spectral.Gradient, r.plainStep(), lambda, true), math.Inf(1))
}

// stands tells whether the iterations at λ have come to an end of their own.
func (r *accelerated) stands(lambda, tolerance float64) bool {
	return !r.State.Spectral.Stuck && r.movement(lambda) < tolerance
}

// accelerate makes one iteration at λ, after open. When the context is done
// the state is that between two iterations, and the context's error is returned.
func (r *accelerated) accelerate(ctx context.Context, lambda float64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s, theta := &r.State.Spectral, r.space.get()
	shortest := spectralShortest * r.plainStep()
	for t := max(s.Step, shortest); !(t < shortest); t /= 2 {
		to, ok, err := r.trial(theta, t, lambda)
		if err != nil {
			return err
		}
		if ok && !(to.value > slices.Max(s.Recent)-spectralDecrease/(2*t)*to.dd) {
			r.accept(to)
			return nil
		}
	}
	return r.last(theta, lambda)
}

// last takes a step of length plainStep from θ where no shorter one leads down: at a minimum rounding
// keeps F from falling, and that step hardly moves P. Where it leaves the positive definite
// matrices, F falls towards one that is not, and the iterations end, at θ.
func (r *accelerated) last(theta []float64, lambda float64) error {
	s := &r.State.Spectral
	to, ok, err := r.trial(theta, r.plainStep(), lambda)
	if err != nil {
		return err
	}
	if ok {
		s.Recent = nil // F may have risen
		r.accept(to)
		return nil
	}
	inside := r.posdef.Inside(r.model)
	r.space.set(theta)
	switch {
	case !engine.Finite(to.theta...):
		return &engine.DivergedError{Iteration: r.State.Iteration, What: "precision"}
	case inside:
		return &engine.DivergedError{Iteration: r.State.Iteration, What: "loss"}
	}
	s.Stuck = true
	r.State.Block.Count++
	r.State.Iteration++
	return nil
}

// trial is where a step of length t leads to.
type trial struct {
	t        float64
	theta    []float64
	loss     float64   // ℓ there
	gradient []float64 // ∇ℓ there
	value    float64   // F there

	dd, dg, gg float64 // ‖Δθ‖²_M, ⟨Δθ, Δ∇ℓ⟩, ‖Δ∇ℓ‖² in the dual of M
	size       float64 // ‖θ‖²_M
}

// trial takes a step of length t from θ. It is not ok where P is not positive definite, or
// the loss or its gradient not finite.
func (r *accelerated) trial(theta []float64, t, lambda float64) (to trial, ok bool, err error) {
	to = trial{t: t, theta: r.space.step(theta, r.State.Spectral.Gradient, t, lambda, false)}
	r.space.set(to.theta)
	if !engine.Finite(to.theta...) || !r.posdef.Inside(r.model) {
		return to, false, nil
	}
	ok, err = r.assess(&to, theta, lambda)
	return to, ok, err
}

// assess evaluates a trial, at which the model is, and how it differs from θ. It is not ok
// where the loss or its gradient is not finite. After an error the model is at θ.
func (r *accelerated) assess(to *trial, theta []float64, lambda float64) (ok bool, err error) {
	if to.loss, to.gradient, err = r.evaluate(); err != nil {
		r.space.set(theta)
		return false, err
	}
	if !engine.Finite(to.loss) || !engine.Finite(to.gradient...) {
		return false, nil
	}
	for i, v := range to.theta {
		x, y := v-theta[i], to.gradient[i]-r.State.Spectral.Gradient[i]
		to.dd += x * x / r.space.inverse[i]
		to.size += v * v / r.space.inverse[i]
		to.dg += x * y
		to.gg += y * y * r.space.inverse[i]
	}
	to.value = to.loss + lambda*r.space.penalty(to.theta)
	return true, nil
}

// accept makes a trial the state, and chooses the length of the next step.
func (r *accelerated) accept(to trial) {
	s := &r.State.Spectral
	s.Recent = append(s.Recent, to.value)
	if len(s.Recent) > spectralMemory {
		s.Recent = slices.Clone(s.Recent[1:])
	}
	s.Loss, s.Gradient = to.loss, to.gradient
	switch {
	case to.dg <= 0: // no curvature to go by
		s.Step = 2 * to.t
	case s.Long:
		s.Step = to.dd / to.dg
	default:
		s.Step = to.dg / to.gg
	}
	s.Long, s.Still = !s.Long, to.dd <= spectralNoise*spectralNoise*to.size
	r.State.Block.Count++
	r.State.Iteration++
}

// settle goes on until proximal gradient steps would hardly move P.
func (r *accelerated) settle(ctx context.Context) error {
	f := &r.State.Refine
	lambda := r.lambda()
	for !f.Done {
		err := r.open(lambda)
		if engine.Diverged(err) {
			return r.giveUp(err)
		}
		if err != nil {
			return err
		}
		f.Movement, f.Loss, f.Stuck = r.movement(lambda), r.State.Spectral.Loss, r.State.Spectral.Stuck
		f.Converged = r.stands(lambda, r.Config.Tolerance)
		if f.Done = f.Converged || f.Stuck || f.Iterations >= r.Config.RefineIter; f.Done {
			return r.save()
		}
		err = r.accelerate(ctx, lambda)
		if engine.Diverged(err) {
			return r.giveUp(err)
		}
		if err != nil {
			return err
		}
		f.Iterations++
		r.Report(engine.Progress{Stage: "refine", Unit: "iteration", Iteration: f.Iterations, Total: r.Config.RefineIter, Lambda: lambda,
			Edges: r.edges(), Loss: r.State.Spectral.Loss, EffectiveSize: math.NaN()})
		if f.Iterations%refineBlock == 0 {
			if err := r.save(); err != nil {
				return err
			}
		}
	}
	return nil
}
