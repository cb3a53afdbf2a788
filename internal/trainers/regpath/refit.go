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
	Last       []float64 // μ and the non-zero elements of P of the last successful refit
	LastPairs  [][2]int32
}

const (
	refitTurns = 100
	mostGain   = 2    // of refitter.gain
	refitGain  = 0.01 // predicted gain in log likelihood at which a refit of few columns ends
)

// AgainBatch is the batch size if draws do not depend on it.
const AgainBatch = 4096

// refitter fits by maximum likelihood. The parameters of a network are μ, the diagonal of P and P
// at the pairs.
type refitter struct {
	engine *engine.Engine
	rows   []int
	posdef optim.PositiveDefinite
	p      []float64 // (d, d)
	cov    []float64 // (d, d), of completed rows, at the network's pairs
	gain   float64   // multiplies the steps of EM, which are short by about the share of rows with both columns; few columns: 1
	enough float64   // predicted gain in log likelihood at which a refit of few columns ends
}

func newRefitter(p *problem) (*refitter, error) {
	square := func() []float64 { return make([]float64, p.Table.D*p.Table.D) }
	f := &refitter{engine: p.Engine, rows: p.rows, p: square(), cov: square(), gain: 1, enough: refitGain}
	if f.posdef.Floor = p.Config.Floor; p.Table.D >= manyColumns {
		f.gain, f.enough = min(mostGain, float64(p.Table.RowCount())/meanPairCount(p.Problem)), 10*refitGain
	}
	if p.Engine.Estimator.Loss == losses.GaussianComplete {
		return f, nil
	}
	q, c := p.Problem, p.Engine.Config
	q.Model, q.Objective = model.NewGaussian(p.Table.D, model.Natural), losses.Classical
	batch := 250
	if p.again {
		batch = AgainBatch
	}
	e, err := engine.New(q, engine.Config{Method: "em-exact", Batch: batch, Seed: c.Seed, Workers: c.Workers})
	if err != nil {
		return nil, err
	}
	e.Counts = p.Counts
	e.Condense(p.rows)
	f.engine = e
	return f, nil
}

type refitOf struct {
	Pairs      [][2]int32
	X          []float64 // last solution: μ, the diagonal of P, P at the pairs
	Count      int       // iterations
	Movement   float64   // largest change of an element of P by the last iteration
	Likelihood float64   // before the last iteration: log density of the observed cells, summed
	Gain, Last float64   // of log density by the last iteration and by the one before
}

// refit maximises the likelihood of the observed cells, with held elements of P at 0, by
// accelerated EM until done returns true. ok is false without a maximum.
func (f *refitter) refit(ctx context.Context, mean, packed []float64, held []bool, done func(*refitOf) bool) (s *refitOf, ok bool, err error) {
	d := len(mean)
	s, free := newRefit(mean, packed, held)
	f.start(s)
	support, turns := em.NewSupport(free, d), optim.Anderson{Memory: em.Memory}
	for x := s.X; ; {
		if ctx.Err() != nil {
			return s, false, ctx.Err()
		}
		step, err := engine.Step{}, gaussian.ErrNotPositiveDefinite
		if engine.Finite(x...) {
			f.fill(x, s.Pairs, d)
			step, err = f.engine.Within(f.rows, gaussian.Network{Mean: x[:d], P: f.p, Pairs: s.Pairs})
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
			support.Start(f.inverse(d))
		}
		gain := step.LogLikelihood - s.Likelihood
		s.Last, s.Gain, s.Likelihood = s.Gain, gain, step.LogLikelihood
		solved := slices.Clone(x)
		if !f.solve(support, step.Moments, solved, s.Pairs) {
			return s, false, nil
		}
		before := s.Movement
		s.X, s.Movement = solved, floats.Distance(x[d:], solved[d:], math.Inf(1))
		if s.Count > 0 && s.Movement > 2*before {
			turns.Forget()
		}
		if s.Count++; done(s) {
			f.fill(s.X, s.Pairs, d)
			return s, engine.Finite(s.X...) && f.posdef.InsidePacked(f.packed(d), d), nil
		}
		farther := floats.SubTo(make([]float64, len(x)), solved, x)
		x = turns.Next(x, floats.AddScaledTo(farther, x, f.gain, farther))
	}
}

// free are the elements of P that are not fixed.
func newRefit(mean, packed []float64, held []bool) (s *refitOf, free []float64) {
	d := len(mean)
	s, free = &refitOf{Likelihood: math.Inf(-1), Gain: math.Inf(1), X: slices.Clone(mean)}, make([]float64, len(packed))
	for j := range d {
		at := graph.PackedIndex(d, j, j)
		free[at], s.X = 1, append(s.X, packed[at])
	}
	for j := range d {
		for k := j + 1; k < d; k++ {
			if at := graph.PackedIndex(d, j, k); !held[at] {
				free[at], s.Pairs, s.X = 1, append(s.Pairs, [2]int32{int32(j), int32(k)}), append(s.X, packed[at])
			}
		}
	}
	return s, free
}

func (f *refitter) start(s *refitOf) {
	d := (len(s.X) - len(s.Pairs)) / 2
	f.fill(s.X, s.Pairs, d)
	if packed := f.packed(d); f.posdef.ProjectPacked(packed, d) {
		for j := range d {
			s.X[d+j] = packed[graph.PackedIndex(d, j, j)]
		}
		for i, at := range s.Pairs {
			s.X[2*d+i] = packed[graph.PackedIndex(d, int(at[0]), int(at[1]))]
		}
	}
}

