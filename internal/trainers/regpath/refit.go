package regpath

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/gaussian"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
)

type Refitted struct {
	Done       []bool
	Likelihood []float64 // log density of the observed cells; NaN without a maximum
	Last       []float64 // (μ, P) of the last successful refit, P packed
}

const (
	refitTurns = 100
	mostGain   = 2    // of refitter.gain
	refitGain  = 0.01 // predicted gain in log likelihood at which a refit of few columns ends
)

// AgainBatch is the batch size if draws do not depend on it.
const AgainBatch = 4096

// refitter fits networks by maximum likelihood.
type refitter struct {
	engine *engine.Engine
	rows   []int
	posdef optim.PositiveDefinite
	gain   float64 // multiplies the steps of EM, which are short by about the share of rows with both columns; few columns: 1
	enough float64 // predicted gain in log likelihood at which a refit of few columns ends
}

func (w *walk) oneRefitter() (*refitter, error) {
	if w.refitter != nil {
		return w.refitter, nil
	}
	q, c := w.Problem, w.Engine.Config
	f := &refitter{engine: w.Engine, rows: w.rows, gain: 1, enough: refitGain}
	if f.posdef.Floor = w.Config.Floor; q.Table.D >= manyColumns {
		f.gain, f.enough = min(mostGain, float64(q.Table.RowCount())/meanPairCount(w.Problem)), 10*refitGain
	}
	if w.Estimator.Loss != losses.GaussianComplete {
		q.Model, q.Objective = model.NewGaussian(q.Table.D, model.Natural), losses.Classical
		batch := 250
		if w.again {
			batch = AgainBatch
		}
		e, err := engine.New(q, engine.Config{Method: "em-exact", Batch: batch, Seed: c.Seed, Workers: c.Workers})
		if err != nil {
			return nil, err
		}
		e.Counts = w.Counts
		e.Condense(w.rows)
		f.engine = e
	}
	w.refitter = f
	return f, nil
}

type refitOf struct {
	X          []float64 // last solution: (μ, P), P packed
	Count      int       // iterations
	Movement   float64   // largest change of an element of P by the last iteration
	Likelihood float64   // before the last iteration: log density of the observed cells, summed
	Gain, Last float64   // of log density by the last iteration and by the one before
}

// refit maximises the likelihood of the observed cells from start = (μ, P), with held elements of P
// at 0, by accelerated EM until done returns true. ok is false without a maximum.
func (f *refitter) refit(ctx context.Context, start []float64, held []bool, done func(*refitOf) bool) (s *refitOf, ok bool, err error) {
	d := f.engine.Table.D
	s = &refitOf{Likelihood: math.Inf(-1), Gain: math.Inf(1), X: slices.Clone(start)}
	free, pairs := members(held, d)
	floats.Mul(s.X[d:], free)
	f.posdef.ProjectPacked(s.X[d:], d)
	support, turns := em.NewSupport(free, d), optim.Anderson{Memory: em.Memory}
	minimise := em.Minimiser(support.Minimise)
	if pairs == nil {
		minimise = em.Unpenalised
	}
	for x := s.X; ; {
		if ctx.Err() != nil {
			return s, false, ctx.Err()
		}
		step, found, err := engine.Step{}, []float64(nil), gaussian.ErrNotPositiveDefinite
		if engine.Finite(x...) {
			step, found, err = em.Expect(f.engine, f.rows, x, pairs)
		}
		if errors.Is(err, gaussian.ErrNotPositiveDefinite) {
			if s.Count == 0 || len(turns.X) == 0 { // no solution yet
				return s, false, nil
			}
			turns.Forget()
			x = s.X
			continue
		}
		if err != nil {
			return s, false, err
		}
		if s.Count == 0 {
			w := make([]float64, len(free))
			em.Unpenalised(w, em.Unpacked(x[d:], d, nil))
			support.Start(em.Unpacked(w, d, nil))
		}
		gain := step.LogLikelihood - s.Likelihood
		s.Last, s.Gain, s.Likelihood = s.Gain, gain, step.LogLikelihood
		solved := slices.Concat(found[:d], make([]float64, len(free)))
		if !minimise(solved[d:], em.Unpacked(found[d:], d, nil)) || !engine.Finite(solved...) {
			return s, false, nil
		}
		before := s.Movement
		s.X, s.Movement = solved, floats.Distance(x[d:], solved[d:], math.Inf(1))
		if s.Count > 0 && s.Movement > 2*before {
			turns.Forget()
		}
		if s.Count++; done(s) {
			return s, f.posdef.InsidePacked(s.X[d:], d), nil
		}
		farther := floats.SubTo(make([]float64, len(x)), solved, x)
		x = turns.Next(x, floats.AddScaledTo(farther, x, f.gain, farther))
	}
}

