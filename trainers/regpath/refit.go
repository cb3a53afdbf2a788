package regpath

import (
	"context"
	"math"
	"slices"
	"sync"

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
	againGain  = 0.1  // in place of it (Run.Again): the turns after it would gain a tenth of it or so
)

// AgainBatch is how many rows such an estimate works on together where draws do not depend on
// it: a step whose rows are those of the one before goes on from how they were sorted.
const AgainBatch = 4096

// refitter fits networks by maximum likelihood.
type refitter struct {
	turns   em.Turns
	posdef  optim.PositiveDefinite
	observe func(*em.State) // called after each turn, if set
}

func newRefitter(p *problem, workers int) (*refitter, error) {
	q, c := p.Problem, p.Engine.Config
	m := model.NewGaussian(p.Table.D, model.Natural)
	q.Model, q.Objective = m, losses.Classical{}
	batch := 250
	if p.again {
		batch = AgainBatch
	}
	e, err := engine.New(q, engine.Config{Method: "em-exact", Batch: batch, Seed: c.Seed, Workers: workers})
	if err != nil {
		return nil, err
	}
	e.Counts = p.Counts
	e.Condense(p.rows)
	f := &refitter{}
	f.posdef.Floor = p.Config.Floor
	f.turns = em.Turns{Engine: e, Model: m, Rows: p.rows, Bounds: &f.posdef}
	return f, nil
}

// refit fits a network by maximum likelihood of the observed cells, without a penalty, from mean
// and precision (packed, positive definite); held says which elements of it stay 0: EM iterations,
// whose second step is covariance selection, until done says so. It is not ok where the likelihood
// has no maximum.
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
	minimise := em.Minimiser(em.Unpenalised)
	if slices.Contains(held, true) {
		minimise = em.NewSupport(free, len(mean)).Minimise
	}
	for {
		err := f.turns.Turn(ctx, s, minimise)
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

// saturatedTurns are tried at most for the network of all pairs, which bounds the others.
const saturatedTurns = 30

// saturated is at least the largest log-likelihood of any network, that with all pairs, from the
// path's first point; +Inf where the turns do not come to it. A turn that gains againGain leaves less
// than ten times that.
func saturated(ctx context.Context, w *walk) (likelihood float64, err error) {
	if err := w.pathTo(ctx, 1); err != nil {
		return 0, err
	}
	f, err := w.oneRefitter()
	if err != nil {
		return 0, err
	}
	first, enough := w.State.Points[0], gainless(againGain)
	s, ok, err := f.refit(ctx, first.mean(w.Table.D), first.precision(w.Table.D), make([]bool, len(w.packed())), func(s *em.State) bool {
		return enough(s) || s.Count == saturatedTurns
	})
	if err != nil || !ok || s.Count == saturatedTurns {
		return math.Inf(1), err
	}
	return s.Likelihood + 10*againGain, nil
}

// oneRefitter is the refitter of a run with one worker (Run.Again), which it keeps.
func (w *walk) oneRefitter() (f *refitter, err error) {
	if w.refitter == nil {
		w.refitter, err = newRefitter(w.problem, 1)
	}
	return w.refitter, err
}

// settled says when the turns of a result's refit are done.
func (p *problem) settled(s *em.State) bool {
	return refineBlock*s.Movement < p.Config.Tolerance || s.Count == p.Config.RefineIter
}

// refitAll refits the networks of those points that are not done, in parallel.
func refitAll(ctx context.Context, w *walk, points []int) error {
	if w.matrix != nil {
		return w.matrix.likelihoods(ctx, points)
	}
	state := &w.State.Refitted
	left := slices.DeleteFunc(slices.Clone(points), func(i int) bool { return state.Done[i] })
	least := refitGain
	if w.again {
		least = againGain
	}
	var mu sync.Mutex
	one := func(ctx context.Context, f *refitter, i int) error {
		p := w.State.Points[i]
		packed, edges := p.precision(w.Table.D), w.adjacency(p, true).Edge
		s, ok, err := f.refit(ctx, p.mean(w.Table.D), packed, without(edges, w.Table.D), gainless(least))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if state.Done[i] = true; ok {
			state.Likelihood[i] = s.Likelihood
		}
		w.tell("ebic", "network", count(state.Done), len(w.networks()), 0, math.NaN(), 0)
		return nil
	}
	pool, ctx := panics.WithContext(ctx)
	workers := min(w.Engine.Config.Workers, len(left))
	for k := range workers {
		pool.Go(func() error {
			begin := func() (*refitter, error) { return newRefitter(w.problem, 1) }
			if w.again { // with one worker
				begin = w.oneRefitter
			}
			f, err := begin()
			for n := k; n < len(left) && err == nil; n += workers {
				err = one(ctx, f, left[n])
			}
			return err
		})
	}
	return pool.Wait()
}

// refitChosen makes the refit of the edges, on from the point of the stage after the path, the
// result. It is made in one go: cut, it starts again from the point, and comes to the same.
func refitChosen(ctx context.Context, p *problem, edges []bool) error {
	f, d := &p.State.Refine, p.Table.D
	at, number := p.State.Points[f.Index], count(p.covariates.set(slices.Clone(edges), d, false))
	to, err := newRefitter(p, p.Engine.Config.Workers)
	if err != nil {
		return err
	}
	to.observe = func(s *em.State) {
		p.tell("refit", "EM iteration", s.Count, p.Config.RefineIter, at.Lambda, s.Loss/float64(d), number)
	}
	s, ok, err := to.refit(ctx, at.mean(d), at.precision(d), without(edges, d), p.settled)
	if err != nil {
		return err
	}
	if !ok {
		return p.giveUp("the refit failed, for the likelihood of this network has no maximum")
	}
	copy(p.packed(), to.turns.Model.Packed.Value)
	p.model.SetMean(to.turns.Model.Mean())
	f.Iterations, f.Movement, f.Loss, f.Size = s.Count, refineBlock*s.Movement, s.Loss/float64(d), math.NaN()
	f.Done, f.Converged = true, f.Movement < p.Config.Tolerance
	return p.save()
}
