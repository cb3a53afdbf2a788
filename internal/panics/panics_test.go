package panics

import (
	"context"
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

func TestGroup(t *testing.T) {
	g := NewGroup()
	g.Go(func() error { panic("shape") })
	var panicked *Error
	require.ErrorAs(t, g.Wait(), &panicked)
	g = NewGroup()
	g.Go(func() error { return nil })
	require.NoError(t, g.Wait())
}

func TestEach(t *testing.T) {
	begin := func() (func(context.Context, int) error, error) {
		return func(_ context.Context, task int) error {
			if task == 7 {
				return errors.New("seven")
			}
			return nil
		}, nil
	}
	var tasks []int
	done := func(task int) error { tasks = append(tasks, task); return nil }
	require.NoError(t, Each(t.Context(), 3, 5, begin, done))
	require.ElementsMatch(t, []int{0, 1, 2, 3, 4}, tasks)
	require.EqualError(t, Each(t.Context(), 3, 9, begin, nil), "seven")
	squares := map[int]int{}
	require.NoError(t, Collect(t.Context(), 3, []int{2, 5, 9}, func(_ context.Context, task int) (int, error) { return task * task, nil },
		func(task, made int) error { squares[task] = made; return nil }))
	require.Equal(t, map[int]int{2: 4, 5: 25, 9: 81}, squares)
	require.ErrorContains(t, Each(t.Context(), 2, 5, begin, func(int) error { panic("shape") }), "internal error: shape")
}
