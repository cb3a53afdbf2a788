package regpath

import (
	"context"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses/pairmoments"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
)

// Run is a Gaussian network being estimated along a path.
type Run struct {
	*walk

	// Test tests every pair, from the network that the model is at: for a selection by tests.
	Test func(ctx context.Context) (Tests, error)

	choice choice
}

// New prepares a path on a table; p.Model and p.Objective are set here.
func New(p engine.Problem, steps engine.Config, c Config, s *State) (*Run, error) {
	w, err := newWalk(p, steps, c, s, nil)
	if err != nil {
		return nil, err
	}
	return &Run{walk: w}, nil
}

// Again makes this, before it begins, one of many estimates from resamples of a table: it comes to
// the same network in less time. EM iterations go by moments, as with many columns; EBIC looks at
// every fourth λ, then at those around the best of them; its refits end at a gain of againGain. Iterations after the path are as ever.
// Rows that are drawn several times are worked on once, where gradients have no noise.
func (r *Run) Again() {
	r.again = true
	if r.Config.Schedule != Fixed {
		r.countRepeats()
	}
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

// Estimate makes what is left of the path, of the choice of λ and of the iterations at
// it. save is called when the state is worth saving. When ctx is cancelled Estimate
// returns its error, with a state from which it goes on.
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

// test is Test from a choice.
func (r *Run) test(ctx context.Context, start choice) (Tests, error) {
	if r.Test == nil {
		return Tests{}, setting.Errorf("select", byFDR, "nothing is there to test pairs by")
	}
	r.choice = start
	return r.Test(ctx)
}

// refine runs what is left of the stage after the path. Iterations that diverge cost the stage,
// not the path: the model is then the chosen point again.
func (r *Run) refine(ctx context.Context) error {
	f, index, refit := &r.State.Refine, r.choice.point, *r.Config.Refit
	inOneGo := refit && (r.Config.Schedule == EM || solvable(r.Problem, r.Estimator))
	if f.Done && (inOneGo || f.Likeliest) {
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
	case r.matrix != nil: // which goes on from the point itself
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

// chosenPairs are the chosen edges and the pairs with a covariate.
func (r *Run) chosenPairs() []bool {
	if r.choice.edges == nil {
		return r.adjacency(r.State.Points[r.choice.point], true).Edge
	}
	return r.covariates.set(slices.Clone(r.choice.edges), r.Table.D, true)
}

// Unpenalised is the network of the result without a penalty: the result itself where it is
// a refit, else maximum likelihood's with its edges, or, not free, the result where that has
// no maximum. It is for columns on all of R^d without a law of missing cells.
func (r *Run) Unpenalised(ctx context.Context) (m *model.Gaussian, free bool, err error) {
	if f := r.State.Refine; f.Refit && f.Failure == "" {
		return r.model, true, nil
	}
	f, err := r.oneRefitter()
	if err != nil {
		return nil, false, err
	}
	d := r.Table.D
	s, ok, err := f.refit(ctx, r.model.Mean(), r.packed(), without(r.chosenPairs(), d), r.settled)
	if err != nil || !ok {
		return r.model, false, err
	}
	m = model.NewGaussian(d, model.Natural)
	_, err = f.model(m, s, d)
	return m, true, err
}

// Auto is the result of the penalty "auto": it goes the paths of l1 and adaptive and takes the
// one with the network of least EBIC, each refitted by maximum likelihood, so that networks are
// judged and not the shrinkage of a penalty (docs/theory/penalties.md#auto).
type Auto struct {
	Kind   string        // of the penalty that is taken; "": not known yet
	Kinds  []string      // that were tried
	Scores []float64     // their least EBIC; +Inf where no network has a likelihood with a maximum
	States []*State      // of their paths, while they are under way
	Engine *engine.State // of the last of these; nil: before it has begun
}

// tie is a difference of EBIC that refits, which stop near their maximum, do not tell from none.
const tie = 0.1

// compare goes the path of each penalty.
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
		case engine.Diverged(err) && i > 0: // a pilot or a path that does not exist is not taken
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
	if n := len(taken.Points); n > 0 { // from where the path goes on if the selection needs more of it
		w.setPoint(n - 1)
	}
	return w.save()
}

// scorePath makes what is left of a penalty's path and gives the least EBIC of its networks.
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
	defer capture() // when it is cut, too
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

// Model is the network's, of the table's columns as the path saw them.
func (r *Run) Model() *model.Gaussian { return r.model }

// Nodes are the places of the table's columns that are no covariates; of a block of columns, which is
// one node, the first.
func (r *Run) Nodes() []int { return r.covariates.nodes }

// NodeNames are the names of the nodes.
func (r *Run) NodeNames() []string { return r.covariates.names }

// Blocks are the columns of each node; nil: one each.
func (r *Run) Blocks() []data.Block { return r.covariates.blocks }

// Network has the edges of a packed P among the nodes.
func (r *Run) Network(packed []float64) network.Adjacency {
	return Adjacency(r.NodePrecision(packed), len(r.Nodes()), r.Config.Threshold)
}

// NodePrecision is a packed P as one of the nodes, whose partial correlations are those of the
// network: between a block of several columns and another node the strength, without a sign.
func (r *Run) NodePrecision(packed []float64) []float64 {
	return r.covariates.precision(packed, r.Table.D)
}

// OfNodes takes values of all pairs of columns, (0,1), (0,2), …, and gives those of pairs of nodes, of
// blocks those of their first columns.
func OfNodes[T any](r *Run, values []T) []T { return ofNodes(r.covariates, values) }

// Point is a point of the path with the nodes alone.
func (r *Run) Point(p Point) Point {
	if r.covariates.free == nil {
		return p
	}
	packed := r.NodePrecision(p.precision(r.Table.D))
	p.Linear = nil
	p.setPrecision(packed, len(r.Nodes()))
	return p
}

// Moments are those that a method of one matrix goes by; nil of other methods.
func (r *Run) Moments() *pairmoments.Moments {
	if r.matrix == nil {
		return nil
	}
	return r.matrix.of
}

// CutByChoice tells whether the path ended because the choice needed no smaller λ.
func (r *Run) CutByChoice() bool { return !r.ended() }

// Thresholds are those of ordinal columns that come with the moments, nil if none do.
func (r *Run) Thresholds() [][]float64 {
	if r.matrix != nil && r.matrix.of != nil {
		return r.matrix.of.Cuts
	}
	return nil
}
