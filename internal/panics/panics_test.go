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
	require.EqualError(t, err, "internal error: shape; please report it")
	var panicked *Error
	require.ErrorAs(t, err, &panicked)
	require.Contains(t, string(panicked.Stack), "panics_test.go")
}
