package descent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
	"missingscore/trainers/optim"
	"missingscore/trainers/penalty"
)

// Fold is what a fold of the cross-validation has come to.
type Fold struct {
	Rows   int       // that are held out
	Losses []float64 // of these, mean over them, for each λ so far; +Inf where the fit diverged

	Engine    engine.State // after the last of these, with the optimiser's state
	Adam      optim.Adam
	Spectral  Spectral
	Iteration int
}

// crossValidate makes what is left of the folds, several at a time. What a fold comes to depends
// on the seed and its number alone.
func (f *Fit) crossValidate(ctx context.Context, o Optimiser) error {
	s, parts := f.State.Penalised, f.folds()
	if s.Folds == nil {
		s.Folds = make([]Fold, len(parts))
	}
	pool, ctx := panics.WithContext(ctx)
	pool.SetLimit(max(1, f.Engine.Config.Workers))
	var mu sync.Mutex
	for k, heldOut := range parts {
		if len(s.Folds[k].Losses) == len(s.Lambdas) {
			continue
		}
		pool.Go(func() error {
			err := f.fold(ctx, o, heldOut, s.Folds[k], func(reached Fold) error {
				mu.Lock()
				defer mu.Unlock()
				s.Folds[k] = reached
				f.Report(engine.Progress{Stage: "cv", Unit: "part", Iteration: s.reached(), Total: len(parts) * len(s.Lambdas), Loss: math.NaN(), EffectiveSize: math.NaN()})
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

// folds are the rows that each fold holds out, by the seed.
func (f *Fit) folds() [][]int {
	parts := make([][]int, f.Config.Penalty.Folds)
	for i, row := range stream.New(f.Engine.Config.Seed, stream.Validate).Perm(f.Table.N) {
		parts[i%len(parts)] = append(parts[i%len(parts)], row)
	}
	for _, p := range parts {
		slices.Sort(p)
	}
	return parts
}

// fold goes on with a fold from where it was, and hands on what it has come to after each λ.
func (f *Fit) fold(ctx context.Context, o Optimiser, heldOut []int, from Fold, reach func(Fold) error) error {
	var learned []int
	for _, row := range f.AllRows() {
		if _, out := slices.BinarySearch(heldOut, row); !out {
			learned = append(learned, row)
		}
	}
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
		loss, err := own.judged(ctx, o, l, judge)
		if err != nil {
			return err
		}
		from = Fold{Rows: len(heldOut), Losses: append(slices.Clone(from.Losses), loss), Engine: own.Capture(),
			Adam: own.State.Adam.Clone(), Spectral: own.State.Spectral, Iteration: own.State.Iteration}
		if err := reach(from); err != nil {
			return err
		}
	}
	return nil
}

// judged fits at λ number l and is the loss of the rows held out; +Inf where the fit diverges.
func (f *Fit) judged(ctx context.Context, o Optimiser, l int, heldOut *engine.HeldOut) (float64, error) {
	var diverged *engine.DivergedError
	err := f.at(ctx, o, l)
	if errors.As(err, &diverged) {
		return math.Inf(1), nil
	}
	if err != nil {
		return 0, err
	}
	loss, err := heldOut.Loss()
	if !engine.Finite(loss) {
		loss = math.Inf(1)
	}
	return loss, err
}

// reached is how many λ of all folds are done.
func (s *Penalised) reached() (n int) {
	for _, f := range s.Folds {
		n += len(f.Losses)
	}
	return n
}

// curve is the mean over all rows of the held-out loss, by λ, where it is finite.
func (s *Penalised) curve() (curve []penalty.Point) {
	for l, lambda := range s.Lambdas {
		if mean, se := s.loss(l); !math.IsInf(mean, 1) {
			curve = append(curve, penalty.Point{Lambda: lambda, Loss: mean, SE: se})
		}
	}
	return curve
}

// loss is the mean over all rows at λ number l, with its standard error.
func (s *Penalised) loss(l int) (mean, se float64) {
	var losses, rows []float64
	for _, f := range s.Folds {
		losses, rows = append(losses, f.Losses[l]), append(rows, float64(f.Rows))
	}
	return stat.Mean(losses, rows), stat.StdDev(losses, nil) / math.Sqrt(float64(len(losses)))
}

// least is the place of the λ with the least held-out loss, of several alike the largest.
func (s *Penalised) least() (at int) {
	least := math.Inf(1)
	for l := range s.Lambdas {
		if mean, _ := s.loss(l); mean < least {
			least, at = mean, l
		}
	}
	return at
}
