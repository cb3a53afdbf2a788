package regpath

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/gaussian/em"
)

// Resampled has the results of paths on parts of the rows.
type Resampled struct {
	Done   []bool
	Losses [][]float64 // "cv": held-out loss by fold and λ
	Counts [][]int     // number of parts with each pair as an edge, by λ
	Points []int       // length of each part's path, which may end early
	Failed []string    // reason why a part has no result; "": it has one
	Most   int         // "stability": maximum size of a part's network; Counts are of the densest such network
}

func resample(ctx context.Context, w *walk) error {
	c, state := w.Config, &w.State.Resampled
	parts := c.Select.parts(w.Table.N, w.Engine.Config.Seed)
	if len(parts) == 0 {
		return nil
	}
	if state.Done == nil {
		n := len(parts)
		*state = Resampled{Done: make([]bool, n), Losses: make([][]float64, n), Counts: make([][]int, c.Lambdas), Points: make([]int, n), Failed: make([]string, n)}
		for l := range state.Counts {
			state.Counts[l] = make([]int, w.candidates())
		}
		if c.Select.Kind == byStability {
			state.Most = halfSize(w.candidates(), c.Select)
		}
	}
	var left []int
	for k, done := range state.Done {
		if !done {
			left = append(left, k)
		}
	}
	if err := panics.Collect(ctx, w.Engine.Config.Workers, left, func(ctx context.Context, k int) (func(), error) {
		run, heldOut, err := part(ctx, w, parts[k])
		return func() {
			if state.Done[k] = true; err != nil {
				state.Failed[k] = err.Error()
				return
			}
			state.take(k, run, heldOut)
		}, ctx.Err()
	}, func(_ int, note func()) error {
		note()
		w.tell(c.Select.Kind, "part", count(state.Done), len(parts), 0, math.NaN(), 0)
		return w.save()
	}); err != nil {
		return err
	}
	if failed, told := state.failed(c.Select.Kind); 2*failed > len(parts) {
		return errors.New(told + "; too few are left to choose by; leave out the column, or use ebic")
	}
	return nil
}

func (f *Resampled) take(k int, run *walk, heldOut []float64) {
	points := run.State.Points
	f.Losses[k], f.Points[k] = heldOut, len(points)
	if f.Most > 0 {
		points = densest(points, f.Most)
	}
	for l, q := range points {
		for i, edge := range ofNodes(run.covariates, run.adjacency(q, false).Edge) {
			if edge {
				f.Counts[l][i]++
			}
		}
	}
}

// densest returns the last point with the most edges, at most most; nil if all have more.
func densest(points []Point, most int) (one []Point) {
	for i, p := range points {
		if p.Edges <= most && (one == nil || p.Edges >= one[0].Edges) {
			one = points[i : i+1]
		}
	}
	return one
}

// failed returns the number of parts without a result and a description, "" for none.
func (f *Resampled) failed(kind string) (n int, told string) {
	first := -1
	for k, why := range f.Failed {
		if why != "" {
			if n++; first < 0 {
				first = k
			}
		}
	}
	if n > 0 {
		told = fmt.Sprintf("%d of the %d samples of %s have no result; the first, number %d: %s", n, len(f.Done), kind, first+1, f.Failed[first])
	}
	return n, told
}

