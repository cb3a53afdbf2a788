package descent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
	"missingscore/trainers/optim"
	"missingscore/trainers/penalty"
)

// penalisedState is the state of a fit with a penalty. The path goes down from the largest λ, each fit starting
// where the last ended: without each fold of the cross-validation, then on all rows down to the λ chosen.
type penalisedState struct {
	Lambdas []float64 // of the path, the largest first; only one where it is given
	Folds   []fold    // of the cross-validation; nil where λ is given
	Chosen  int       // where in Lambdas the fit ends
	Index   int       // where it is
	Least   float64   // eigenvalue that the matrix of couplings may have
}

func (c Config) checkPenalised(p Problem) error {
	refuse := func(why string, args ...any) error {
		return setting.Errorf("penalty", c.Penalty.Kind, why, args...)
	}
	_, ok := model.CoupledOf(p.Model)
	switch {
	case !ok:
		return refuse("it shrinks what ties columns together, one number for each pair, as models gaussian and quartic have it and this model does not; leave it out")
	case p.Streamed:
		return refuse("its λ and its fits go by all rows at once, and those of a streamed file are not held; leave PrepareFile out, or the penalty")
	case p.Estimator.Deterministic() && !p.Estimator.Minimises():
		return refuse("method %s solves an equation, to whose loss no penalty can be added; take method exact, or for a network the command network, which has penalties of its own", p.Estimator.Name)
	case c.Validation != nil && *c.Validation != 0:
		return setting.Errorf("validation", *c.Validation, "with a penalty λ decides how close the fit comes to the rows, and none are held out to stop by; leave it out, or the penalty")
	case c.Optimiser == lbfgsName || c.Optimiser == emName:
		return setting.Errorf("optimiser", c.Optimiser, "a fit with a penalty is by proximal or adam; leave it out")
	}
	return nil
}

func (f *Fit) penalised(ctx context.Context, o optimiser) (err error) {
	setting.Default(&f.State.Penalised, &penalisedState{})
	s := f.State.Penalised
	if f.shrink, err = newShrinkage(f.Config.Penalty, f.Model, s.Least); err != nil {
		return err
	}
	s.Least = f.shrink.least
	if s.Lambdas == nil {
		if s.Lambdas, err = f.lambdas(ctx, o); err != nil {
			return err
		}
	}
	if f.Config.Penalty.Validates() {
		if err := f.crossValidate(ctx, o); err != nil {
			return err
		}
		curve := s.curve()
		for l, p := range curve {
			if p.Loss < curve[s.Chosen].Loss { // of several alike the largest λ
				s.Chosen = l
			}
		}
	}
	for {
		if err := f.at(ctx, o, s.Index); err != nil {
			return err
		}
		if s.Index == s.Chosen {
			return nil
		}
		s.Index++
		if err := f.Save(); err != nil {
			return err
		}
	}
}

// at fits at λ number l of the path, from where the fit before it ended.
func (f *Fit) at(ctx context.Context, o optimiser, l int) error {
	here := *f
	here.shrink.lambda = f.State.Penalised.Lambdas[l]
	here.Config.Epochs += l * ((3*f.Config.Epochs + 4) / 5) // the first fit goes a longer way
	return o.run(ctx, &here)
}

// lambdas are those of the path: the one that is given, or from that one down at which the
// couplings come to nothing.
func (f *Fit) lambdas(ctx context.Context, o optimiser) ([]float64, error) {
	c := f.Config.Penalty
	if !c.Validates() {
		return []float64{c.Lambda}, nil
	}
	null, err := f.on(f.Table, f.Engine.Config.Workers, []float64{math.Inf(1)})
	if err != nil {
		return nil, err
	}
	if err := null.at(ctx, o, 0); err != nil {
		return nil, err
	}
	step, err := null.Gradient(null.State.Iteration, null.Table.AllRows(), 1/float64(f.Table.RowCount()))
	if err != nil {
		return nil, err
	}
	by, slope := null.shrink.by, 0.0
	null.shrink.each(func(i int) { slope = max(slope, math.Abs(step.Grads[null.shrink.place][i])) })
	largest := by.Largest(slope, null.shrink.size())
	if !(largest > 0) || math.IsInf(largest, 0) {
		return nil, setting.Errorf("penalty", c.Kind, "no couplings are to be seen in the table, so that there is no λ to choose; give one, or leave the penalty out")
	}
	return c.Path(largest, by.Ratio), nil
}

// on is a fit of the same to another table, from this one's start, at λ of its own.
func (f *Fit) on(t *data.Table, workers int, lambdas []float64) (*Fit, error) {
	p, c := f.Problem, f.Engine.Config
	coupled, _ := model.CoupledOf(f.Model)
	p.Table, p.Model, p.Condensed = t, coupled.Free(), nil
	c.Workers, c.Observe = workers, nil
	e, err := engine.New(p, c)
	if err != nil {
		return nil, err
	}
	own := &Fit{Engine: e, Config: f.Config, State: &State{Penalised: &penalisedState{Lambdas: lambdas}}, Save: func() error { return nil }}
	own.shrink, err = newShrinkage(f.Config.Penalty, e.Model, f.shrink.least)
	return own, err
}

