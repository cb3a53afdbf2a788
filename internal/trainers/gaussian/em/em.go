// Package em estimates a normal distribution from rows with missing cells by EM, with or without a
// penalty (docs/theory/complete-data.md#eq-em-exact).
package em

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
)

// Minimiser is a minimisation step: it updates packed, P in the order of graph.PackedIndex, for the
// covariances s (d, d), row by row. ok is false without a minimum.
type Minimiser func(packed, s []float64) (ok bool)

// Unpenalised sets P = S⁻¹, which is maximum likelihood and score matching.
func Unpenalised(packed, s []float64) (ok bool) {
	d := int(math.Sqrt(float64(len(s))))
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(d, slices.Clone(s))) {
		return false
	}
	var p mat.SymDense
	if err := c.InverseTo(&p); err != nil {
		return false
	}
	copy(packed, graph.Pack(&p))
	return true
}

type State struct {
	Count       int // number of iterations
	Anderson    optim.Anderson
	Solved      []float64 // (μ, P) after the last minimisation step, P with its zeros; nil before the first
	Movement    float64   // largest change of an element of P by the last iteration
	Relative    float64   // Movement in units of √(P_jj P_kk), and of 1/√P_jj for the mean
	Loss        float64   // before the last iteration: ψ, mean over rows
	Likelihood  float64   // before the last iteration: log density of the observed cells, summed
	Projections int       // iterations after which P was projected

	Lead Lead // of paths with many columns
}

// Memory of the acceleration, in iterations.
const Memory = 4

type Turns struct {
	Engine *engine.Engine  // its loss has LossNeeds.Moments
	Model  *model.Gaussian // the engine's model
	Rows   []int
	Bounds *optim.PositiveDefinite // nil: P must only be positive definite

	// MostGain, if not 0, selects iterations on moments (Begin, Onward) and bounds Lead.Gain at 1/(1 −
	// ρ).
	MostGain float64

	square []float64 // work space (d, d)
}

// Turn makes the next iteration. The model is then at the extrapolated start of the following one,
// not at State.Solved. It returns a *SingularError if the minimisation step has no solution.
func (t *Turns) Turn(ctx context.Context, s *State, minimise Minimiser) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d, x := t.Model.Dim(), t.At()
	found, err := t.expect(s, x)
	if err != nil {
		return err
	}
	mean, cov := found[:d:d], Unpacked(found[d:], d, nil)
	if t.MostGain != 0 {
		s.Lead.Moments = found
	}
	to := slices.Clone(x[d:])
	if s.Solved != nil {
		copy(to, s.Solved[d:])
	}
	ok := minimise(to, cov)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !ok || !engine.Finite(to...) || !t.Put(slices.Concat(mean, to)) {
		return &SingularError{Turn: s.Count, Mean: mean, Covariances: cov}
	}
	if t.Bounds != nil && t.Bounds.Project(t.Model) {
		s.Projections++
		copy(to, t.Model.Packed.Value)
	}
	s.Solved = slices.Concat(mean, to)
	before := s.Movement
	s.Movement, s.Relative = moved(x, s.Solved, d)
	if s.Count > 0 && s.Movement > 2*before {
		s.Anderson.Forget()
	}
	s.Count++
	if !t.Put(s.Anderson.Next(x, s.Solved)) || t.Bounds != nil && !t.Bounds.Inside(t.Model) {
		s.Anderson.Forget()
		t.Put(s.Solved)
	}
	return nil
}

// expect returns (μ, S) of the completed rows, packed.
func (t *Turns) expect(s *State, x []float64) (found []float64, err error) {
	step, found, err := Expect(t.Engine, t.Rows, x, nil)
	if err == nil {
		s.Loss, s.Likelihood = step.Loss/step.Moments[0], step.LogLikelihood
	}
	return found, err
}

// Expect is an expectation step at x = (μ, P), P packed; found is (μ, S) of the completed rows, with
// pairs only on these (gaussian.Expectation).
func Expect(e *engine.Engine, rows []int, x []float64, pairs [][2]int32) (step engine.Step, found []float64, err error) {
	d := e.Table.D
	p, eta := Unpacked(x[d:], d, nil), make([]float64, d)
	for j := range eta {
		eta[j] = floats.Dot(p[j*d:j*d+d], x[:d])
	}
	if step, err = e.Moments(rows, eta, p, pairs); err != nil {
		return step, nil, err
	}
	return step, completed(step.Moments, x[:d]), nil
}