func (f *refitter) fill(x []float64, pairs [][2]int32, d int) {
	clear(f.p)
	for j := range d {
		f.p[j*d+j] = x[d+j]
	}
	for i, at := range pairs {
		j, k := int(at[0]), int(at[1])
		f.p[j*d+k], f.p[k*d+j] = x[2*d+i], x[2*d+i]
	}
}

func (f *refitter) inverse(d int) []float64 {
	v := slices.Clone(f.p)
	graph.Factor(v, d, d)
	graph.InvertFactor(v, d, d)
	for j := range d {
		for k := range j {
			v[k*d+j] = v[j*d+k]
		}
	}
	return v
}

func (f *refitter) packed(d int) []float64 {
	out := make([]float64, 0, d*(d+1)/2)
	for j := range d {
		out = append(out, f.p[j*d+j:j*d+d]...)
	}
	return out
}

// moments are those of completed rows (gaussian.Expectation.Elements) at x.
func (f *refitter) solve(support *em.Support, moments, x []float64, pairs [][2]int32) (ok bool) {
	d := (len(x) - len(pairs)) / 2
	number, sum, second := moments[0], moments[1:1+d], moments[1+d:]
	for j := range d {
		x[j] += sum[j] / number
		f.cov[j*d+j] = second[j]/number - sum[j]*sum[j]/number/number
	}
	for i, at := range pairs {
		j, k := int(at[0]), int(at[1])
		f.cov[j*d+k] = second[d+i]/number - sum[j]*sum[k]/number/number
		f.cov[k*d+j] = f.cov[j*d+k]
	}
	packed, minimise := make([]float64, d*(d+1)/2), em.Minimiser(em.Unpenalised)
	if len(pairs) < d*(d-1)/2 {
		minimise = support.Minimise
	}
	if !minimise(packed, f.cov) {
		return false
	}
	for j := range d {
		x[d+j] = packed[graph.PackedIndex(d, j, j)]
	}
	for i, at := range pairs {
		x[2*d+i] = packed[graph.PackedIndex(d, int(at[0]), int(at[1]))]
	}
	return engine.Finite(x...)
}

// The predicted remaining gain g²/(g' − g) is below f.enough, g and g' the last two gains; g' above
// 50 times f.enough is ignored.
func (f *refitter) gainless(s *refitOf) bool {
	g := s.Gain
	return s.Count == refitTurns || math.Abs(g) <= 1e-12*math.Abs(s.Likelihood) ||
		s.Count > 2 && g >= 0 && s.Last < 50*f.enough && g*(g+f.enough) < s.Last*f.enough
}

func (w *walk) oneRefitter() (f *refitter, err error) {
	if w.refitter == nil {
		w.refitter, err = newRefitter(w.problem)
	}
	return w.refitter, err
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
		mean, packed := state.start(f, held, d)
		if packed == nil {
			mean, packed = p.mean(d), p.precision(d)
		}
		s, ok, err := f.refit(ctx, mean, packed, held, f.gainless)
		if err != nil {
			return err
		}
		if state.Done[i] = true; ok {
			state.Likelihood[i], state.Last, state.LastPairs = s.Likelihood, s.X, s.Pairs
		}
		w.tell("ebic", "network", count(state.Done), len(w.networks()), 0, math.NaN(), 0)
	}
	return nil
}

// start is nil if there is none or it is not positive definite.
func (r *Refitted) start(f *refitter, held []bool, d int) (mean, packed []float64) {
	if r.Last == nil {
		return nil, nil
	}
	x := slices.Clone(r.Last)
	for i, at := range r.LastPairs {
		if held[graph.PackedIndex(d, int(at[0]), int(at[1]))] {
			x[2*d+i] = 0
		}
	}
	f.fill(x, r.LastPairs, d)
	if packed = f.packed(d); !f.posdef.InsidePacked(packed, d) {
		return nil, nil
	}
	return x[:d], packed
}

// refitChosen is not resumable: after an interruption it starts again with the same result.
func refitChosen(ctx context.Context, w *walk, edges []bool) error {
	f, d := &w.State.Refine, w.Table.D
	at, number := w.State.Points[f.Index], count(w.covariates.set(slices.Clone(edges), d, false))
	to, err := w.oneRefitter()
	if err != nil {
		return err
	}
	s, ok, err := to.refit(ctx, at.mean(d), at.precision(d), without(edges, d), func(s *refitOf) bool {
		w.tell("refit", "EM iteration", s.Count, w.Config.RefineIter, at.Lambda, math.NaN(), number)
		return w.settled(s)
	})
	if err != nil {
		return err
	}
	if !ok {
		return w.giveUp("the refit failed: the likelihood of this network has no maximum")
	}
	if f.Loss, err = to.model(w.model, s, d); err != nil {
		return err
	}
	f.Iterations, f.Movement, f.Size = s.Count, refineBlock*s.Movement, math.NaN()
	f.Done, f.Converged = true, f.Movement < w.Config.Tolerance
	return w.save()
}

// The loss is the mean over rows and columns.
func (f *refitter) model(m *model.Gaussian, s *refitOf, d int) (loss float64, err error) {
	f.fill(s.X, s.Pairs, d)
	copy(m.Packed.Value, f.packed(d))
	m.SetMean(s.X[:d])
	step, err := f.engine.Moments(f.rows, m.Location.Value, f.p)
	if err != nil {
		return 0, err
	}
	return step.Loss / step.Moments[0] / float64(d), nil
}
