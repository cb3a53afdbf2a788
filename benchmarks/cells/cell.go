// Package cells runs grids of cells whose every finished one is a line of a CSV file, so
// that a run that is stopped and started again does only what is missing.
package cells

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"missingscore/internal/panics"
)

// ErrAbsent says that a table or program which cells need is not on this computer: others
// run without them.
var ErrAbsent = errors.New("what it needs is not here")

// Cell is one run of a grid: Key names it, Run gives its numbers. A cell that needs what
// this computer does not have fails with ErrAbsent.
type Cell struct {
	Key []string
	Run func(context.Context) ([]string, error)
}

// Name is the key in one word, as --cell takes it.
func (c Cell) Name() string { return strings.Join(c.Key, ",") }

// attempt runs the cell; a panic must not cost the others.
func (c Cell) attempt(ctx context.Context) (values []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = panics.Caught(func() (err error) { values, err = c.Run(ctx); return err })
	var panicked *panics.Error
	if errors.As(err, &panicked) {
		err = fmt.Errorf("%w\n%s", err, panicked.Stack)
	}
	return values, err
}
