package regpath

import (
	"context"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/gaussian/sparse"
)

type Run struct {
	*walk

	// Test tests all pairs, starting from the model's network.
	Test func(ctx context.Context) (Tests, error)

	choice choice
}

// New prepares a path on a table. It sets p.Model and p.Objective.
func New(p engine.Problem, steps engine.Config, c Config, s *State) (*Run, error) {
	w, err := newWalk(p, steps, c, s, nil)
	if err != nil {
		return nil, err
	}
	return &Run{walk: w}, nil
}

// Again makes estimates on resamples faster: EM uses moments, and repeated rows are computed once.
func (r *Run) Again() {
	r.again = true
	if r.Config.Schedule != Fixed {
		r.countRepeats()
	}
}

// Estimate completes the path, the choice of λ and the iterations at it. If ctx is cancelled it
// returns ctx's error, and the state can be resumed.
func (r *Run) Estimate(ctx context.Context, save func() error) (scores []float64, err error) {
	r.save = save
	if r.Config.Penalty.Kind == auto && r.State.Auto.Kind == "" {
		if err := compare(ctx, r.walk); err != nil {
			return nil, err
		}
	}
	if err := r.prepare(ctx, r.Penalty().Kind); err != nil {
		return nil, err
	}
	if err := r.path(ctx); err != nil {
		return nil, err
	}
	if err := resample(ctx, r.walk); err != nil {
		return nil, err
	}
	if r.choice, err = choose(ctx, r.walk, r.test); err != nil {
		return nil, err
	}
	if !r.Config.PathOnly {
		return r.choice.scores, r.refine(ctx)
	}
	if r.matrix != nil {
		r.matrix.release()
	}
	r.take(r.choice.point)
	return r.choice.scores, nil
}

func (r *Run) test(ctx context.Context, start choice) (Tests, error) {
	r.choice = start
	return r.Test(ctx)
}

// If its iterations diverge, the model is the chosen point.
func (r *Run) refine(ctx context.Context) error {
	f, index, refit := &r.State.Refine, r.choice.point, *r.Config.Refit
	inOneGo := refit && (r.Config.Schedule == EM || solvable(r.Problem, r.Estimator))
	if f.Done {
		return nil
	}
	started := f.Started
	if !started || inOneGo {
		*f = Refine{Started: true, Refit: refit, Index: index, Movement: math.Inf(1)}
	}
	edges := r.chosenPairs()
	switch {
	case inOneGo && r.Config.Schedule == EM:
		return refitChosen(ctx, r.walk, edges)
	case inOneGo:
		return solveChosen(ctx, r.problem, edges)
	case r.matrix != nil: // continues from the point
		r.matrix.chosen = edges
	case !started:
		r.setPoint(index)
		r.State.Spectral, r.State.Turns = Spectral{}, em.State{}
	}
	lambda := r.lambdas[f.Index]
	if f.Refit {
		lambda = 0
	}
	if f.Refit && r.matrix == nil {
		r.held = without(edges, r.Table.D)
		for i, held := range r.held {
			if held {
				r.packed()[i] = 0
			}
		}
	}
	err := r.schedule.settle(ctx, lambda)
	switch {
	case f.Refit && f.Stuck && !r.Domain.Bounded() && r.Missingness == nil:
		*f = Refine{Started: true, Refit: refit, Likeliest: true, Index: index, Movement: math.Inf(1)}
		return refitChosen(ctx, r.walk, edges)
	case engine.Diverged(err):
		return r.giveUp(err.Error())
	}
	return err
}

func (r *Run) chosenPairs() []bool {
	if r.choice.edges == nil {
		return r.adjacency(r.State.Points[r.choice.point], true).Edge
	}
	return r.covariates.set(slices.Clone(r.choice.edges), r.Table.D, true)
}

// Unpenalised returns the result if it is a refit, else maximum likelihood with its edges. free is
// false, and m the result, without a maximum. It needs columns on R^d without a missingness
// mechanism.
func (r *Run) Unpenalised(ctx context.Context) (m *model.Gaussian, free bool, err error) {
	if f := r.State.Refine; f.Refit && f.Failure == "" {
		return r.model, true, nil
	}
	f, err := r.oneRefitter()
	if err != nil {
		return nil, false, err
	}
	d := r.Table.D
	s, ok, err := f.refit(ctx, slices.Concat(r.model.Mean(), r.packed()), without(r.chosenPairs(), d), r.settled)
	if err != nil || !ok {
		return r.model, false, err
	}
	m = model.NewGaussian(d, model.Natural)
	_, err = f.model(m, s.X)
	return m, true, err
}

