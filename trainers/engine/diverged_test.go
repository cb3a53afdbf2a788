package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/losses"
	"missingscore/trainers/engine"
)

func TestDiverged(t *testing.T) {
	require.True(t, engine.Diverged(fmt.Errorf("λ 3: %w", &engine.DivergedError{What: "loss"})))
	require.True(t, engine.Diverged(fmt.Errorf("λ 3: %w", losses.ErrNotPositiveDefinite)))
	require.False(t, engine.Diverged(errors.New("the disk is full")))
	require.False(t, engine.Diverged(nil))
}
