package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"missingscore/trainers/replicate"
)

// keptReplicates are those of a run that may be cut and go on.
type keptReplicates[T any] struct {
	path string
	done *replicate.Done[T]
	last time.Time
	took time.Duration // of saving
}

// begin starts the run that of names, with what is saved of it if it goes on.
func (k *keptReplicates[T]) begin(of string, resume bool) error {
	k.done, k.last = replicate.NewDone[T](of), time.Now()
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

// save saves once a second, or less often where that takes long, and when the run is cut.
func (k *keptReplicates[T]) save(ctx context.Context) error {
	if ctx.Err() == nil && time.Since(k.last) < max(saveEach, 20*k.took) {
		return nil
	}
	start := time.Now()
	err := k.done.Save(k.path)
	k.last = time.Now()
	k.took = k.last.Sub(start)
	return err
}
