package path

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"missingscore/internal/panics"
	"missingscore/internal/stream"
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
}

// rowPart is the rows that a path is fitted on, and those held out.
type rowPart struct{ fit, heldOut []int }

// parts draws the folds of cross-validation, or the subsamples of StARS (size
// 10√n, or 0.8 n for n ≤ 144, as Liu, Roeder & Wasserman 2010 recommend).
func (s Selection) parts(n int, seed uint64) []rowPart {
	var parts []rowPart
	switch s.Kind {
	case "cv":
		order := stream.New(seed, stream.Replicate).Perm(n)
		for k := range s.Folds {
			var p rowPart
			for i, row := range order {
				if i%s.Folds == k {
					p.heldOut = append(p.heldOut, row)
				} else {
					p.fit = append(p.fit, row)
				}
			}
			parts = append(parts, p)
		}
	case "stars":
		size := int(10 * math.Sqrt(float64(n)))
		if n <= 144 {
			size = int(0.8 * float64(n))
		}
		for k := range starsSamples {
			parts = append(parts, rowPart{fit: stream.New(seed, stream.Replicate, uint64(k)).Perm(n)[:size]})
		}
	}
	for _, p := range parts {
		slices.Sort(p.fit)
		slices.Sort(p.heldOut)
	}
	return parts
}

const starsSamples = 20 // as huge and pulsar

// resample runs what is left of the parts.
func (r *Run) resample(ctx context.Context) error {
	t, c, state := r.Table, r.Config, &r.State.Resampled
	parts := c.Select.parts(t.N, r.Engine.Config.Seed)
	if len(parts) == 0 {
		return nil
	}
	if state.Done == nil {
		*state = newResampled(len(parts), c.Lambdas, t.D*(t.D-1)/2)
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
				state.countEdges(run.State.Points, t.D, c.Threshold)
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
func (f *Resampled) countEdges(points []Point, d int, threshold float64) {
	for l, q := range points {
		for i, edge := range Adjacency(q.Packed, d, threshold).Edge {
			if edge {
				f.Counts[l][i]++
			}
		}
	}
}

// part fits the path to some rows and rates each point on those held out by the
// estimator's own reported loss (M) or, of losses with an expectation step, by −2 times the
// log likelihood, mean over rows and columns.
func (r *Run) part(ctx context.Context, p rowPart) (run *Run, heldOut []float64, err error) {
	steps := r.Engine.Config
	steps.Workers, steps.Observe = 1, nil
	if run, err = newRun(r.Problem, steps, r.Config, &State{}, p.fit); err != nil {
		return nil, nil, err
	}
	if len(p.heldOut) > 0 {
		run.passed = func() error {
			// Draws are those of an iteration that the path does not reach.
			s, err := run.Gradient(run.schedule.iterations()+len(heldOut), p.heldOut, 1/float64(len(p.heldOut)*r.Table.D))
			if run.Estimator.Loss.Needs().Moments {
				s.Loss = -2 * s.LogLikelihood
			}
			heldOut = append(heldOut, s.Loss)
			return err
		}
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

// crossValidated is the mean over rows of the held-out loss at each λ that every
// part's path has; +Inf at the others.
func (f *Resampled) crossValidated(folds []rowPart) []float64 {
	scores := make([]float64, len(f.Counts))
	rows := 0
	for k, losses := range f.Losses {
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

// instability is StARS's D̄ at each λ: the mean over pairs of 2θ(1−θ), θ the share
// of parts with the edge, made monotone from the largest λ down. It is +Inf where a
// part's path has ended.
func (f *Resampled) instability() []float64 {
	scores := make([]float64, len(f.Counts))
	n, top := float64(len(f.Done)), 0.0
	for l, pairs := range f.Counts {
		sum := 0.0
		for _, c := range pairs {
			theta := float64(c) / n
			sum += 2 * theta * (1 - theta)
		}
		top = max(top, sum/float64(len(pairs)))
		if scores[l] = top; l >= slices.Min(f.Points) {
			scores[l] = math.Inf(1)
		}
	}
	return scores
}