// Auto takes the l1 or the adaptive path by the least EBIC of refits
// (docs/theory/penalties.md#auto).
type Auto struct {
	Kind   string        // chosen penalty; "" before the choice
	Kinds  []string      // tried penalties
	Scores []float64     // least EBIC; +Inf if no likelihood has a maximum
	States []*State      // of unfinished paths
	Engine *engine.State // of the last path; nil before it starts
}

// tie is the EBIC difference that refits do not distinguish.
const tie = 0.1

func compare(ctx context.Context, w *walk) error {
	s := &w.State.Auto
	for i, kind := range []string{l1, adaptive} {
		if i == len(s.States) {
			s.Engine = nil
			s.Kinds, s.Scores, s.States = append(s.Kinds, kind), append(s.Scores, math.Inf(1)), append(s.States, &State{})
		}
		if i < len(s.States)-1 { // done
			continue
		}
		score, err := scorePath(ctx, w, kind, s.States[i])
		switch {
		case engine.Diverged(err) && i > 0: // skip a pilot or path that does not exist
		case err != nil:
			return err
		case !math.IsNaN(score):
			s.Scores[i] = score
		}
	}
	best := 0
	for i, score := range s.Scores {
		if score < s.Scores[best]-tie {
			best = i
		}
	}
	taken := *s.States[best]
	taken.Auto = Auto{Kind: s.Kinds[best], Kinds: s.Kinds, Scores: s.Scores}
	*w.State = taken
	if n := len(taken.Points); n > 0 { // the path continues here if the selection needs more
		w.setPoint(n - 1)
	}
	return w.save()
}

func scorePath(ctx context.Context, w *walk, kind string, s *State) (score float64, err error) {
	c := w.Config
	c.Penalty, c.LambdaMax, c.LambdaMin = Penalty{Kind: kind}, 0, 0
	if c.Select.Kind != byEBIC {
		c.Select, c.Refit = Selection{Kind: byEBIC, Gamma: c.Select.Gamma}, new(true)
	}
	steps := w.Engine.Config
	if observe := steps.Observe; observe != nil {
		steps.Observe = func(p engine.Progress) {
			p.Trial = kind
			observe(p)
		}
	}
	run, err := newWalk(w.Problem, steps, c, s, w.rows)
	if err != nil {
		return 0, err
	}
	capture := func() {
		now := run.Capture()
		w.State.Auto.Engine = &now
	}
	if before := w.State.Auto.Engine; before != nil {
		run.Restore(*before)
	}
	defer capture() // also after cancellation
	run.save = func() error {
		capture()
		return w.save()
	}
	if err := run.prepare(ctx, kind); err != nil {
		return 0, err
	}
	if err := run.path(ctx); err != nil {
		return 0, err
	}
	chosen, err := choose(ctx, run, nil)
	if err != nil {
		return 0, err
	}
	return chosen.scores[chosen.point], nil
}

// Model is of the columns as the path saw them.
func (r *Run) Model() *model.Gaussian { return r.model }

// Nodes returns the first column of each node.
func (r *Run) Nodes() []int { return r.covariates.nodes }

func (r *Run) NodeNames() []string { return r.covariates.names }

// Blocks returns the columns of each node; nil: one column each.
func (r *Run) Blocks() []data.Block { return r.covariates.blocks }

// NodePrecision returns the packed matrix of the nodes; pairs with a block have strengths, without
// sign.
func (r *Run) NodePrecision(packed []float64) []float64 {
	return r.covariates.precision(packed, r.Table.D)
}

// OfNodes selects pairs of nodes from values of all pairs of columns, (0,1), (0,2), …; for blocks
// by first columns.
func OfNodes[T any](r *Run, values []T) []T { return ofNodes(r.covariates, values) }

func (r *Run) Point(p Point) Point {
	if r.covariates.free == nil {
		return p
	}
	p.P = *sparse.FromPacked(r.NodePrecision(p.Packed()), len(r.Nodes()))
	p.Linear = nil
	return p
}

// Moments returns nil for methods that use rows.
func (r *Run) Moments() *pairmoments.Moments {
	if r.matrix == nil {
		return nil
	}
	return r.matrix.of
}

// CutByChoice reports whether the choice needed no smaller λ.
func (r *Run) CutByChoice() bool { return !r.ended() }
