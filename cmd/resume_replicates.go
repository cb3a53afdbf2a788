package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"missingscore/trainers/replicate"
)

// resumableReplicates are those of a run that may be cut and go on.
type resumableReplicates[T any] struct {
	path string
	done *replicate.Done[T]
	pace savePace
}

// begin starts the run that of names, with what is saved of it if it goes on.
func (k *resumableReplicates[T]) begin(of string, resume bool) error {
	k.done, k.pace = replicate.NewDone[T](of), newSavePace()
	if !resume {
		return nil
	}
	held, err := replicate.Load[T](k.path, of)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.Is(err, replicate.ErrOtherRun):
		return usageError{fmt.Errorf("--resume: %s: %w", k.path, err)}
	case err != nil:
		return err
	}
	k.done = held
	return nil
}

// save saves the replicates at the run's pace.
func (k *resumableReplicates[T]) save(ctx context.Context) error {
	return k.pace.save(ctx, func() error { return k.done.Save(k.path) })
}
