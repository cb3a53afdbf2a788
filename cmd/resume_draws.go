package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"missingscore/graph"
	"missingscore/internal/atomicfile"
	"missingscore/trainers/fitted"
)

// resumableDraws are the draws of a run that may be cut and go on.
type resumableDraws struct {
	resume bool

	path    string // empty: none are kept
	partial *fitted.Partial
	pace    savePace
	problem error // of saving
}

// state is where the draws of a run that is cut go, nowhere beside a device or a pipe.
func (f *drawingFlags) state() string { return siblingOf(f.out, filepath.Base(f.out)+".state") }

// begin makes the run keep its draws, and go on with those that there are.
func (k *resumableDraws) begin(cmd *cobra.Command, f *imputeCommand) error {
	if k.path = f.state(); k.path == "" {
		if k.resume {
			return usageError{fmt.Errorf("--resume: no draws are kept beside %s: leave it out, or choose a file as --out", f.out)}
		}
		return nil
	}
	if err := distinctFiles(cmd, output{"out", k.path}); err != nil {
		return err
	}
	of, err := f.identity()
	if err != nil {
		return err
	}
	k.partial = fitted.NewPartial(of)
	if k.resume {
		held, err := fitted.LoadPartial(k.path, of)
		switch {
		case errors.Is(err, os.ErrNotExist):
			fmt.Fprintf(cmd.ErrOrStderr(), "nothing to resume in %s: starting anew\n", filepath.Dir(k.path))
		case errors.Is(err, fitted.ErrOtherImputation):
			return usageError{fmt.Errorf("--resume: %s: %w", k.path, err)}
		case err != nil:
			return err
		default:
			k.partial = held
		}
	}
	k.pace = newSavePace()
	f.config.Partial, f.config.Save = k.partial, func(p *fitted.Partial) error { return k.save(cmd.Context(), p) }
	return nil
}

// save saves the draws at the run's pace, once there are any.
func (k *resumableDraws) save(ctx context.Context, p *fitted.Partial) error {
	if p.Blocks() == 0 {
		return nil
	}
	return k.pace.save(ctx, func() error {
		k.problem = p.Save(k.path)
		return k.problem
	})
}

// explain says what is left of a run that gave no result.
func (k *resumableDraws) explain(err error, path string) error {
	if !errors.Is(err, context.Canceled) || k.partial == nil || k.partial.Blocks() == 0 {
		return refused(err, path)
	}
	if k.problem != nil {
		return interrupted(fmt.Sprintf("nothing is written, and the draws so far cannot be saved: %v", k.problem))
	}
	return interrupted(fmt.Sprintf("the draws so far are saved in %s; go on with the same command and --resume", k.path))
}

// remove clears up after the result is written.
func (k *resumableDraws) remove() error {
	if k.path == "" {
		return nil
	}
	return atomicfile.Remove(k.path)
}

// identity names what the draws depend on: the model, the observed cells, the settings and
// what computes.
func (f *imputeCommand) identity() (string, error) {
	model, err := os.ReadFile(f.model)
	if err != nil {
		return "", err
	}
	blas, err := graph.BLAS()
	if err != nil {
		return "", err
	}
	t, c := f.cells.Table, f.config
	c.Workers, c.Observe, c.Partial, c.Save = 0, nil, nil, nil
	observed := make([]uint64, len(t.Values))
	for i, seen := range t.Observed {
		if seen {
			observed[i] = math.Float64bits(t.Values[i])
		}
	}
	settings := []any{c.Sampler, c.Draws, c.Seed, c.Chains, c.Diffusion, f.point, f.fit.given(), blas, t.Names, t.Observed, observed, model}
	text, err := json.Marshal(settings)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}
