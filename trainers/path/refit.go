package path

import (
	"context"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/optim"
)

// Refitted is what the refits along a path have told.
type Refitted struct {
	Done       []bool
	Likelihood []float64 // log density of the observed cells; NaN where it has no maximum
}

const (
	refitTurns = 100
	refitGain  = 0.01 // of log likelihood by a turn: with less the refit ends
)

// refitter fits networks by maximum likelihood.
type refitter struct {
	turns   em.Turns
	posdef  optim.PositiveDefinite
	observe func(*em.State) // called after each turn, if set
}

func (r *Run) newRefitter(workers int) (*refitter, error) {
	p, c := r.Problem, r.Engine.Config
	m := model.NewGaussian(r.Table.D, model.Natural)
	p.Model, p.Objective = m, losses.Classical{}
	batch := 250
	if r.again {
		batch = AgainBatch
	}
	e, err := engine.New(p, engine.Config{Method: "em-exact", Batch: batch, Seed: c.Seed, Workers: workers})
	if err != nil {
		return nil, err
	}
	e.Counts = r.Counts
	e.Condense(r.rows)
	f := &refitter{}
	f.posdef.Floor = r.Config.Floor
	f.turns = em.Turns{Engine: e, Model: m, Rows: r.rows, Bounds: &f.posdef}
	return f, nil
}

// keptRefitter is one for a worker: where there is one worker, always the same.
func (r *Run) keptRefitter() (f *refitter, err error) {
	if !r.again {
		return r.newRefitter(1)
	}
	if r.refitter == nil {
		r.refitter, err = r.newRefitter(1)
	}
	return r.refitter, err
}

// refit fits a network by maximum likelihood of the observed
// cells, without a penalty, from mean and precision (packed, positive definite); held says
// which elements of it stay 0: EM iterations, whose second step is covariance selection, until done
// says so. It is not ok where the likelihood has no maximum.
func (f *refitter) refit(ctx context.Context, mean, packed []float64, held []bool, done func(*em.State) bool) (s *em.State, ok bool, err error) {
	start, free := slices.Clone(packed), make([]float64, len(packed))
	for i, zero := range held {
		if free[i] = 1; zero {
			start[i], free[i] = 0, 0
		}
	}
	m := f.turns.Model
	copy(m.Packed.Value, start)
	f.posdef.Project(m)
	m.SetMean(mean)
	s = &em.State{Anderson: optim.Anderson{Memory: em.Memory}}
	support := em.NewSupport(free, len(mean))
	for {
		err := f.turns.Turn(ctx, s, support.Minimise)
		if engine.Diverged(err) {
			return s, false, nil
		}
		if err != nil {
			return s, false, err
		}
		if f.observe != nil {
			f.observe(s)
		}
		if done(s) {
			f.turns.Settle(s)
			return s, s.Projections == 0, nil
		}
	}
}

// gainless says of turns in a row when they gain less.
func gainless(least float64) func(*em.State) bool {
	before := math.Inf(-1)
	return func(s *em.State) bool {
		gain := s.Likelihood - before
		before = s.Likelihood
		return s.Count == refitTurns || gain >= 0 && gain < least
	}
}

