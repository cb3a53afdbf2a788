package panics

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCaught(t *testing.T) {
	require.NoError(t, Caught(func() error { return nil }))
	own := errors.New("own")
	require.Equal(t, own, Caught(func() error { return own }))
	err := Caught(func() error { panic("shape") })
	require.Regexp(t, `^internal error: shape \(missingscore/internal/panics\.TestCaught\.func3, at .*panics_test\.go:\d+\); please report it$`, err.Error())
	var panicked *Error
	require.ErrorAs(t, err, &panicked)
	require.Contains(t, string(panicked.Stack), "panics_test.go")
}

// A panic in a group's goroutine is the group's error, and cancels the others.
func TestGroup(t *testing.T) {
	g, ctx := WithContext(t.Context())
	g.Go(func() error { panic("shape") })
	g.Go(func() error { <-ctx.Done(); return nil })
	var panicked *Error
	require.ErrorAs(t, g.Wait(), &panicked)
	g = NewGroup()
	g.Go(func() error { return nil })
	require.NoError(t, g.Wait())
}