func (t *Turns) Settle(s *State) { t.Put(s.Solved) }

// At returns (μ, P) of the model.
func (t *Turns) At() []float64 {
	if t.Model.Parameterisation() != model.CholeskyFactor {
		return slices.Concat(t.Model.Mean(), t.Model.Packed.Value)
	}
	return append(t.Model.Mean(), graph.Pack(t.Model.Precision())...)
}

// Put moves the model to (μ, P). Without Bounds, ok is false if P is not positive definite.
func (t *Turns) Put(x []float64) (ok bool) {
	if !engine.Finite(x...) {
		return false
	}
	d := t.Model.Dim()
	switch {
	case t.Bounds == nil && !new(mat.Cholesky).Factorize(graph.Unpack(d, x[d:])):
		return false
	case t.Model.Parameterisation() != model.CholeskyFactor:
		copy(t.Model.Packed.Value, x[d:])
	case t.Model.SetPrecision(graph.Unpack(d, x[d:])) != nil:
		return false
	}
	t.Model.SetMean(x[:d])
	return true
}

// moved returns the largest change of P, absolute and relative to the diagonal at y.
func moved(x, y []float64, d int) (most, relative float64) {
	own, at := make([]float64, d), d
	for j := range own {
		own[j] = math.Sqrt(y[d+graph.PackedIndex(d, j, j)])
	}
	for j := range d {
		relative = max(relative, math.Abs(y[j]-x[j])*own[j])
		for k := j; k < d; k, at = k+1, at+1 {
			by := math.Abs(y[at] - x[at])
			most, relative = max(most, by), max(relative, by/own[j]/own[k])
		}
	}
	return most, relative
}

func completed(m, mu []float64) []float64 {
	d := len(mu)
	found, i := make([]float64, d+d*(d+1)/2), d
	shift := make([]float64, d)
	for j := range d {
		shift[j] = m[j+1] / m[0]
		found[j] = mu[j] + shift[j]
	}
	for j := range d {
		for k, v := range m[(j+1)*(d+1)+j+1 : (j+2)*(d+1)] {
			found[i] = v/m[0] - shift[j]*shift[j+k]
			i++
		}
	}
	return found
}

// Ascend makes an iteration and reverts an acceleration that lowered the likelihood. The next
// iteration then starts from the last solution, where the likelihood cannot fall (Dempster, Laird &
// Rubin 1977).
func (t *Turns) Ascend(ctx context.Context, s *State, minimise Minimiser) (back bool, err error) {
	before, accelerated := *s, len(s.Anderson.X) > 1
	err = t.Turn(ctx, s, minimise)
	if err != nil || !accelerated || s.Likelihood >= before.Likelihood {
		return false, err
	}
	count := s.Count
	*s = before
	s.Count = count
	s.Anderson.Forget()
	t.Settle(s)
	return true, nil
}

// SingularError: in the completed rows a combination of columns has no variance.
type SingularError struct {
	Turn        int
	Mean        []float64
	Covariances []float64 // (d, d), of the completed rows
}

func (e *SingularError) Error() string { return e.Unwrap().Error() }

func (e *SingularError) Unwrap() error {
	return &engine.DivergedError{Iteration: e.Turn, What: "precision"}
}

const leastShare = 1e-10

// Put moves a model to the mean and the covariances plus 1e-10 of each variance.
func (e *SingularError) Put(g *model.Gaussian) (ok bool) {
	d := len(e.Mean)
	raised := mat.NewSymDense(d, append([]float64(nil), e.Covariances...))
	for j := range d {
		raised.SetSym(j, j, raised.At(j, j)*(1+leastShare))
	}
	var factor mat.Cholesky
	var p mat.SymDense
	if !factor.Factorize(raised) || factor.InverseTo(&p) != nil && math.IsInf(factor.Cond(), 1) || g.SetPrecision(&p) != nil {
		return false
	}
	g.SetMean(e.Mean)
	return true
}
