package regpath

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

type walk struct {
	*problem
	schedule schedule
	matrix   *matrix          // the schedule, if it is one
	passed   func() error     // called after each λ; may be nil
	enough   func(Point) bool // whether the path may end at a point; may be nil
	refitter *refitter        // nil: not created yet
}

// newWalk prepares a path on some rows, nil for all, and sets p.Model and p.Objective. The mean is
// fixed at 0 on R^d; on a domain with a boundary, with a missingness mechanism, and for estimators
// valid under MAR, η = Pμ is fitted.
func newWalk(p engine.Problem, steps engine.Config, c Config, s *State, rows []int) (*walk, error) {
	method, err := steps.Named()
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
	if c, steps, err = c.resolve(p, steps); err != nil {
		return nil, err
	}
	e, err := engine.New(p, steps)
	if err != nil {
		return nil, err
	}
	w := &walk{problem: &problem{Engine: e, Config: c, State: s, model: m, save: func() error { return nil }, covariates: newCovariates(p.Table, c.Covariates)}}
	w.posdef.Floor = c.Floor
	w.takeRows(rows)
	if c.Schedule == Moments {
		w.matrix = &matrix{problem: w.problem, loss: e.Estimator.Loss.(losses.OfMatrix)}
		if p.Table.D > DenseColumns && !fitsMean { // the model gets P with the result
			m.Packed.Value = nil
		}
	}
	return w, nil
}

// prepare sets weights, λ and schedule for a penalty other than auto, from the state if it has
// them.
func (w *walk) prepare(ctx context.Context, kind string) (err error) {
	if w.matrix != nil {
		if err := w.matrix.take(ctx); err != nil {
			return err
		}
	}
	w.Condense(w.rows)
	c, d, ratio := &w.Config, w.Table.D, Penalty{Kind: kind}.ratio()
	var order []float64 // of pairs
	if kind != l1 {
		if err := fitPilot(ctx, w.problem); err != nil {
			return err
		}
	}
	switch {
	case kind == adaptive:
		w.weights = adaptiveWeights(sizes(w.State.Pilot.Packed, d), d)
		setting.Default(&c.LambdaMax, lambdaMax(w.Problem, w.weights, covariates{}))
	case kind == ridge:
		order = strengths(w.State.Pilot.Packed, d, meanPairCount(w.Problem))
		setting.Default(&c.LambdaMax, slices.Max(order)*(1+1e-12)) // above the rounding of the grid
	case w.matrix != nil:
		w.weights = w.covariates.weights()
		var top float64
		top, ratio = w.matrix.span()
		setting.Default(&c.LambdaMax, top)
	default:
		w.weights = w.covariates.weights()
		if c.LambdaMax == 0 {
			c.LambdaMax = lambdaMax(w.Problem, nil, w.covariates)
		}
		if d > DenseColumns && c.LambdaMin == 0 && !w.Domain.Bounded() {
			ratio = crowdedRatio(d, meanPairCount(w.Problem), nullGradient(w.Problem, w.covariates), c.LambdaMax*float64(w.Table.N*d))
		}
	}
	if c.LambdaMax == 0 {
		return errors.New("no two columns are correlated, so the network is empty at every λ; check the table, or give Spec.Network.LambdaMax")
	}
	setting.Default(&c.LambdaMin, c.LambdaMax/ratio)
	if err := c.checkEnds(); err != nil {
		return err
	}
	if w.lambdas = []float64{c.LambdaMax}; c.Lambdas > 1 {
		w.lambdas = floats.LogSpan(make([]float64, c.Lambdas), c.LambdaMax, c.LambdaMin)
	}
	switch c.Schedule {
	case Fixed:
		w.schedule = fixed{w.problem}
	case Accelerated:
		w.schedule = newAccelerated(w.problem)
	case Moments:
		w.schedule = w.matrix
	default:
		w.schedule = newTurns(w.problem, manyColumns)
	}
	if kind == ridge {
		w.schedule = &thresholds{w.problem, w.schedule, order}
	}
	return nil
}

func (w *walk) pathTo(ctx context.Context, lambdas int) error {
	for k := len(w.State.Points); k < lambdas && !w.ended(); k++ {
		p, err := w.schedule.iterate(ctx, k)
		if err != nil {
			return err
		}
		w.State.Points = append(w.State.Points, p)
		if w.passed != nil {
			if err := w.passed(); err != nil {
				return err
			}
		}
		if err := w.save(); err != nil {
			return err
		}
		if w.enough != nil && w.enough(p) {
			break
		}
	}
	return nil
}

func (w *walk) path(ctx context.Context) error {
	if w.asNeeded() {
		return nil
	}
	return w.pathTo(ctx, len(w.lambdas))
}

func (w *walk) asNeeded() bool {
	by := w.Config.Select.by()
	return !w.Config.Whole && by.searches && w.Missingness == nil && (w.again || !by.tests)
}

func (w *walk) networksTo(ctx context.Context, number int) (networks []int, err error) {
	for networks = w.networks(); w.asNeeded() && (len(networks) < number || len(w.unfinished()) == len(w.State.Points)) && !w.ended(); networks = w.networks() {
		if err := w.pathTo(ctx, len(w.State.Points)+1); err != nil {
			return nil, err
		}
	}
	return networks, nil
}

// Number of unconverged λ in a row that end the path.
const (
	patience = 5
	// Later λ would use all iterations without being chosen.
	judgedPatience = 2
	// EM comes near the minimum and a later λ may converge.
	turnsPatience = 10
)

// patience is the limit of unconverged λ in a row; 0: none.
func (w *walk) patience() int {
	by := w.Config.Select.by()
	judged := by.judges && !by.divides && len(w.unfinished()) < len(w.State.Points)
	switch {
	case w.Config.Schedule == Moments || w.Config.Schedule == EM && !judged:
		return 0
	case w.Config.Schedule == EM:
		return turnsPatience
	case judged:
		return judgedPatience
	}
	return patience
}

// stuck: at the last λ, as at all smaller ones, the loss has no minimum.
func (w *walk) stuck() bool {
	n := len(w.State.Points)
	return n > 0 && w.State.Points[n-1].Stuck
}

func (w *walk) gaveUp() bool {
	if w.stuck() {
		return true
	}
	points, most := w.State.Points, w.patience()
	for k := range most {
		if n := len(points) - 1 - k; n < 0 || !points[n].Unfinished {
			return false
		}
	}
	return most > 0
}

func (w *walk) ended() bool { return len(w.State.Points) >= len(w.lambdas) || w.gaveUp() }
