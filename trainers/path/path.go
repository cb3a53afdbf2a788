package path

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/optim"
)

// State is everything that changes while a network is estimated beside the engine's part.
type State struct {
	Iteration   int // proximal steps made
	Points      []Point
	Block       Block    // of iterations under way
	Spectral    Spectral // accelerated
	Turns       em.State // em
	Runaway     bool     // em: at the last λ there was no minimum
	Projections int      // how often P was projected to stay positive definite
	Pilot       Pilot    // of penalties that take one
	Auto        Auto
	Resampled   Resampled
	Refitted    Refitted // EBIC
	Judged      Judged   // EBIC on a domain
	Tests       Tests    // fdr
	Refine      Refine
}

// Run is a Gaussian network being estimated along a path.
type Run struct {
	*engine.Engine
	Config Config // with every default filled in
	State  *State

	// Test tells of every pair what is known of it, from the network that the model is at:
	// for a selection by tests.
	Test func(ctx context.Context) (Tests, error)

	posdef   optim.PositiveDefinite
	model    *model.Gaussian
	save     func() error
	rows     []int // of the table, that are fitted to
	lambdas  []float64
	schedule schedule
	held     []bool           // of packed P: it stays 0; nil: none
	weights  []float64        // of packed P in the penalty; nil: all 1
	again    bool             // see Again
	refitter *refitter        // of Again, whose workers are one
	passed   func() error     // called when a λ is done, if set
	enough   func(Point) bool // whether the path may end at a point, if set

	covariates covariates

	choice choice
}

// schedule is a way to go along a path.
type schedule interface {
	// iterate makes what is left of the iterations at λ_k.
	iterate(ctx context.Context, k int) error
	// close fills in what a point has of the schedule's own.
	close(p *Point)
	// settle makes what is left of the iterations after the path, at the chosen λ.
	settle(ctx context.Context) error
	// moved says in words what Refine.Movement is.
	moved() string
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
	r := &Run{Engine: e, Config: c, State: s, model: m, save: func() error { return nil }, covariates: newCovariates(p.Table.Names, c.Covariates)}
	r.posdef.Floor = c.Floor
	if c.Schedule == Moments && p.Table.D > DenseColumns && !fitsMean { // it has none until the result is known
		m.Packed.Value = nil
	}
	r.takeRows(rows)
	if c.LambdaMax != 0 {
		r.lambdas = c.grid()
	}
	switch c.Schedule {
	case Fixed:
		r.schedule = newFixed(r)
	case Accelerated:
		r.schedule = &accelerated{Run: r, space: newSpace(m)}
	case Moments:
		r.schedule = newMatrix(r)
	default:
		r.schedule = newTurns(r)
	}
	return r, nil
}

// takeRows sets the rows that are fitted to, those of one pattern together, for they share work.
func (r *Run) takeRows(rows []int) {
	t := r.Table
	if rows == nil {
		rows = r.AllRows()
	}
	r.rows = byPattern(t, rows)
	chosen := make([]bool, t.N)
	for _, i := range r.rows {
		chosen[i] = true
	}
	r.TakesPart(func(i int) bool { return chosen[i] })
}

// byPattern are the rows, those with the same cells observed together: first those that have
// the first columns. Rows that are so already are given as they are.
func byPattern(t *data.Table, rows []int) []int {
	groups := t.Patterns(rows)
	slices.SortFunc(groups, func(a, b []int) int {
		i, j := a[0]*t.D, b[0]*t.D
		for k := range t.D {
			if x, y := t.Observed[i+k], t.Observed[j+k]; x != y {
				if x {
					return -1
				}
				return 1
			}
		}
		return 0
	})
	if sorted := slices.Concat(groups...); !slices.Equal(sorted, rows) {
		return sorted
	}
	return rows
}

