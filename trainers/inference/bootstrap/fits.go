package bootstrap

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
)

// fits are estimates made again, each on rows of its own.
type fits struct {
	name, unit string // for progress
	purpose    uint64 // tells their draws from those of other fits
	number     int
	rows       func(number int, rng *rand.Rand) []int
	made       *[]inference.Fit // in inference.State
}

// make makes those that are left, as many at a time as the path has workers. A fit depends on
// the seed and its number only.
func (f fits) make(ctx context.Context, p inference.Problem) error {
	for len(*f.made) < f.number {
		*f.made = append(*f.made, inference.Fit{})
	}
	var left []int
	done, total := 0, 0
	for i, fit := range *f.made {
		switch {
		case !p.Shard.Has(i):
			continue
		case fit.Done:
			done++
		default:
			left = append(left, i)
		}
		total++
	}
	pool, ctx := panics.WithContext(ctx)
	pool.SetLimit(p.Path.Engine.Config.Workers)
	var mu sync.Mutex
	for _, i := range left {
		pool.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			rng := stream.New(p.Path.Engine.Config.Seed, stream.Resample, f.purpose, uint64(i))
			rows := f.rows(i, rng)
			fit, err := p.Again(ctx, rows, rng.Uint64())
			if err != nil {
				return fmt.Errorf("%s %d: %w", f.unit, i+1, err)
			}
			mu.Lock()
			defer mu.Unlock()
			(*f.made)[i] = fit
			done++
			p.Path.Report(engine.Progress{Stage: f.name, Unit: f.unit, Iteration: done, Total: total, Loss: math.NaN(), EffectiveSize: math.NaN()})
			return p.Save()
		})
	}
	return pool.Wait()
}

// failures are how many have no result, and a sentence that says so, "" for none.
func failures(unit string, made []inference.Fit) (failed int, told string) {
	first := -1
	for i, f := range made {
		if f.Failed != "" {
			if failed++; first < 0 {
				first = i
			}
		}
	}
	if failed == 0 {
		return 0, ""
	}
	return failed, fmt.Sprintf("%d of %d %ss have no result; the first, number %d: %s", failed, len(made), unit, first+1, made[first].Failed)
}
