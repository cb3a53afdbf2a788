package regpath

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph/model"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
)

// Spectral is the state of the accelerated path: proximal gradient steps
//
//	θ⁺ = prox(θ − tM⁻¹∇ℓ),   M = 1 on the diagonal of P and on η, 2 off the diagonal
//
// where t is optim.Spectral's, halved until P is positive definite and F = ℓ + λ Σ_{j<k} w_jk |P_jk|
// falls (for losses that are not convex Gong et al. 2013: every limit point is stationary).
// Iterations end if F falls only towards a P that is not positive definite
// (docs/theory/path.md#stuck).
type Spectral struct {
	optim.Spectral
	Gradient []float64 // ∇ℓ at the current θ; nil: unknown
	Loss     float64   // ℓ at the current θ
	Still    bool      // the last step moved θ by rounding only, so Step has no curvature information
	Stuck    bool      // at this λ F falls towards a P that is not positive definite
}

const (
	spectralNoise    = 1e-10 // of θ: a shorter movement is rounding
	spectralShortest = 1e-4  // of the proximal gradient step: a shorter one means that P reaches its bound
)

// θ is (η, P), or P alone if the mean is fixed.
type accelerated struct {
	*problem
	memory    [][]float64 // memory of the parameters
	grads     []int       // indices of the parameters' gradients
	inverse   []float64   // M⁻¹
	penalised []float64   // w; 0: without a penalty
}

func newAccelerated(p *problem) *accelerated {
	a, m := &accelerated{problem: p}, p.model
	if m.Parameterisation() == model.Natural {
		a.memory, a.grads = append(a.memory, m.Location.Value), append(a.grads, 0)
		a.inverse, a.penalised = slices.Repeat([]float64{1}, m.Dim()), make([]float64, m.Dim())
	}
	a.memory, a.grads = append(a.memory, m.Packed.Value), append(a.grads, 1)
	for j := range m.Dim() {
		a.inverse, a.penalised = append(a.inverse, 1), append(a.penalised, 0)
		for range m.Dim() - j - 1 {
			a.inverse, a.penalised = append(a.inverse, 0.5), append(a.penalised, 1)
		}
	}
	for i, w := range p.weights {
		a.penalised[len(a.penalised)-len(p.weights)+i] *= w
	}
	return a
}

func (a *accelerated) get() []float64 { return slices.Concat(a.memory...) }

func (a *accelerated) set(theta []float64) {
	for _, m := range a.memory {
		copy(m, theta)
		theta = theta[len(m):]
	}
}

func (a *accelerated) penalty(theta []float64) (sum float64) {
	for i, v := range theta {
		sum += a.penalised[i] * math.Abs(v)
	}
	return sum
}

// step returns prox(θ − tM⁻¹g); plain uses M = 1.
func (a *accelerated) step(theta, g []float64, t, lambda float64, plain bool) []float64 {
	to := make([]float64, len(theta))
	for i, v := range theta {
		rate := t
		if !plain {
			rate *= a.inverse[i]
		}
		to[i] = v - rate*g[i]
		if w := a.penalised[i]; w > 0 {
			to[i] = optim.SoftThreshold(to[i], lambda*rate*w)
		}
	}
	return to
}

// Gradients of held elements are 0.
func (a *accelerated) evaluate() (loss float64, g []float64, err error) {
	s, err := a.Gradient(a.State.Iteration, a.rows, 1/(a.total()*float64(a.Table.D)))
	if err != nil {
		return 0, nil, err
	}
	for _, i := range a.grads {
		g = append(g, s.Grads[i]...)
	}
	for i, held := range a.held {
		if held {
			g[len(g)-len(a.held)+i] = 0
		}
	}
	return s.Loss, g, nil
}

func (a *accelerated) iterate(ctx context.Context, k int) (Point, error) {
	lambda := a.lambdas[k]
	if err := a.open(lambda); err != nil {
		return Point{}, err
	}
	for n := &a.State.Block.Count; *n == 0 || *n < a.Config.MaxIter && !a.State.Spectral.Stuck && !a.stands(lambda, a.Config.StopTol); {
		if err := a.accelerate(ctx, lambda); err != nil {
			return Point{}, err
		}
		a.report("path", "λ", k, len(a.lambdas), lambda, a.State.Spectral.Loss, math.NaN())
	}
	a.report("path", "λ", k+1, len(a.lambdas), lambda, a.State.Spectral.Loss, math.NaN())
	p := a.closeBlock(lambda)
	p.Loss, p.Stuck = a.State.Spectral.Loss, a.State.Spectral.Stuck
	p.Unfinished = !a.stands(lambda, a.Config.StopTol)
	return p, nil
}