// members are the elements of P that are not held: 1 in free, and their pairs of columns; nil if
// these are all.
func members(held []bool, d int) (free []float64, pairs [][2]int32) {
	free, pairs = make([]float64, len(held)), [][2]int32{}
	for j := range d {
		for k := j; k < d; k++ {
			i := graph.PackedIndex(d, j, k)
			if held[i] {
				continue
			}
			if free[i] = 1; k > j {
				pairs = append(pairs, [2]int32{int32(j), int32(k)})
			}
		}
	}
	if len(pairs) == d*(d-1)/2 {
		return free, nil
	}
	return free, pairs
}

// The predicted remaining gain g²/(g' − g) is below f.enough, g and g' the last two gains; g' above
// 50 times f.enough is ignored.
func (f *refitter) gainless(s *refitOf) bool {
	g := s.Gain
	return s.Count == refitTurns || math.Abs(g) <= 1e-12*math.Abs(s.Likelihood) ||
		s.Count > 2 && g >= 0 && s.Last < 50*f.enough && g*(g+f.enough) < s.Last*f.enough
}

func (p *problem) settled(s *refitOf) bool {
	return refineBlock*s.Movement < p.Config.Tolerance || s.Count == p.Config.RefineIter
}

// refitAll starts each from the last solution or, if that is not positive definite with other
// pairs, from the point.
func refitAll(ctx context.Context, w *walk, points []int) error {
	if w.matrix != nil {
		return w.matrix.likelihoods(ctx, points)
	}
	state, d := &w.State.Refitted, w.Table.D
	for _, i := range points {
		if state.Done[i] {
			continue
		}
		f, err := w.oneRefitter()
		if err != nil {
			return err
		}
		p := w.State.Points[i]
		held := without(w.adjacency(p, true).Edge, d)
		start := slices.Clone(state.Last)
		for k, held := range held {
			if held && start != nil {
				start[d+k] = 0
			}
		}
		if start == nil || !f.posdef.InsidePacked(start[d:], d) {
			start = slices.Concat(p.mean(), p.Packed())
		}
		s, ok, err := f.refit(ctx, start, held, f.gainless)
		if err != nil {
			return err
		}
		if state.Done[i] = true; ok {
			state.Likelihood[i], state.Last = s.Likelihood, s.X
		}
		w.tell("ebic", "network", count(state.Done), len(w.networks()), 0, math.NaN(), 0)
	}
	return nil
}

// refitChosen is not resumable: after an interruption it starts again with the same result.
func refitChosen(ctx context.Context, w *walk, edges []bool) error {
	f, d := &w.State.Refine, w.Table.D
	at, number := w.State.Points[f.Index], count(w.covariates.set(slices.Clone(edges), d, false))
	to, err := w.oneRefitter()
	if err != nil {
		return err
	}
	s, ok, err := to.refit(ctx, slices.Concat(at.mean(), at.Packed()), without(edges, d), func(s *refitOf) bool {
		w.tell("refit", "EM iteration", s.Count, w.Config.RefineIter, at.Lambda, math.NaN(), number)
		return w.settled(s)
	})
	if err != nil {
		return err
	}
	if !ok {
		return w.giveUp("the refit failed: the likelihood of this network has no maximum")
	}
	if f.Loss, err = to.model(w.model, s.X); err != nil {
		return err
	}
	f.Iterations, f.Movement, f.Size = s.Count, refineBlock*s.Movement, math.NaN()
	f.Done, f.Converged = true, f.Movement < w.Config.Tolerance
	return w.save()
}

// model moves m to x; the loss is the mean over rows and columns.
func (f *refitter) model(m *model.Gaussian, x []float64) (loss float64, err error) {
	d := m.Dim()
	copy(m.Packed.Value, x[d:])
	m.SetMean(x[:d])
	step, _, err := em.Expect(f.engine, f.rows, x, nil)
	if err != nil {
		return 0, err
	}
	return step.Loss / step.Moments[0] / float64(d), nil
}
