package cmd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A run saves once a second, less often where a save takes long, and whenever it is cut.
func TestSavePace(t *testing.T) {
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx       context.Context
		ago, took time.Duration
		saves     int
	}{
		"too early":         {ctx: t.Context(), ago: time.Second / 2},
		"in time":           {ctx: t.Context(), ago: 2 * time.Second, saves: 1},
		"after a long save": {ctx: t.Context(), ago: 2 * time.Second, took: time.Second},
		"long after it":     {ctx: t.Context(), ago: 30 * time.Second, took: time.Second, saves: 1},
		"cut":               {ctx: cut, took: time.Second, saves: 1},
	} {
		saves, pace := 0, savePace{last: time.Now().Add(-c.ago), took: c.took}
		require.NoError(t, pace.save(c.ctx, func() error { saves++; return nil }), name)
		require.Equal(t, c.saves, saves, name)
	}

	pace := savePace{}
	require.NoError(t, pace.save(t.Context(), func() error { time.Sleep(20 * time.Millisecond); return nil }))
	require.GreaterOrEqual(t, pace.took, 20*time.Millisecond, "how long a save takes is measured")
	require.WithinDuration(t, time.Now(), pace.last, time.Second)
}