// Penalty is what the penalty of a fit has come to; nil without one.
func (f *Fit) Penalty() *penalty.Outcome {
	s := f.State.Penalised
	if s == nil {
		return nil
	}
	r := &penalty.Outcome{Kind: f.Config.Penalty.Kind, Lambda: s.Lambdas[s.Chosen], Folds: len(s.Folds)}
	f.shrink.each(func(i int) {
		r.Pairs++
		if f.shrink.matrix.Value[i] != 0 {
			r.Coupled++
		}
	})
	if s.Folds == nil {
		return r
	}
	r.Curve = slices.DeleteFunc(s.curve(), func(p penalty.Point) bool { return math.IsInf(p.Loss, 1) })
	if s.Chosen == len(s.Lambdas)-1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the held-out loss is least at the smallest λ that was tried (%.3g): a smaller one, or no penalty, may be better", r.Lambda))
	}
	return r
}

type fold struct {
	Rows   int       // that are held out
	Losses []float64 // of these, mean over them, for each λ so far; +Inf where the fit diverged

	Engine    engine.State // after the last of these, with the optimiser's state
	Adam      optim.Adam
	Spectral  spectral
	Iteration int
}

// crossValidate makes the folds' remaining fits, several at a time. A fold depends on the seed and its
// number alone.
func (f *Fit) crossValidate(ctx context.Context, o optimiser) error {
	s, parts := f.State.Penalised, make([][]int, f.Config.Penalty.Folds)
	for i, row := range stream.New(f.Engine.Config.Seed, stream.Validate).Perm(f.Table.N) {
		parts[i%len(parts)] = append(parts[i%len(parts)], row)
	}
	if s.Folds == nil {
		s.Folds = make([]fold, len(parts))
	}
	pool, ctx := panics.WithContext(ctx)
	pool.SetLimit(max(1, f.Engine.Config.Workers))
	var mu sync.Mutex
	for k, heldOut := range parts {
		slices.Sort(heldOut)
		if len(s.Folds[k].Losses) == len(s.Lambdas) {
			continue
		}
		pool.Go(func() error {
			err := f.fold(ctx, o, heldOut, s.Folds[k], func(reached fold) error {
				mu.Lock()
				defer mu.Unlock()
				s.Folds[k] = reached
				done := 0
				for _, f := range s.Folds {
					done += len(f.Losses)
				}
				f.Report(engine.Progress{Stage: "cv", Unit: "part", Iteration: done, Total: len(parts) * len(s.Lambdas), Loss: math.NaN(), EffectiveSize: math.NaN()})
				return f.Save()
			})
			if err != nil {
				return fmt.Errorf("cross-validation of λ, fold %d: %w", k+1, err)
			}
			return nil
		})
	}
	return pool.Wait()
}

// fold makes a fold's remaining fits and hands on its state after each λ.
func (f *Fit) fold(ctx context.Context, o optimiser, heldOut []int, from fold, reach func(fold) error) error {
	learned := slices.DeleteFunc(f.Table.AllRows(), func(row int) bool { _, out := slices.BinarySearch(heldOut, row); return out })
	table, err := f.Table.Rows(learned)
	if err != nil {
		return err
	}
	own, err := f.on(table, 1, f.State.Penalised.Lambdas)
	if err != nil {
		return err
	}
	out, err := f.Table.Rows(heldOut)
	if err != nil {
		return err
	}
	judge, err := own.HoldOut(out, out.AllRows())
	if err != nil {
		return err
	}
	if from.Losses != nil {
		own.Restore(from.Engine)
		own.State.Adam, own.State.Spectral, own.State.Iteration = from.Adam.Clone(), from.Spectral, from.Iteration
	}
	for l := len(from.Losses); l < len(own.State.Penalised.Lambdas); l++ {
		loss := math.Inf(1)
		var diverged *engine.DivergedError
		if err := own.at(ctx, o, l); err == nil {
			if loss, err = judge.Loss(); err != nil {
				return err
			}
		} else if !errors.As(err, &diverged) {
			return err
		}
		if !engine.Finite(loss) {
			loss = math.Inf(1)
		}
		from = fold{Rows: len(heldOut), Losses: append(slices.Clone(from.Losses), loss), Engine: own.Capture(),
			Adam: own.State.Adam.Clone(), Spectral: own.State.Spectral, Iteration: own.State.Iteration}
		if err := reach(from); err != nil {
			return err
		}
	}
	return nil
}

// curve is the mean over all rows of the held-out loss by λ, with its standard error.
func (s *penalisedState) curve() (curve []penalty.Point) {
	for l, lambda := range s.Lambdas {
		var losses, rows []float64
		for _, f := range s.Folds {
			losses, rows = append(losses, f.Losses[l]), append(rows, float64(f.Rows))
		}
		curve = append(curve, penalty.Point{Lambda: lambda, Loss: stat.Mean(losses, rows), SE: stat.StdDev(losses, nil) / math.Sqrt(float64(len(losses)))})
	}
	return curve
}
