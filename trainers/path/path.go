package path

import (
	"context"
	"slices"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Run is a Gaussian network being estimated along a path.
type Run struct {
	*problem

	// Test tests every pair, from the network that the model is at: for a selection by tests.
	Test func(ctx context.Context) (Tests, error)

	schedule schedule
	matrix   *matrix          // the schedule, if it is one
	refitter *refitter        // of Again, whose workers are one
	passed   func() error     // called when a λ is done, if set
	enough   func(Point) bool // whether the path may end at a point, if set
	choice   choice
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
	method, err := estimator.ByName(steps.Method)
	if err != nil {
		return nil, setting.Errorf("method", steps.Method, "%v", err)
	}
	kind := model.FreeSymmetric
	fitsMean := p.Domain.Bounded() || p.Missingness != nil || method.FitsMean()
	if fitsMean {
		kind = model.Natural
	}
	m := model.NewGaussian(p.Table.D, kind)
	m.Location.Fixed = !fitsMean
	p.Model, p.Objective = m, losses.ObjectiveFor(p.Domain, p.Weight)
	if p.Condensed == nil {
		p.Condensed = engine.NewCondensed()
	}
	if c, steps, err = c.Resolve(p, steps); err != nil {
		return nil, err
	}
	e, err := engine.New(p, steps)
	if err != nil {
		return nil, err
	}
	r := &Run{problem: &problem{Engine: e, Config: c, State: s, model: m, save: func() error { return nil }, covariates: newCovariates(p.Table.Names, c.Covariates)}}
	r.posdef.Floor = c.Floor
	r.takeRows(rows)
	if c.Schedule == Moments {
		r.matrix = &matrix{problem: r.problem, loss: e.Estimator.Loss.(losses.OfMatrix)}
		if p.Table.D > DenseColumns && !fitsMean { // the model has no P until the result is known
			m.Packed.Value = nil
		}
	}
	if c.LambdaMin != 0 {
		r.lambdas = c.grid()
	}
	return r, nil
}

// Again makes this, before it begins, one of many estimates from resamples of a table: it comes to
// the same network in less time. EM iterations start at each λ where the two before point to
// (turns.predict); refits for EBIC end at a gain of againGain. Iterations after the path are as ever.
// Rows that are drawn several times are worked on once, where gradients have no noise.
func (r *Run) Again() {
	r.again = true
	if r.Config.Schedule != Fixed {
		r.countRepeats()
	}
}

// AgainBatch is how many rows such an estimate works on together where draws do not depend on
// it: a step whose rows are those of the one before goes on from how they were sorted.
const AgainBatch = 4096

// prepare makes the run ready for its path with a penalty other than auto: its weights, λ and
// schedule. Results of earlier calls are in the state.
func (r *Run) prepare(ctx context.Context, kind string) (err error) {
	if r.matrix != nil {
		if err := r.matrix.take(ctx); err != nil {
			return err
		}
	}
	r.Condense(r.rows)
	top, ratio := 0.0, Penalty{Kind: kind}.ratio()
	var pilot []float64
	if kind != l1 {
		if err := r.fitPilot(ctx); err != nil {
			return err
		}
		pilot = r.State.Pilot.Packed
	}
	switch {
	case kind == adaptive:
		r.weights = adaptiveWeights(pilot, r.Table.D)
		r.Config, err = r.Config.span(ratio, func() float64 { return lambdaMax(r.Problem, r.weights, covariates{}) })
	case kind == ridge:
		r.Config, err = r.Config.span(ratio, func() float64 { return slices.Max(sizes(pilot, r.Table.D)) })
	case r.matrix != nil:
		r.weights = r.covariates.weights()
		top, ratio = r.matrix.span()
		r.Config, err = r.Config.span(ratio, func() float64 { return top })
	default:
		r.weights = r.covariates.weights()
		r.Config, err = r.Config.spanAlike(r.Problem)
	}
	if err != nil {
		return err
	}
	r.lambdas = r.Config.grid()
	switch r.Config.Schedule {
	case Fixed:
		r.schedule = fixed{r.problem}
	case Accelerated:
		r.schedule = newAccelerated(r.problem)
	case Moments:
		r.schedule = r.matrix
	default:
		r.schedule = newTurns(r.problem, manyColumns)
	}
	if kind == ridge {
		r.schedule = &thresholds{r.problem, r.schedule, sizes(pilot, r.Table.D)}
	}
	return nil
}

// StepsAt makes the run ready for its rows, as a path does, and gives a function that makes one step
// of the fixed schedule at the path's λ number k, from the largest down, wherever the path stands:
// for measuring. The Run is of no use to estimate any more. In steady state a step does not
// allocate, if matrix products do not.
func (r *Run) StepsAt(k int) func(ctx context.Context) error {
	r.Condense(r.rows)
	f := fixed{r.problem}
	return func(ctx context.Context) error {
		_, err := f.advance(ctx, r.lambdas[k])
		return err
	}
}

// pathTo runs what is left of the first so many λ.
func (r *Run) pathTo(ctx context.Context, lambdas int) error {
	for k := len(r.State.Points); k < lambdas && !r.ended(); k++ {
		if err := r.schedule.iterate(ctx, k); err != nil {
			return err
		}
		r.State.Points = append(r.State.Points, r.schedule.point(r.lambdas[k]))
		if r.passed != nil {
			if err := r.passed(); err != nil {
				return err
			}
		}
		if err := r.save(); err != nil {
			return err
		}
		if r.enough != nil && r.enough(r.State.Points[k]) {
			break
		}
	}
	return nil
}

// path runs what is left of the path, unless the choice makes it as it needs it.
func (r *Run) path(ctx context.Context) error {
	if r.asNeeded() {
		return nil
	}
	return r.pathTo(ctx, len(r.lambdas))
}

// asNeeded tells whether the choice makes the path, no further than it has to look.
func (r *Run) asNeeded() bool {
	by := r.Config.Select.by()
	return !r.Config.Whole && by.searches && r.Missingness == nil && (r.again || !by.tests)
}

// networksTo are the networks of the path, which is first made as far as to so many of them
// if it is made as they are needed.
func (r *Run) networksTo(ctx context.Context, number int) (networks []int, err error) {
	for networks = r.networks(); r.asNeeded() && (len(networks) < number || len(r.unfinished()) == len(r.State.Points)) && !r.ended(); networks = r.networks() {
		if err := r.pathTo(ctx, len(r.State.Points)+1); err != nil {
			return nil, err
		}
	}
	return networks, nil
}

// The number of λ in a row at which the minimum may be out of reach before the path ends.
const (
	patience = 5
	// judgedPatience is for a criterion on all rows that chooses a finished point, and no other: each
	// further λ would take all iterations that it may, and none is chosen.
	judgedPatience = 2
	// turnsPatience is larger: turns come near the minimum all the same, and a later λ may be finished.
	turnsPatience = 10
)

// patience is that of the run's schedule; 0: it has no end.
func (r *Run) patience() int {
	by := r.Config.Select.by()
	judged := by.judges && !by.divides && len(r.unfinished()) < len(r.State.Points)
	switch {
	case r.Config.Schedule == Moments || r.Config.Schedule == EM && !judged:
		return 0
	case r.Config.Schedule == EM:
		return turnsPatience
	case judged:
		return judgedPatience
	}
	return patience
}

// stuck tells whether at the last λ the loss falls towards a P that is not positive definite. At a
// smaller one less holds it, and no step would lead away.
func (r *Run) stuck() bool {
	n := len(r.State.Points)
	return n > 0 && r.State.Points[n-1].Stuck
}

// gaveUp tells whether the path ends here: there is no minimum at the last λ, or it was out of
// reach for too long.
func (r *Run) gaveUp() bool {
	if r.stuck() || r.State.Runaway && (r.Config.Schedule == EM || r.Config.Schedule == Moments) {
		return true
	}
	points, most := r.State.Points, r.patience()
	for k := range most {
		if n := len(points) - 1 - k; n < 0 || !points[n].Unfinished {
			return false
		}
	}
	return most > 0
}

// ended tells whether there is no more of the path.
func (r *Run) ended() bool { return len(r.State.Points) >= len(r.lambdas) || r.gaveUp() }
