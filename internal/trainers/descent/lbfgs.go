package descent

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
)

const (
	defaultIterations = 10000
	defaultTolerance  = 1e-9
	singleTolerance   = 1e-4 // with float32
	rounding          = 1e-13
	singleRounding    = 1e-6
)

func refusedByLBFGS(p Problem) error {
	switch {
	case p.Estimator.Draws():
		return fmt.Errorf("method %s draws at random, so its loss is noisy; use adam", p.Estimator.Name)
	case !p.Estimator.Minimises():
		return fmt.Errorf("method %s solves an equation and has no loss to minimise; use adam", p.Estimator.Name)
	case losses.Draws(p.Objective):
		return errors.New("the objective draws at random, so its loss is noisy; use adam")
	}
	return nil
}

// flattest is the point with the least relative gradient among points whose losses agree to
// rounding.
type flattest struct {
	Gradient, Loss float64
	At             []float64 // all parameters
}

type minimiser struct {
	*Fit
	rows     []int
	loss     float64
	gradient []float64
}

// runLBFGS minimises a deterministic loss over all rows by optim.LBFGS and optim.WolfeStep,
// starting with startAtLikelihood, until the relative gradient (Dennis & Schnabel 1983, section
// 7.2)
//
//	max_j |∂ℓ/∂θ_j| max(|θ_j|, 1) / max(|ℓ|, |ℓ at the start|)
//
// is below Config.Tolerance. It also ends if no step lowers the loss or at rounding error (Stall),
// then at the point of the least gradient. Steps to points without a finite loss or a distribution
// are shortened.
func runLBFGS(ctx context.Context, f *Fit) error {
	m := &minimiser{Fit: f, rows: f.Table.AllRows()}
	f.Condense(m.rows)
	s := f.State
	if len(s.History) == 0 {
		if err := f.startAtLikelihood(ctx); err != nil {
			return err
		}
	}
	if err := m.evaluate(ctx); err != nil {
		return err
	}
	if len(s.History) == 0 {
		if err := m.note(m.relative()); err != nil {
			return err
		}
	}
	for s.Iteration < f.Config.Iterations && m.relative() > f.Config.Tolerance && !s.Stuck {
		if err := m.iterate(ctx); err != nil {
			return err
		}
		if s.Stuck || s.Stall.reached() {
			if err := m.end(ctx); err != nil {
				return err
			}
		}
		if err := f.Save(); err != nil {
			return err
		}
	}
	return nil
}

