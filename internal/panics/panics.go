// Package panics turns panics of goroutines into errors; errgroup does not catch panics.
package panics

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

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

func WithContext(ctx context.Context) (Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return Group{g}, ctx
}

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
