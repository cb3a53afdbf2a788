package training_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/training"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
)

func TestTrace(t *testing.T) {
	require.Equal(t, []int{1, 2, 3, 4}, training.Epochs(4))
	history := func(values ...float64) (h []descent.Record) {
		for _, v := range values {
			h = append(h, descent.Record{Errors: []evaluate.Error{{Name: "x", Value: v}}})
		}
		return h
	}
	at := []int{1, 2, 4}
	require.Equal(t, "3 1 2", training.Trace(history(3, 1, 5, 2), at, "x"))
	require.Equal(t, "5 3 -", training.Trace(history(5, 3), at, "x"))
}

func TestHistory(t *testing.T) {
	state := &trainers.State{Descent: &descent.State{History: []descent.Record{{Epoch: 1}}}}
	for _, c := range []struct {
		state    *trainers.State
		err      error
		length   int
		diverged bool
	}{{state, nil, 1, false}, {state, fmt.Errorf("a fit: %w", &engine.DivergedError{Iteration: 5, What: "loss"}), 1, true}, {&trainers.State{}, &engine.DivergedError{}, 0, true}} {
		h, diverged, err := training.History(c.state, c.err)
		require.NoError(t, err)
		require.Len(t, h, c.length)
		require.Equal(t, c.diverged, diverged)
	}
	_, _, err := training.History(state, context.Canceled)
	require.ErrorIs(t, err, context.Canceled)
}