// end returns to the flattest point, where Newton's step predicts a decrease of ½∇ℓᵀH∇ℓ.
func (m *minimiser) end(ctx context.Context) error {
	s := m.State
	if s.Flattest.At != nil && s.Flattest.Gradient < m.relative() {
		m.set(s.Flattest.At)
		if err := m.evaluate(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		s.Iteration++ // counts as an iteration in the history
		if err := m.note(m.relative()); err != nil {
			return err
		}
	}
	s.Decrement = -floats.Dot(m.gradient, s.LBFGS.Direction(m.gradient)) / 2 / m.scale()
	s.Stuck = true
	return nil
}

func (m *minimiser) evaluate(ctx context.Context) error {
	step, err := m.Step(ctx, m.State.Iteration, m.Whole, m.rows, 1/float64(m.Table.RowCount()))
	if err != nil {
		return err
	}
	m.loss, m.gradient = step.Loss, nil
	for _, g := range step.Grads {
		m.gradient = append(m.gradient, g...)
	}
	return nil
}

// After an error the parameters are unchanged.
func (m *minimiser) iterate(ctx context.Context) error {
	s := m.State
	theta, loss, gradient := m.theta(), m.loss, m.gradient
	direction := s.LBFGS.Direction(gradient)
	slope := floats.Dot(gradient, direction)
	ok, err := optim.WolfeStep(func(t float64) (float64, float64, error) {
		m.set(floats.AddScaledTo(make([]float64, len(theta)), theta, t, direction))
		if err := m.evaluate(ctx); engine.Diverged(err) {
			return math.NaN(), math.NaN(), nil
		} else if err != nil {
			return 0, 0, err
		}
		return m.loss, floats.Dot(m.gradient, direction), nil
	}, loss, slope, m.rounding()*m.scale())
	if err != nil || !ok {
		m.set(theta)
		m.loss, m.gradient = loss, gradient
	}
	switch {
	case err != nil:
		return err
	case !ok && len(s.LBFGS.S) > 0: // retry along the gradient
		s.LBFGS.Forget()
		return nil
	case !ok:
		s.Stuck = true
		return nil
	}
	n := len(theta)
	s.LBFGS.Learn(floats.SubTo(make([]float64, n), m.theta(), theta), floats.SubTo(make([]float64, n), m.gradient, gradient))
	s.Stall.note(m.relative(), m.loss)
	if b := &s.Flattest; b.At == nil || m.loss < b.Loss-m.rounding()*m.scale() || m.relative() < b.Gradient {
		*b = flattest{m.relative(), m.loss, m.theta()}
	}
	s.Iteration++
	m.Report(engine.Progress{Stage: "fit", Unit: "iteration", Iteration: s.Iteration, Total: m.Fit.Config.Iterations, Loss: m.loss, EffectiveSize: math.NaN()})
	return m.note(m.relative())
}

func (m *minimiser) theta() (all []float64) {
	for _, p := range m.Model.Params() {
		all = append(all, p.Value...)
	}
	return all
}

func (m *minimiser) set(theta []float64) {
	for _, p := range m.Model.Params() {
		theta = theta[copy(p.Value, theta):]
	}
}

func (m *minimiser) note(gradient float64) error {
	return m.record(Record{Iteration: m.State.Iteration, Loss: m.loss, EffectiveSize: math.NaN(), HeldOut: math.NaN(), Gradient: gradient})
}

func (m *minimiser) scale() float64 {
	start := m.loss
	if h := m.State.History; len(h) > 0 {
		start = h[0].Loss
	}
	return max(math.Abs(m.loss), math.Abs(start))
}

func (m *minimiser) relative() float64 {
	most := 0.0
	for j, v := range m.theta() {
		most = max(most, math.Abs(m.gradient[j])*max(math.Abs(v), 1))
	}
	return most / m.scale()
}

// A fit that no step improves has converged if its relative gradient is below the square root of
// the noise.
func (f *Fit) rounding() float64 {
	if f.Engine.Config.DType == graph.Float32 {
		return singleRounding
	}
	return rounding
}

func verdictOfLBFGS(f *Fit) (converged bool, verdict string) {
	s, last := f.State, f.Final()
	if s.Stuck && last.Gradient > math.Sqrt(f.rounding()) && s.Stall.reached() && s.Decrement <= f.rounding() {
		return true, fmt.Sprintf("converged to rounding error: of the last %d of %d iterations %d raised the loss; the relative gradient is %.2g, as with nearly collinear columns or means far from 0", s.Stall.Count, s.Iteration, s.Stall.Rose, last.Gradient)
	}
	converged, verdict = f.minimised(s.Iteration, "look for collinear columns")
	if few := f.tooFewRows(); !converged && few != "" {
		verdict = few
	}
	return converged, verdict
}

// tooFewRows is the verdict on a normal model without a minimum; "" for others.
func (f *Fit) tooFewRows() string {
	if _, normal := f.Model.(*model.Gaussian); !normal || f.Table.RowCount() > f.Table.D {
		return ""
	}
	return fmt.Sprintf("NOT converged: %d rows are too few for %d columns; get more rows, use fewer columns, or estimate a network, which has a penalty", f.Table.RowCount(), f.Table.D)
}

func (f *Fit) minimised(iterations int, advice string) (converged bool, verdict string) {
	last := f.Final().Gradient
	switch {
	case last <= f.Config.Tolerance:
		return true, fmt.Sprintf("converged: the relative gradient is %.2g after %d iterations", last, iterations)
	case f.State.Stuck && last <= math.Sqrt(f.rounding()):
		return true, fmt.Sprintf("converged: no step lowers the loss after %d iterations; the relative gradient is %.2g", iterations, last)
	case f.State.Stuck:
		return false, fmt.Sprintf("NOT converged: after %d iterations no step lowers the loss, but the relative gradient is %.2g; %s", iterations, last, advice)
	}
	return false, fmt.Sprintf("NOT converged: after %d iterations the relative gradient is %.2g, not below %.2g; allow more iterations, or %s", iterations, last, f.Config.Tolerance, advice)
}

const (
	startTurns     = 200
	startTolerance = 1e-6
)

// startAtLikelihood moves a normal model on R^d to Likeliest, the minimum for complete rows; others
// stay.
func (f *Fit) startAtLikelihood(ctx context.Context) error {
	g, ok := f.Model.(*model.Gaussian)
	if !ok || f.Missingness != nil {
		return nil
	}
	start := model.NewGaussian(g.Dim(), model.CholeskyFactor)
	start.SetMean(g.Mean())
	if start.SetPrecision(g.Precision()) != nil {
		return nil
	}
	c := f.Engine.Config
	if ok, err := Likeliest(ctx, f.Problem, start, engine.Config{Seed: c.Seed, Workers: c.Workers}); !ok {
		return err
	}
	if g.SetPrecision(start.Precision()) == nil {
		g.SetMean(start.Mean())
	}
	return nil
}

// Likeliest moves a normal model with Cholesky factors to the maximum likelihood of the observed
// cells on all of R^d by EM (package em). ok is false on a domain or if EM fails.
func Likeliest(ctx context.Context, p engine.Problem, m *model.Gaussian, c engine.Config) (ok bool, err error) {
	if p.Domain.Bounded() {
		return false, nil
	}
	p.Model, p.Objective, p.Missingness = m, losses.Classical, nil
	c.Method = "em-exact"
	e, err := engine.New(p, c)
	if err != nil {
		return false, err
	}
	f := &Fit{Engine: e, Config: Config{Iterations: startTurns, Tolerance: startTolerance}, State: &State{}, Save: func() error { return nil }}
	err = runEM(ctx, f)
	return err == nil && f.State.Degenerate == nil, err
}