// part evaluates each point on the held-out rows by the reported loss (M) or, with an expectation
// step, by −2 log likelihood, mean over rows and columns. A part with a constant column has no
// result.
func part(ctx context.Context, w *walk, p rowPart) (run *walk, heldOut []float64, err error) {
	var column *data.ColumnError
	if _, err := w.Table.Rows(p.fit); errors.As(err, &column) {
		return nil, nil, fmt.Errorf("column %q has no variation in its rows", column.Column)
	} else if err != nil {
		return nil, nil, err
	}
	steps := w.Engine.Config
	steps.Workers, steps.Observe = 1, nil
	c := w.Config
	c.Penalty = w.Penalty()
	if run, err = newWalk(w.Problem, steps, c, &State{}, p.fit); err != nil {
		return nil, nil, err
	}
	if most := w.State.Resampled.Most; most > 0 {
		run.enough = func(q Point) bool { return q.Edges > most }
	}
	var loss func() (float64, error)
	switch {
	case len(p.heldOut) == 0:
	case run.matrix != nil:
		of, err := run.matrix.heldOut(ctx, p.heldOut)
		if err != nil {
			return nil, nil, err
		}
		loss = func() (float64, error) { return of(), nil }
	default:
		loss = func() (float64, error) {
			cells := float64(len(p.heldOut) * w.Table.D)
			if run.Estimator.Loss.Needs().Moments {
				s, _, err := em.Expect(run.Engine, p.heldOut, slices.Concat(run.model.Mean(), run.packed()), nil)
				return -2 * s.LogLikelihood / cells, err
			}
			// An iteration number that the path does not use.
			s, err := run.Gradient(run.Config.InitialIter+run.Config.Lambdas*run.Config.IterPerLambda+len(heldOut), p.heldOut, 1/cells)
			return s.Loss, err
		}
	}
	if loss != nil {
		run.passed = func() error {
			l, err := loss()
			heldOut = append(heldOut, l)
			return err
		}
	}
	if err = run.prepare(ctx, c.Penalty.Kind); err != nil {
		return nil, nil, err
	}
	err = run.pathTo(ctx, len(run.lambdas))
	return run, heldOut, err
}

// crossValidated returns the held-out loss by λ, mean over rows; +Inf where a part's path has ended.
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

// instability returns D̄ of StARS (Liu, Roeder & Wasserman 2010) by λ: the mean over pairs of
// 2θ(1−θ), θ the share of parts with the edge, made monotone; +Inf where a part's path has ended.
func (f *Resampled) instability(of int) []float64 {
	failed, _ := f.failed("")
	scores := make([]float64, len(f.Counts))
	n, top, ends := float64(len(f.Done)-failed), 0.0, math.MaxInt
	for k, points := range f.Points {
		if f.Failed[k] == "" {
			ends = min(ends, points)
		}
	}
	for l, pairs := range f.Counts {
		sum := 0.0
		for _, c := range pairs {
			theta := float64(c) / n
			sum += 2 * theta * (1 - theta)
		}
		top = max(top, sum/float64(of))
		if scores[l] = top; l >= ends {
			scores[l] = math.Inf(1)
		}
	}
	return scores
}

// rowPart has ascending rows.
type rowPart struct{ fit, heldOut []int }

const starsSamples = 20 // as in the R packages huge and pulsar

// parts returns folds for "cv"; subsamples of 10√n rows for "stars", or 0.8 n for n ≤ 144 (its
// authors' advice); both halves of each halving for "stability". A part depends only on the seed
// and its index.
func (s Selection) parts(rows int, seed uint64) (parts []rowPart) {
	permuted := func(k int) []int { return stream.New(seed, stream.Replicate, uint64(k)).Perm(rows) }
	switch s.Kind {
	case byCV:
		parts = make([]rowPart, s.Folds)
		for i, row := range stream.New(seed, stream.Replicate).Perm(rows) {
			for k := range parts {
				if p := &parts[k]; k == i%s.Folds {
					p.heldOut = append(p.heldOut, row)
				} else {
					p.fit = append(p.fit, row)
				}
			}
		}
	case byStars:
		size := int(10 * math.Sqrt(float64(rows)))
		if rows <= 144 {
			size = int(0.8 * float64(rows))
		}
		for k := range starsSamples {
			parts = append(parts, rowPart{fit: permuted(k)[:size]})
		}
	case byStability:
		for k := range halvings {
			order, half := permuted(k), rows/2
			parts = append(parts, rowPart{fit: order[:half]}, rowPart{fit: order[half : 2*half]})
		}
	}
	for _, p := range parts {
		slices.Sort(p.fit)
		slices.Sort(p.heldOut)
	}
	return parts
}
