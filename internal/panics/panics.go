// Package panics makes errors of panics: one in a goroutine would end the program, and
// lose what other goroutines have done.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is a panic.
type Error struct {
	Value any
	Stack []byte
}

func (e *Error) Error() string { return fmt.Sprintf("internal error: %v; please report it", e.Value) }

// Caught is f's error, and an *Error if f panics.
func Caught(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{v, debug.Stack()}
		}
	}()
	return f()
}
