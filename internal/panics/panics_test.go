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
