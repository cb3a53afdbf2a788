package path

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"missingscore/data"
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
	Points []int       // how many λ a part's path has: it ends early where there is no minimum
	Failed []string    // why a part has no result; "": it has one
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
				if ctx.Err() != nil {
					return ctx.Err()
				}
				mu.Lock()
				defer mu.Unlock()
				if state.Done[k] = true; err != nil {
					state.Failed[k] = err.Error()
				} else {
					state.take(k, run, heldOut)
				}
				r.Report(engine.Progress{Stage: c.Select.Kind, Unit: "part", Iteration: count(state.Done), Total: len(parts), Loss: math.NaN(), EffectiveSize: math.NaN()})
				return r.save()
			})
		})
	}
	if err := pool.Wait(); err != nil {
		return err
	}
	if failed := state.failed(); 2*failed > len(parts) {
		return errors.New(r.failedParts() + "; that is too few to choose by: leave out the column, or choose by ebic")
	}
	return nil
}

// take counts the finished path of part k.
func (f *Resampled) take(k int, run *Run, heldOut []float64) {
	points := run.State.Points
	f.Losses[k], f.Points[k] = heldOut, len(points)
	if f.Most > 0 {
		points = densest(points, f.Most)
	}
	f.countEdges(points, run.adjacency)
}

// failed is how many parts have no result.
func (f *Resampled) failed() (n int) {
	for _, why := range f.Failed {
		if why != "" {
			n++
		}
	}
	return n
}

// failedParts says how many parts have no result, "" for none.
func (r *Run) failedParts() string {
	f := r.State.Resampled
	first := slices.IndexFunc(f.Failed, func(why string) bool { return why != "" })
	if first < 0 {
		return ""
	}
	return fmt.Sprintf("%d of the %d parts of the rows that %s is by have no result; the first, number %d: %s", f.failed(), len(f.Done), r.Config.Select.Kind, first+1, f.Failed[first])
}

// newResampled is before any part is done.
func newResampled(parts, lambdas, pairs int) Resampled {
	f := Resampled{Done: make([]bool, parts), Losses: make([][]float64, parts), Counts: make([][]int, lambdas), Points: make([]int, parts), Failed: make([]string, parts)}
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
// log likelihood, mean over rows and columns. A part whose rows leave a column without variation
// has no result.
func (r *Run) part(ctx context.Context, p rowPart) (run *Run, heldOut []float64, err error) {
	rows := p.fitted(r.Table.AllRows())
	var column *data.ColumnError
	if _, err := r.Table.Rows(rows); errors.As(err, &column) {
		return nil, nil, fmt.Errorf("column %q has no variation in its rows", column.Column)
	} else if err != nil {
		return nil, nil, err
	}
	steps := r.Engine.Config
	steps.Workers, steps.Observe = 1, nil
	c := r.Config
	c.Penalty = r.Penalty()
	if run, err = newRun(r.Problem, steps, c, &State{}, rows); err != nil {
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
