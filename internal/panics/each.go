package panics

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each runs tasks on up to workers goroutines until one fails or ctx is done. begin creates one
// worker's function; done, if not nil, is called after each task, serialised.
func Each(ctx context.Context, workers, tasks int, begin func() (func(ctx context.Context, task int) error, error), done func(task int) error) error {
	group, ctx := WithContext(ctx)
	var next atomic.Int64
	var lock sync.Mutex // serialises done
	for range min(max(1, workers), tasks) {
		do, err := begin()
		group.Go(func() error {
			for task := int(next.Add(1) - 1); err == nil && task < tasks; task = int(next.Add(1) - 1) {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err = do(ctx, task); err == nil && done != nil {
					lock.Lock()
					err = Caught(func() error { return done(task) })
					lock.Unlock()
				}
			}
			return err
		})
	}
	return group.Wait()
}
