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
	"missingscore/trainers/em"
	"missingscore/trainers/engine"
	"missingscore/trainers/optim"
)

// Refitted is what the refits along a path have told.
type Refitted struct {
	Done       []bool
	Likelihood []float64 // log density of the observed cells; NaN where it has no maximum
}

const (
	coarse         = 4 // networks from one that the search for a criterion's least comes by to the next
	coarseTogether = 4 // such networks are refitted before it asks whether to go on
	refitTurns     = 100
	refitGain      = 0.01 // of log likelihood by a turn: with less the refit ends
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
	e, err := engine.New(p, engine.Config{Method: "em-exact", Batch: 250, Seed: c.Seed, Workers: workers})
	f := &refitter{}
	f.posdef.Floor = r.Config.Floor
	f.turns = em.Turns{Engine: e, Model: m, Rows: r.rows, Bounds: &f.posdef}
	return f, err
}

// refit fits the network of a precision's edges by maximum likelihood of the observed
// cells, without a penalty, from mean and precision (packed, positive definite): turns of
// expectation and covariance selection, until done says so. It is not ok where the
// likelihood has no maximum.
func (f *refitter) refit(ctx context.Context, mean, packed []float64, threshold float64, done func(*em.State) bool) (s *em.State, ok bool, err error) {
	d := len(mean)
	start := slices.Clone(packed)
	for i, held := range withoutEdge(packed, d, threshold) {
		if held {
			start[i] = 0
		}
	}
	m := f.turns.Model
	copy(m.Packed.Value, start)
	f.posdef.Project(m)
	m.SetMean(mean)
	s = &em.State{Anderson: optim.Anderson{Memory: em.Memory}}
	support := em.NewSupport(start, d)
	for {
		err := f.turns.Turn(ctx, s, support.Minimise)
		if numerical(err) {
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

// gainless says of turns in a row when they gain no more.
func gainless() func(*em.State) bool {
	before := math.Inf(-1)
	return func(s *em.State) bool {
		gain := s.Likelihood - before
		before = s.Likelihood
		return s.Count == refitTurns || gain >= 0 && gain < refitGain
	}
}

// refitChosen makes the refit of the chosen point the result. It is made in one go: cut,
// it starts again from the point, and comes to the same.
func (r *Run) refitChosen(ctx context.Context, index int) error {
	f, d := &r.State.Refine, r.Table.D
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
		r.Report(engine.Progress{Stage: "refit", Unit: "turn", Iteration: s.Count, Total: r.Config.RefineIter, Lambda: p.Lambda,
			Edges: p.Edges, Loss: s.Loss / float64(d), EffectiveSize: math.NaN()})
	}
	s, ok, err := to.refit(ctx, p.mean(d), p.Packed, r.Config.Threshold, func(s *em.State) bool {
		return refineBlock*s.Movement < r.Config.Tolerance || s.Count == r.Config.RefineIter
	})
	if err != nil {
		return err
	}
	if f.Done = true; !ok {
		r.take(index)
		f.Failure = "the refit failed, for the likelihood of this network has no maximum"
		return r.save()
	}
	copy(r.packed(), to.turns.Model.Packed.Value)
	r.model.SetMean(to.turns.Model.Mean())
	f.Iterations, f.Movement, f.Loss, f.Size = s.Count, refineBlock*s.Movement, s.Loss/float64(d), math.NaN()
	f.Converged = f.Movement < r.Config.Tolerance
	return r.save()
}

// searchLikelihoods refits networks along the path, from the sparsest on, and gives their
// likelihoods, NaN for those it does not come by: every fourth that differs from the one
// before, until none of four is better than the best so far, then those around the best.
// score is to be small.
func (r *Run) searchLikelihoods(ctx context.Context, score func(point int, likelihood float64) float64) ([]float64, error) {
	state := &r.State.Refitted
	if state.Done == nil {
		state.Done, state.Likelihood = make([]bool, len(r.State.Points)), slices.Repeat([]float64{math.NaN()}, len(r.State.Points))
	}
	networks := r.networks()
	best, at := math.Inf(1), 0
	look := func(places []int) (better bool, err error) {
		if err := r.refitAll(ctx, networks, places); err != nil {
			return false, err
		}
		for _, i := range places {
			if v := score(networks[i], state.Likelihood[networks[i]]); v < best {
				best, at, better = v, i, true
			}
		}
		return better, nil
	}
	for first := 0; first < len(networks); {
		var places []int
		for ; first < len(networks) && len(places) < coarseTogether; first += coarse {
			places = append(places, first)
		}
		if better, err := look(places); err != nil || !better {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	var around []int
	for i := max(0, at-coarse+1); i < min(len(networks), at+coarse); i++ {
		around = append(around, i)
	}
	if _, err := look(around); err != nil {
		return nil, err
	}
	return r.shared(networks, state.Likelihood), nil
}

// shared are the values of all points by those of networks: one whose network is that of
// the point before has its value.
func (r *Run) shared(networks []int, values []float64) []float64 {
	out := slices.Clone(values)
	for i := range out {
		if n, _ := slices.BinarySearch(networks, i+1); n > 0 && !r.State.Points[i].Unfinished {
			out[i] = out[networks[n-1]]
		}
	}
	return out
}

// networks are the finished points whose network is not that of the finished one before.
func (r *Run) networks() (points []int) {
	var last []bool
	for i, p := range r.State.Points {
		if p.Unfinished && len(r.unfinished()) < len(r.State.Points) {
			continue
		}
		if edges := Adjacency(p.Packed, r.Table.D, r.Config.Threshold).Edge; !slices.Equal(edges, last) {
			points, last = append(points, i), edges
		}
	}
	return points
}

// refitAll refits those of the networks that are not done, in parallel.
func (r *Run) refitAll(ctx context.Context, networks, places []int) error {
	state := &r.State.Refitted
	var left []int
	for _, i := range places {
		if !state.Done[networks[i]] {
			left = append(left, networks[i])
		}
	}
	pool, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	workers := min(r.Engine.Config.Workers, len(left))
	for k := range workers {
		pool.Go(func() error {
			return panics.Caught(func() error {
				f, err := r.newRefitter(1)
				if err != nil {
					return err
				}
				for n := k; n < len(left); n += workers {
					p := r.State.Points[left[n]]
					s, ok, err := f.refit(ctx, p.mean(r.Table.D), p.Packed, r.Config.Threshold, gainless())
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