// Estimate makes what is left of the path, of the choice of λ and of the iterations at
// it. save is called when the state is worth saving. When ctx is cancelled Estimate
// returns its error, with a state from which it goes on.
func (r *Run) Estimate(ctx context.Context, save func() error) (scores []float64, err error) {
	r.save = save
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if !r.asNeeded() {
		if err := r.path(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.resample(ctx); err != nil {
		return nil, err
	}
	c, err := r.choose(ctx)
	if err != nil {
		return nil, err
	}
	r.choice = c
	switch {
	case r.Config.PathOnly:
		r.take(c.point)
		return c.scores, nil
	case *r.Config.Refit && r.Config.Schedule == EM:
		return c.scores, r.refitChosen(ctx)
	case *r.Config.Refit && r.solves():
		return c.scores, r.solveChosen(ctx)
	}
	return c.scores, r.refine(ctx)
}

// fitsMean tells whether η = Pμ is fitted along.
func (r *Run) fitsMean() bool { return r.model.Parameterisation() == model.Natural }

// pairs of columns.
func (r *Run) pairs() int { return r.Table.D * (r.Table.D - 1) / 2 }

// Model is the network's, of the table's columns as the path saw them.
func (r *Run) Model() *model.Gaussian { return r.model }

// packed is the model's P, as graph.PackedIndex says.
func (r *Run) packed() []float64 {
	p := r.model.Packed
	if p.Value == nil {
		p.Value = make([]float64, p.Rows*p.Cols)
	}
	return p.Value
}

// closeBlock turns the finished block into a point.
func (r *Run) closeBlock(lambda float64) Point {
	if m := r.ofMatrix(); m != nil {
		return m.point(lambda)
	}
	b := r.State.Block
	var linear []float64
	if r.fitsMean() {
		linear = slices.Clone(r.model.Location.Value)
	}
	p := Point{
		Lambda: lambda, Linear: linear, Edges: r.edges(),
		Change: floats.Distance(b.Start, r.packed(), math.Inf(1)), Projections: b.Projections, Iterations: b.Count,
	}
	p.setPrecision(r.packed(), r.Table.D)
	r.schedule.close(&p)
	r.State.Block = Block{}
	return p
}

func (r *Run) edges() int { return r.Network(r.packed()).Count() }

// asNeeded tells whether the choice makes the path, no further than it has to look.
func (r *Run) asNeeded() bool {
	s := r.Config.Select
	return !r.Config.Whole && s.searches() && r.Missingness == nil && (r.again || !s.ByTests())
}

// CutByChoice tells whether the path ended because the choice needed no smaller λ.
func (r *Run) CutByChoice() bool { return !r.ended() }

// path runs what is left of the path.
func (r *Run) path(ctx context.Context) error { return r.pathTo(ctx, len(r.lambdas)) }

// pathTo runs what is left of the first so many λ.
func (r *Run) pathTo(ctx context.Context, lambdas int) error {
	for k := len(r.State.Points); k < lambdas && !r.ended(); k++ {
		if err := r.schedule.iterate(ctx, k); err != nil {
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
		if r.enough != nil && r.enough(r.State.Points[k]) {
			break
		}
	}
	return nil
}

// At how many λ in a row the minimum may be out of reach before the path ends.
const (
	patience = 5
	// So many where a criterion on all rows chooses a finished point, and no other: each of the
	// rest would take all iterations that it may, and none is chosen.
	judgedPatience = 2
	// Turns come near the minimum all the same, and the one or other λ is finished yet.
	turnsPatience = 10
)

// patience is that of the run's schedule; 0: it has none.
func (r *Run) patience() int {
	s := r.Config.Select
	judged := s.Judges() && !s.Resamples() && len(r.unfinished()) < len(r.State.Points)
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
	if r.stuck() {
		return true
	}
	if r.State.Runaway && (r.Config.Schedule == EM || r.Config.Schedule == Moments) {
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

// unfinished are the λ at which the minimum was out of reach, the largest first.
func (r *Run) unfinished() (lambdas []float64) {
	for _, p := range r.State.Points {
		if p.Unfinished {
			lambdas = append(lambdas, p.Lambda)
		}
	}
	return lambdas
}
