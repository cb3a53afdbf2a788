package path

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/optim"
)

// State is everything that changes while a network is estimated beside the engine's part.
type State struct {
	Iteration   int // proximal steps made
	Points      []Point
	Block       Block    // of iterations under way
	Spectral    Spectral // accelerated
	Projections int      // how often P was projected to stay positive definite
	Resampled   Resampled
	Refine      Refine
}

// Run is a Gaussian network being estimated along a path.
type Run struct {
	*engine.Engine
	Config Config // with every default filled in
	State  *State

	posdef  optim.PositiveDefinite
	model   *model.Gaussian
	save    func() error
	rows    []int // of the table, that are fitted to
	lambdas []float64
	steps   []int        // fixed schedule: steps[k] iterations have been made when λ_k is done
	space   space        // accelerated
	passed  func() error // called when a λ is done, if set
}

// New prepares a path on a table; p.Model and p.Objective are set here. On all of
// R^d the mean is kept at 0: on columns standardised by their observed cells it is the
// observed mean, which cells missing completely at random leave unbiased. On a domain
// with a boundary, where cells are known to be missing not at random, and by estimators
// that are right under MAR, η = Pμ is fitted along, for there the observed means are not μ.
func New(p engine.Problem, steps engine.Config, c Config, s *State) (*Run, error) {
	return newRun(p, steps, c, s, nil)
}

// newRun is New on some rows of the table, nil for all.
func newRun(p engine.Problem, steps engine.Config, c Config, s *State, rows []int) (*Run, error) {
	kind := model.FreeSymmetric
	method, err := estimator.ByName(steps.Method)
	if err != nil {
		return nil, setting.Errorf("method", steps.Method, "%v", err)
	}
	fitsMean := p.Domain.Bounded() || p.Missingness != nil || method.FitsMean()
	if fitsMean {
		kind = model.Natural
	}
	m := model.NewGaussian(p.Table.D, kind)
	m.Location.Fixed = !fitsMean
	p.Model, p.Objective = m, losses.ObjectiveFor(p.Domain, p.Weight)
	if c, steps, err = c.Resolve(p, steps); err != nil {
		return nil, err
	}
	e, err := engine.New(p, steps)
	if err != nil {
		return nil, err
	}
	r := &Run{Engine: e, Config: c, State: s, model: m, save: func() error { return nil }, lambdas: c.grid(), space: newSpace(m)}
	r.posdef.Floor = c.Floor
	r.takeRows(rows)
	total := c.InitialIter
	for range r.lambdas {
		total += c.IterPerLambda
		r.steps = append(r.steps, total)
	}
	return r, nil
}

// takeRows sets the rows that are fitted to, those of one pattern together, for they share work.
func (r *Run) takeRows(rows []int) {
	t := r.Table
	if rows == nil {
		rows = r.AllRows()
	}
	r.rows = slices.Clone(rows)
	chosen := make([]bool, t.N)
	for _, i := range r.rows {
		chosen[i] = true
	}
	r.TakesPart(func(i int) bool { return chosen[i] })
	slices.SortStableFunc(r.rows, func(i, j int) int {
		for k := range t.D {
			if a, b := t.Observed[i*t.D+k], t.Observed[j*t.D+k]; a != b {
				if a {
					return -1
				}
				return 1
			}
		}
		return 0
	})
}

// Estimate makes what is left of the path, of the choice of λ and of the iterations at
// it. save is called when the state is worth saving. When ctx is cancelled Estimate
// returns its error, with a state from which it goes on.
func (r *Run) Estimate(ctx context.Context, save func() error) (scores []float64, err error) {
	r.save = save
	if err := r.path(ctx); err != nil {
		return nil, err
	}
	if err := r.resample(ctx); err != nil {
		return nil, err
	}
	scores, chosen, err := r.choose()
	if err != nil {
		return nil, err
	}
	if r.Config.PathOnly {
		r.take(chosen)
		return scores, nil
	}
	return scores, r.refine(ctx, chosen)
}

// fitsMean tells whether η = Pμ is fitted along.
func (r *Run) fitsMean() bool { return r.model.Parameterisation() == model.Natural }

// Model is the network's, of the table's columns as the path saw them.
func (r *Run) Model() *model.Gaussian { return r.model }

func (r *Run) packed() []float64 { return r.model.Packed.Value }

func (r *Run) accelerated() bool { return r.Config.Schedule == Accelerated }

// iterations of the path, so far or, for the fixed schedule, in all.
func (r *Run) iterations() (sum int) {
	if !r.accelerated() {
		return r.steps[len(r.steps)-1]
	}
	for _, p := range r.State.Points {
		sum += p.Iterations
	}
	return sum
}

