// Package cells runs grids of cells. Each finished cell is a line of a CSV file, so a restarted run
// computes only missing cells.
package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"missingscore/internal/panics"
)

// ErrAbsent is the error of a cell whose table or program is not installed. Other cells still run.
var ErrAbsent = errors.New("not found")

// Cell is one run of a grid. Key identifies it; Run returns the value columns and may be called
// concurrently with other cells.
type Cell struct {
	Key []string
	Run func(context.Context) ([]string, error)
}

// Name returns the key as --cell takes it.
func (c Cell) Name() string { return strings.Join(c.Key, ",") }

// attempt runs the cell and returns a panic as an error.
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

// Grid is the list of cells of an experiment and the columns of its results.
type Grid struct {
	Key, Value []string // column names
	Cells      []Cell
	Present    func() error // ErrAbsent if the data of all cells is missing; may be nil
	Notes      []string     // printed before a run
}

// Columns returns the key and value columns.
func (g Grid) Columns() []string { return slices.Concat(g.Key, g.Value) }

// Check fails if there is no cell, or if two cells have one key.
func (g Grid) Check() error {
	if len(g.Cells) == 0 {
		return errors.New("there are no cells: a list of settings is empty")
	}
	seen := map[string]bool{}
	for _, c := range g.Cells {
		if seen[c.Name()] {
			return fmt.Errorf("two cells are called %s (%s): give each method its own \"name\" and list no value twice", c.Name(), strings.Join(g.Key, ","))
		}
		seen[c.Name()] = true
	}
	return nil
}
