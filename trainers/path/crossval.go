package path

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers/estimator"
)

// crossValidation chooses the λ with the least loss of rows held out.
type crossValidation struct{ plain }

// DefaultFolds of "cv".
const DefaultFolds = 5

const foldsMust = "the number of folds must be 2 or more"

func (crossValidation) name() string { return "cv" }

func (crossValidation) form() string { return "cv[=FOLDS] (loss of rows held out)" }

func (crossValidation) parse(value string) (s Selection, err error) {
	s.Kind = "cv"
	if value == "" {
		return s, nil
	}
	if s.Folds, err = strconv.Atoi(value); err != nil || s.Folds < 2 {
		return s, errors.New(foldsMust)
	}
	return s, nil
}

func (crossValidation) resolve(s Selection, rows int) (Selection, error) {
	if setting.Default(&s.Folds, DefaultFolds); s.Folds < 2 || s.Folds > rows {
		return s, setting.Errorf("select", fmt.Sprintf("cv=%d", s.Folds), "from 2 folds to one for each of the table's %d rows are possible", rows)
	}
	return s, nil
}

// suits refuses to compare losses on rows held out where the loss is of cells
// that the model itself has filled in, and there is no likelihood to go by instead.
func (crossValidation) suits(method estimator.Estimator) error {
	if !method.Minimises() && !method.Loss.Needs().Moments {
		return setting.Errorf("select", "cv", "method %s solves an equation, its loss on rows held out says nothing; take ebic or stars", method.Name)
	}
	return nil
}

func (crossValidation) describe(s Selection, _, _ bool) string {
	return fmt.Sprintf("cross-validation: least loss of the rows held out (of em-exact greatest likelihood), %d folds", s.Folds)
}

// parts are the folds.
func (crossValidation) parts(s Selection, rows int, seed uint64) (parts []rowPart) {
	parts = make([]rowPart, s.Folds)
	for k := range parts {
		parts[k].heldOut = make([]int, 0, (rows+s.Folds-1)/s.Folds)
	}
	for i, row := range stream.New(seed, stream.Replicate).Perm(rows) {
		p := &parts[i%s.Folds]
		p.heldOut = append(p.heldOut, row)
	}
	return sorted(parts)
}

func (crossValidation) choose(_ context.Context, r *Run) (choice, error) {
	folds := r.parts()
	return r.least(r.State.Resampled.crossValidated(folds)[:len(r.State.Points)]), nil
}

// crossValidated is the mean over rows of the held-out loss at each λ that every
// part's path has, of parts that have a result; +Inf at the others.
func (f *Resampled) crossValidated(folds []rowPart) []float64 {
	scores := make([]float64, len(f.Counts))
	rows := 0
	for k, losses := range f.Losses {
		if f.Failed[k] != "" {
			continue
		}
		rows += len(folds[k].heldOut)
		for l := range scores {
			if l < len(losses) {
				scores[l] += float64(len(folds[k].heldOut)) * losses[l]
			} else {
				scores[l] = math.Inf(1)
			}
		}
	}
	for l := range scores {
		scores[l] /= float64(rows)
	}
	return scores
}
