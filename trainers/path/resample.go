package path

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"missingscore/data/network"
	"missingscore/internal/panics"
	"missingscore/trainers/engine"
)

// Selections by resampling fit the whole path again on parts of the rows, the
// parts in parallel. A part depends on the seed and its number only, and sums over
// parts are of integers or in order: any number of workers gives the same bytes.

// Resampled is what the finished parts have told.
type Resampled struct {
	Done   []bool
	Losses [][]float64 // "cv": of a fold's held-out rows, one a λ
	Counts [][]int     // "stars": at each λ, in how many parts each pair is an edge
	Points []int       // how many λ a part's path has: it ends early where P diverges
	Most   int         // "stability": the size that a part's network may have; its Counts are of the densest alone
}

// rowPart is the rows that a path is fitted on, and those held out, each in ascending order.
type rowPart struct {
	fit     []int // nil: all others
	heldOut []int
}

// fitted are the rows, of all in ascending order, that the path is fitted on.
func (p rowPart) fitted(all []int) []int {
	if p.fit != nil {
		return p.fit
	}
	rows, heldOut := make([]int, 0, len(all)-len(p.heldOut)), p.heldOut
	for _, row := range all {
		if len(heldOut) > 0 && row == heldOut[0] {
			heldOut = heldOut[1:]
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

// parts are those of the selection.
func (r *Run) parts() []rowPart {
	by, _ := r.Config.Select.by()
	return by.parts(r.Config.Select, r.Table.N, r.Engine.Config.Seed)
}

// sorted puts each part's rows in order.
func sorted(parts []rowPart) []rowPart {
	for _, p := range parts {
		slices.Sort(p.fit)
		slices.Sort(p.heldOut)
	}
	return parts
}

// resample runs what is left of the parts.
func (r *Run) resample(ctx context.Context) error {
	c, state := r.Config, &r.State.Resampled
	parts := r.parts()
	if len(parts) == 0 {
		return nil
	}
	if state.Done == nil {
		by, _ := c.Select.by()
		*state = newResampled(len(parts), c.Lambdas, r.pairs())
		state.Most = by.most(r)
	}
	pool, ctx := errgroup.WithContext(ctx)
	pool.SetLimit(r.Engine.Config.Workers)
	var mu sync.Mutex
	for k, p := range parts {
		if state.Done[k] {
			continue
		}
		pool.Go(func() error {
			return panics.Caught(func() error {
				run, heldOut, err := r.part(ctx, p)
				if err != nil {
					return fmt.Errorf("selection by %s, part %d: %w", c.Select.Kind, k+1, err)
				}
				mu.Lock()
				defer mu.Unlock()
				state.Done[k], state.Losses[k], state.Points[k] = true, heldOut, len(run.State.Points)
				points := run.State.Points
				if state.Most > 0 {
					points = densest(points, state.Most)
				}
				state.countEdges(points, r.adjacency)
				r.Report(engine.Progress{Stage: c.Select.Kind, Unit: "part", Iteration: count(state.Done), Total: len(parts), Loss: math.NaN(), EffectiveSize: math.NaN()})
				return r.save()
			})
		})
	}
	return pool.Wait()
}

// newResampled is before any part is done.
func newResampled(parts, lambdas, pairs int) Resampled {
	f := Resampled{Done: make([]bool, parts), Losses: make([][]float64, parts), Counts: make([][]int, lambdas), Points: make([]int, parts)}
	for l := range f.Counts {
		f.Counts[l] = make([]int, pairs)
	}
	return f
}

// countEdges adds the edges along the path of a part to Counts.
func (f *Resampled) countEdges(points []Point, adjacency func(Point) network.Adjacency) {
	for l, q := range points {
		for i, edge := range adjacency(q).Edge {
			if edge {
				f.Counts[l][i]++
			}
		}
	}
}

// densest is the point with the most edges of those with at most so many, of several the
// last; none where all have more.
func densest(points []Point, most int) (one []Point) {
	for i, p := range points {
		if p.Edges <= most && (one == nil || p.Edges >= one[0].Edges) {
			one = points[i : i+1]
		}
	}
	return one
}

// part fits the path to some rows and rates each point on those held out by the
// estimator's own reported loss (M) or, of losses with an expectation step, by −2 times the
// log likelihood, mean over rows and columns.
func (r *Run) part(ctx context.Context, p rowPart) (run *Run, heldOut []float64, err error) {
	steps := r.Engine.Config
	steps.Workers, steps.Observe = 1, nil
	c := r.Config
	c.Penalty = r.Penalty()
	if run, err = newRun(r.Problem, steps, c, &State{}, p.fitted(r.Table.AllRows())); err != nil {
		return nil, nil, err
	}
	if most := r.State.Resampled.Most; most > 0 {
		run.enough = func(q Point) bool { return q.Edges > most }
	}
	if m := run.ofMatrix(); m != nil && len(p.heldOut) > 0 {
		loss, err := m.heldOut(ctx, p.heldOut)
		if err != nil {
			return nil, nil, err
		}
		run.passed = func() error { heldOut = append(heldOut, loss()); return nil }
	} else if len(p.heldOut) > 0 {
		run.passed = func() error {
			// Draws are those of an iteration that the path does not reach.
			s, err := run.Gradient(run.Config.InitialIter+run.Config.Lambdas*run.Config.IterPerLambda+len(heldOut), p.heldOut, 1/float64(len(p.heldOut)*r.Table.D))
			if run.Estimator.Loss.Needs().Moments {
				s.Loss = -2 * s.LogLikelihood
			}
			heldOut = append(heldOut, s.Loss)
			return err
		}
	}
	if err = run.prepare(ctx); err != nil {
		return nil, nil, err
	}
	err = run.path(ctx)
	return run, heldOut, err
}

func count(done []bool) (n int) {
	for _, d := range done {
		if d {
			n++
		}
	}
	return n
}
