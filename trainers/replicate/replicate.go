// Package replicate estimates networks of many tables that are made, permuted or
// simulated: in parallel, a replicate depending on its number only, and with what is done
// kept in a file, so that a run that is cut goes on and ends with the same bytes.
package replicate

import (
	"context"
	"sync"

	"missingscore/internal/panics"
)

// Config says how replicates are run.
type Config struct {
	Workers int                   // at a time; 1
	Observe func(done, total int) // called after each, one at a time; may be nil
	Save    func() error          // called after each, one at a time, and when ctx is cancelled; may be nil
}

// Run makes what is left of replicates 0 … total−1 and gives them all in order. When ctx is
// cancelled it saves and returns ctx's error; an error of a replicate ends the run.
func Run[T any](ctx context.Context, total int, c Config, done *Done[T], one func(ctx context.Context, k int) (T, error)) ([]T, error) {
	pool, inner := panics.WithContext(ctx)
	pool.SetLimit(max(1, c.Workers))
	var mu sync.Mutex
	for k := range total {
		if inner.Err() != nil {
			break
		}
		if _, ok := done.get(k); ok {
			continue
		}
		pool.Go(func() error {
			made, err := one(inner, k)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done.put(k, made)
			if c.Observe != nil {
				c.Observe(done.Count(), total)
			}
			return c.save()
		})
	}
	err := pool.Wait()
	if ctx.Err() != nil {
		if err := c.save(); err != nil {
			return nil, err
		}
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return done.first(total), nil
}

func (c Config) save() error {
	if c.Save == nil {
		return nil
	}
	return c.Save()
}
