package engine

import (
	"errors"
	"fmt"

	"missingscore/losses"
)

// DivergedError says that a fit stopped because a number was no longer finite.
// The parameters are those before that step.
type DivergedError struct {
	Iteration int
	What      string
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the fit diverged: the %s was not finite at iteration %d", e.What, e.Iteration+1)
}

// Diverged tells whether a step failed for what the parameters have become: where they are a number
// is not finite, or there is no distribution.
func Diverged(err error) bool {
	var diverged *DivergedError
	return errors.As(err, &diverged) || errors.Is(err, losses.ErrNotPositiveDefinite)
}