// advance makes one proximal step at λ. When the context is done the
// state is that between two steps, and the context's error is returned.
func (r *Run) advance(ctx context.Context, lambda float64) (engine.Step, error) {
	d := r.Table.D
	s, err := r.Step(ctx, r.State.Iteration, r.rows, 1/float64(len(r.rows)*d))
	if err != nil {
		return s, err
	}
	b := &r.State.Block
	if b.Start == nil {
		*b = Block{Start: slices.Clone(r.packed())}
	}
	optim.Proximal{Rate: r.Config.Rate * float64(d), Lambda: lambda}.Step(r.packed(), s.Grads[1], d)
	if r.fitsMean() {
		floats.AddScaled(r.model.Location.Value, -r.Config.Rate*float64(d), s.Grads[0])
	}
	if !engine.Finite(r.packed()...) || !engine.Finite(r.model.Location.Value...) {
		copy(r.packed(), b.Start)
		return s, &engine.DivergedError{Iteration: r.State.Iteration, What: "precision"}
	}
	if r.posdef.Project(r.model) {
		r.State.Projections++
		b.Projections++
	}
	b.Size += s.EffectiveSize
	b.Loss += s.Loss
	b.Count++
	r.State.Iteration++
	return s, nil
}

// closeBlock turns the finished block into a point.
func (r *Run) closeBlock(lambda float64) Point {
	b := r.State.Block
	r.State.Block = Block{}
	var linear []float64
	if r.fitsMean() {
		linear = slices.Clone(r.model.Location.Value)
	}
	p := Point{
		Lambda: lambda, Packed: slices.Clone(r.packed()), Linear: linear, Edges: r.edges(),
		Change: floats.Distance(b.Start, r.packed(), math.Inf(1)), Projections: b.Projections, Iterations: b.Count,
	}
	if r.accelerated() {
		p.Loss, p.EffectiveSize = r.State.Spectral.Loss, math.NaN()
		p.Unfinished = !r.stands(lambda, r.Config.StopTol)
	} else {
		p.Loss, p.EffectiveSize = b.Loss/float64(b.Count), b.Size/float64(b.Count)
	}
	return p
}

func (r *Run) edges() int { return Adjacency(r.packed(), r.Table.D, r.Config.Threshold).Count() }

// path runs what is left of the path.
func (r *Run) path(ctx context.Context) error {
	block := r.fixedBlock
	if r.accelerated() {
		block = r.acceleratedBlock
	}
	for k := len(r.State.Points); k < len(r.lambdas) && !r.gaveUp(); k++ {
		if err := block(ctx, k); err != nil {
			return err
		}
		r.State.Points = append(r.State.Points, r.closeBlock(r.lambdas[k]))
		if r.passed != nil {
			if err := r.passed(); err != nil {
				return err
			}
		}
		if err := r.save(); err != nil {
			return err
		}
	}
	return nil
}

// gaveUp tells whether the minimum was out of reach at the last λ: then it is at
// smaller ones, too, and the path ends.
func (r *Run) gaveUp() bool {
	n := len(r.State.Points)
	return n > 0 && r.State.Points[n-1].Unfinished
}

// fixedBlock makes what is left of the iterations at λ_k.
func (r *Run) fixedBlock(ctx context.Context, k int) error {
	for r.State.Iteration < r.steps[k] {
		last, err := r.advance(ctx, r.lambdas[k])
		if err != nil {
			return err
		}
		r.Report(engine.Progress{Stage: "path", Unit: "iteration", Iteration: r.State.Iteration, Total: r.iterations(), Lambda: r.lambdas[k],
			Edges: r.edges(), Loss: last.Loss, EffectiveSize: last.EffectiveSize})
	}
	return nil
}

// acceleratedBlock goes to the minimum at λ_k, or as far as MaxIter iterations lead.
func (r *Run) acceleratedBlock(ctx context.Context, k int) error {
	lambda := r.lambdas[k]
	if err := r.open(lambda); err != nil {
		return err
	}
	observe := func(done int) {
		r.Report(engine.Progress{Stage: "path", Unit: "λ", Iteration: done, Total: len(r.lambdas), Lambda: lambda,
			Edges: r.edges(), Loss: r.State.Spectral.Loss, EffectiveSize: math.NaN()})
	}
	for n := &r.State.Block.Count; *n == 0 || *n < r.Config.MaxIter && !r.stands(lambda, r.Config.StopTol); {
		if err := r.accelerate(ctx, lambda); err != nil {
			return err
		}
		observe(k)
	}
	observe(k + 1)
	return nil
}
