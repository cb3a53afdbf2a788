package descent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers/penalty"
)

// penalisedState is a path of decreasing λ with warm starts: for each fold, then on all rows.
type penalisedState struct {
	Lambdas []float64 // path in descending order; one λ if it was given
	Folds   []fold    // cross-validation; nil if λ was given
	Chosen  int       // index in Lambdas of the final fit
	Index   int       // current index in Lambdas
	Least   float64   // minimum eigenvalue of the matrix of couplings
}

func (c Config) checkPenalised(p Problem) error {
	refuse := func(why string, args ...any) error {
		return setting.Errorf("penalty", c.Penalty.Kind, why, args...)
	}
	_, ok := model.CoupledOf(p.Model)
	switch {
	case !ok:
		return refuse("a penalty needs the model gaussian or quartic; leave it out")
	case p.Streamed:
		return refuse("a penalty needs all rows in memory; leave PrepareFile or the penalty out")
	case !p.Estimator.Draws() && !p.Estimator.Minimises():
		return refuse("method %s solves an equation and cannot have a penalty; use method exact, or the command network", p.Estimator.Name)
	case c.Validation != nil && *c.Validation != 0:
		return setting.Errorf("validation", *c.Validation, "a fit with a penalty holds out no rows; leave the setting or the penalty out")
	case c.Optimiser == lbfgsName || c.Optimiser == emName:
		return setting.Errorf("optimiser", c.Optimiser, "a fit with a penalty needs proximal or adam; leave the setting out")
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
			if p.Loss < curve[s.Chosen].Loss { // ties: the largest λ
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

func (f *Fit) at(ctx context.Context, o optimiser, l int) error {
	here := *f
	here.shrink.lambda = f.State.Penalised.Lambdas[l]
	here.Config.Epochs += l * ((3*f.Config.Epochs + 4) / 5) // the first fit needs more
	return o.run(ctx, &here)
}

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
		return nil, setting.Errorf("penalty", c.Kind, "the table shows no couplings, so no λ can be chosen; give λ, or leave the penalty out")
	}
	return c.Path(largest, by.Ratio), nil
}

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

// Penalty is nil without one.
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
		r.Warnings = append(r.Warnings, fmt.Sprintf("the held-out loss is least at the smallest λ, %.3g; try a smaller λ or no penalty", r.Lambda))
	}
	return r
}

type fold struct {
	Rows   int       // held out
	Losses []float64 // held-out loss by λ, mean over rows; +Inf if the fit diverged; nil: not known yet
}

// A fold depends only on the seed and its index.
func (f *Fit) crossValidate(ctx context.Context, o optimiser) error {
	s, parts := f.State.Penalised, make([][]int, f.Config.Penalty.Folds)
	for i, row := range stream.New(f.Engine.Config.Seed, stream.Validate).Perm(f.Table.N) {
		parts[i%len(parts)] = append(parts[i%len(parts)], row)
	}
	if s.Folds == nil {
		s.Folds = make([]fold, len(parts))
	}
	made, done := make([][]float64, len(parts)), 0
	return panics.Each(ctx, max(1, f.Engine.Config.Workers), len(parts), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, k int) (err error) {
			if made[k] = s.Folds[k].Losses; made[k] != nil {
				return nil
			}
			if made[k], err = f.fold(ctx, o, parts[k]); err != nil {
				return fmt.Errorf("cross-validation of λ, fold %d: %w", k+1, err)
			}
			return nil
		}, nil
	}, func(k int) error {
		s.Folds[k] = fold{len(parts[k]), made[k]}
		done++
		f.Report(engine.Progress{Stage: "cv", Unit: "part", Iteration: done, Total: len(parts), Loss: math.NaN(), EffectiveSize: math.NaN()})
		return f.Save()
	})
}

func (f *Fit) fold(ctx context.Context, o optimiser, heldOut []int) (losses []float64, err error) {
	slices.Sort(heldOut)
	learned := slices.DeleteFunc(f.Table.AllRows(), func(row int) bool { _, out := slices.BinarySearch(heldOut, row); return out })
	table, err := f.Table.Rows(learned)
	if err != nil {
		return nil, err
	}
	out, err := f.Table.Rows(heldOut)
	if err != nil {
		return nil, err
	}
	own, err := f.on(table, 1, f.State.Penalised.Lambdas)
	if err != nil {
		return nil, err
	}
	judge, err := own.HoldOut(out, out.AllRows())
	if err != nil {
		return nil, err
	}
	for l := range own.State.Penalised.Lambdas {
		loss := math.Inf(1)
		var diverged *engine.DivergedError
		if err := own.at(ctx, o, l); err == nil {
			if loss, err = judge.Loss(); err != nil {
				return nil, err
			}
		} else if !errors.As(err, &diverged) {
			return nil, err
		}
		if !engine.Finite(loss) {
			loss = math.Inf(1)
		}
		losses = append(losses, loss)
	}
	return losses, nil
}

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