func (a *accelerated) open(lambda float64) error {
	if a.State.Block.Start != nil {
		return nil
	}
	s := &a.State.Spectral
	if s.Gradient == nil {
		loss, g, err := a.evaluate()
		if err != nil {
			return err
		}
		if !engine.Finite(loss) || !engine.Finite(g...) {
			return &engine.DivergedError{Iteration: a.State.Iteration, What: "loss"}
		}
		s.Loss, s.Gradient = loss, g
	}
	if s.Step == 0 || s.Still {
		s.Step, s.Still = a.plainStep(), false
	}
	s.Recent, s.Stuck = []float64{s.Loss + lambda*a.penalty(a.get())}, false
	a.State.Block = Block{Start: slices.Clone(a.packed())}
	return nil
}

func (a *accelerated) plainStep() float64 { return a.Config.Rate * float64(a.Table.D) }

// movement returns the largest change of θ by refineBlock proximal gradient steps if all equal the
// next one.
func (a *accelerated) movement(lambda float64) float64 {
	theta := a.get()
	return refineBlock * floats.Distance(theta, a.step(theta, a.State.Spectral.Gradient, a.plainStep(), lambda, true), math.Inf(1))
}

func (a *accelerated) stands(lambda, tolerance float64) bool {
	return !a.State.Spectral.Stuck && a.movement(lambda) < tolerance
}

// accelerate makes one iteration. If no step lowers F it takes one of length plainStep; if that
// leaves the positive definite matrices, the iterations end.
func (a *accelerated) accelerate(ctx context.Context, lambda float64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s, theta := &a.State.Spectral, a.get()
	shortest := spectralShortest * a.plainStep()
	for t := max(s.Step, shortest); !(t < shortest); t /= 2 {
		to, ok, err := a.trial(theta, t, lambda)
		if err != nil {
			return err
		}
		if ok && s.Falls(to.value, t, to.moved, 0) {
			a.accept(theta, to)
			return nil
		}
	}
	to, ok, err := a.trial(theta, a.plainStep(), lambda)
	if err != nil {
		return err
	}
	if ok {
		s.Recent = nil // F may have risen
		a.accept(theta, to)
		return nil
	}
	inside := a.posdef.Inside(a.model)
	a.set(theta)
	switch {
	case !engine.Finite(to.theta...):
		return &engine.DivergedError{Iteration: a.State.Iteration, What: "precision"}
	case inside:
		return &engine.DivergedError{Iteration: a.State.Iteration, What: "loss"}
	}
	s.Stuck = true
	a.State.Block.Count++
	a.State.Iteration++
	return nil
}

type trial struct {
	t        float64
	theta    []float64
	loss     float64   // ℓ
	gradient []float64 // ∇ℓ
	value    float64   // F
	moved    float64   // ‖Δθ‖²_M
	size     float64   // ‖θ‖²_M
}

// ok is false if P is not positive definite or the loss or its gradient not finite. After an error
// the model is at θ.
func (a *accelerated) trial(theta []float64, t, lambda float64) (to trial, ok bool, err error) {
	to = trial{t: t, theta: a.step(theta, a.State.Spectral.Gradient, t, lambda, false)}
	a.set(to.theta)
	if !engine.Finite(to.theta...) || !a.posdef.Inside(a.model) {
		return to, false, nil
	}
	if to.loss, to.gradient, err = a.evaluate(); err != nil {
		a.set(theta)
		return to, false, err
	}
	if !engine.Finite(to.loss) || !engine.Finite(to.gradient...) {
		return to, false, nil
	}
	for i, v := range to.theta {
		to.moved += (v - theta[i]) * (v - theta[i]) / a.inverse[i]
		to.size += v * v / a.inverse[i]
	}
	to.value = to.loss + lambda*a.penalty(to.theta)
	return to, true, nil
}

func (a *accelerated) accept(theta []float64, to trial) {
	s := &a.State.Spectral
	s.Accept(to.value, to.t, theta, to.theta, s.Gradient, to.gradient, a.inverse)
	s.Loss, s.Gradient, s.Still = to.loss, to.gradient, to.moved <= spectralNoise*spectralNoise*to.size
	a.State.Block.Count++
	a.State.Iteration++
}

func (a *accelerated) settle(ctx context.Context, lambda float64) error {
	for f := &a.State.Refine; !f.Done; {
		if err := a.open(lambda); err != nil {
			return err
		}
		f.Movement, f.Loss, f.Stuck = a.movement(lambda), a.State.Spectral.Loss, a.State.Spectral.Stuck
		f.Converged = a.stands(lambda, a.Config.Tolerance)
		if f.Done = f.Converged || f.Stuck || f.Iterations >= a.Config.RefineIter; f.Done {
			return a.save()
		}
		if err := a.accelerate(ctx, lambda); err != nil {
			return err
		}
		f.Iterations++
		a.report("refine", "iteration", f.Iterations, a.Config.RefineIter, lambda, a.State.Spectral.Loss, math.NaN())
		if f.Iterations%refineBlock == 0 {
			if err := a.save(); err != nil {
				return err
			}
		}
	}
	return nil
}