// refitChosen makes the refit of the chosen point the result. It is made in one go: cut,
// it starts again from the point, and comes to the same.
func (r *Run) refitChosen(ctx context.Context) error {
	f, d, index := &r.State.Refine, r.Table.D, r.choice.point
	if f.Done {
		return nil
	}
	p := r.State.Points[index]
	*f = Refine{Started: true, Index: index, Refit: true, Movement: math.Inf(1)}
	to, err := r.newRefitter(r.Engine.Config.Workers)
	if err != nil {
		return err
	}
	to.observe = func(s *em.State) {
		r.Report(engine.Progress{Stage: "refit", Unit: "EM iteration", Iteration: s.Count, Total: r.Config.RefineIter, Lambda: p.Lambda,
			Edges: r.chosenEdges(), Loss: s.Loss / float64(d), EffectiveSize: math.NaN()})
	}
	s, ok, err := to.refit(ctx, p.mean(d), p.Precision(d), r.heldByChoice(), func(s *em.State) bool {
		return refineBlock*s.Movement < r.Config.Tolerance || s.Count == r.Config.RefineIter
	})
	if err != nil {
		return err
	}
	if f.Done = true; !ok {
		r.take(index)
		f.Failure = "the refit failed, for the likelihood of this network has no maximum"
		if err := r.fillLoss(); err != nil {
			return err
		}
		return r.save()
	}
	copy(r.packed(), to.turns.Model.Packed.Value)
	r.model.SetMean(to.turns.Model.Mean())
	f.Iterations, f.Movement, f.Loss, f.Size = s.Count, refineBlock*s.Movement, s.Loss/float64(d), math.NaN()
	f.Converged = f.Movement < r.Config.Tolerance
	return r.save()
}

// Unpenalised is the network of the result without a penalty: the result itself where it is
// a refit, else maximum likelihood's with its edges, or, not free, the result where that has
// no maximum. It is for columns on all of R^d without a law of missing cells.
func (r *Run) Unpenalised(ctx context.Context) (m *model.Gaussian, free bool, err error) {
	if f := r.State.Refine; f.Refit && f.Failure == "" {
		return r.model, true, nil
	}
	f, err := r.newRefitter(r.Engine.Config.Workers)
	if err != nil {
		return nil, false, err
	}
	_, ok, err := f.refit(ctx, r.model.Mean(), r.packed(), r.heldByChoice(), func(s *em.State) bool {
		return refineBlock*s.Movement < r.Config.Tolerance || s.Count == r.Config.RefineIter
	})
	if err != nil || !ok {
		return r.model, false, err
	}
	return f.turns.Model, true, nil
}

// searchLikelihoods refits networks along the path and gives their likelihoods, NaN for
// those the search does not come by. score is to be small.
func (r *Run) searchLikelihoods(ctx context.Context, score func(point int, likelihood float64) float64) ([]float64, error) {
	state := &r.State.Refitted
	networks := func(number int) ([]int, error) {
		all, err := r.networksTo(ctx, number)
		for len(state.Done) < len(r.State.Points) {
			state.Done, state.Likelihood = append(state.Done, false), append(state.Likelihood, math.NaN())
		}
		return all, err
	}
	if _, err := search(networks,
		func(points []int) error { return r.refitAll(ctx, points) },
		func(point int) float64 { return score(point, state.Likelihood[point]) }); err != nil {
		return nil, err
	}
	return r.shared(r.networks(), state.Likelihood), nil
}

// refitAll refits the networks of those points that are not done, in parallel.
func (r *Run) refitAll(ctx context.Context, points []int) error {
	if m := r.ofMatrix(); m != nil {
		return m.likelihoods(ctx, points)
	}
	state := &r.State.Refitted
	var left []int
	for _, i := range points {
		if !state.Done[i] {
			left = append(left, i)
		}
	}
	least := refitGain
	if r.again {
		least = againGain
	}
	pool, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	workers := min(r.Engine.Config.Workers, len(left))
	for k := range workers {
		pool.Go(func() error {
			return panics.Caught(func() error {
				f, err := r.keptRefitter()
				if err != nil {
					return err
				}
				for n := k; n < len(left); n += workers {
					p := r.State.Points[left[n]]
					packed := p.Precision(r.Table.D)
					s, ok, err := f.refit(ctx, p.mean(r.Table.D), packed, r.without(packed), gainless(least))
					if err != nil {
						return err
					}
					mu.Lock()
					state.Done[left[n]] = true
					if ok {
						state.Likelihood[left[n]] = s.Likelihood
					}
					r.Report(engine.Progress{Stage: "ebic", Unit: "network", Iteration: count(state.Done), Total: len(r.networks()), Loss: math.NaN(), EffectiveSize: math.NaN()})
					mu.Unlock()
				}
				return nil
			})
		})
	}
	return pool.Wait()
}
