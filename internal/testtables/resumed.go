package testtables

import (
	"bytes"
	"context"
	"encoding/gob"
	"testing"

	"github.com/stretchr/testify/require"
)

// Resumed repeats run until it ends; it cancels attempt k at save k.
func Resumed(t testing.TB, run func(ctx context.Context, save func() error) error) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		ctx, cancel := context.WithCancel(t.Context())
		saves := 0
		err := run(ctx, func() error {
			if saves++; saves == attempt {
				cancel()
			}
			return nil
		})
		cancel()
		if err == nil {
			require.Greater(t, attempt, 1, "never cut")
			return
		}
		require.ErrorIs(t, err, context.Canceled)
		require.Less(t, attempt, 200)
	}
}

// Saved is v after encoding/gob.
func Saved[T any](t testing.TB, v *T) *T {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, gob.NewEncoder(&text).Encode(v))
	again := new(T)
	require.NoError(t, gob.NewDecoder(&text).Decode(again))
	return again
}
