package cells

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Grid is what an experiment runs: one line of Key and Value columns for each cell.
type Grid struct {
	Key, Value []string // column names
	Clock      []string // value columns that hold seconds or versions: all others are the same in every run
	Cells      []Cell
	Present    func() error // ErrAbsent where data that all cells read is not here; may be nil
	Notes      []string     // what the user should know, as how data differ from the paper's
}

// Columns are those of the results.
func (g Grid) Columns() []string { return slices.Concat(g.Key, g.Value) }

// Check refuses a grid without cells, and one with two cells of one key, whose lines could
// not be told apart.
func (g Grid) Check() error {
	if len(g.Cells) == 0 {
		return errors.New("there are no cells: a list that they are made of is empty")
	}
	seen := map[string]bool{}
	for _, c := range g.Cells {
		if seen[c.Name()] {
			return fmt.Errorf("two cells are called %s (%s): give methods a \"name\" each to tell them apart, and name nothing twice", c.Name(), strings.Join(g.Key, ","))
		}
		seen[c.Name()] = true
	}
	return nil
}
