// Package panics turns panics of goroutines into errors; errgroup does not catch panics.
package panics

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Error is a recovered panic.
type Error struct {
	Value any
	Place string // function, file and line in brackets; may be empty
	Stack []byte
}

func (e *Error) Error() string {
	return fmt.Sprintf("internal error: %v%s; please report it", e.Value, e.Place)
}

// Caught returns f's error, or an *Error if f panics. A panic with an *Error returns that *Error.
func Caught(f func() error) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if e, ok := v.(*Error); ok {
			err = e
			return
		}
		err = &Error{v, Place(), debug.Stack()}
	}()
	return f()
}

type Group struct{ *errgroup.Group }

func NewGroup() Group { return Group{new(errgroup.Group)} }

func (g Group) Go(f func() error) { g.Group.Go(func() error { return Caught(f) }) }

// Place locates a panic that is being recovered: the first function outside the runtime and over.
func Place(over ...string) string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for panicking := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case !panicking || f.Function == "" || strings.HasPrefix(f.Function, "runtime."):
		case slices.ContainsFunc(over, func(prefix string) bool { return strings.HasPrefix(f.Function, prefix) }):
		default:
			return fmt.Sprintf(" (%s, at %s:%d)", f.Function, f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}

// Each runs tasks on up to workers goroutines until one fails or ctx is done. begin creates one
// worker's function; done, if not nil, is called after each task, serialised.
func Each(ctx context.Context, workers, tasks int, begin func() (func(ctx context.Context, task int) error, error), done func(task int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	group := Group{g}
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

// Collect runs do for the numbered tasks on up to workers goroutines until one fails or ctx is done,
// and passes each result to take, one at a time.
func Collect[T any](ctx context.Context, workers int, tasks []int, do func(ctx context.Context, task int) (T, error), take func(task int, made T) error) error {
	made := make([]T, len(tasks))
	return Each(ctx, workers, len(tasks), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, i int) (err error) {
			made[i], err = do(ctx, tasks[i])
			return err
		}, nil
	}, func(i int) error {
		one := made[i]
		made[i] = *new(T) // not kept until the end
		return take(tasks[i], one)
	})
}
