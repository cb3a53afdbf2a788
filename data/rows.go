package data

import (
	"fmt"
	"slices"
)

// Rows copies some rows, in the order asked; a row may be asked for more than once. It
// fails if there is no such row, and where NewTable would.
func (t *Table) Rows(rows []int) (*Table, error) {
	for _, i := range rows {
		if i < 0 || i >= t.N {
			return nil, fmt.Errorf("there is no row %d among %d", i+1, t.N)
		}
	}
	chosen := t.only(rows)
	if err := chosen.check(); err != nil {
		return nil, err
	}
	return chosen, nil
}

// First copies the first rows, as many as there are of so many. Unlike a table that is read, they may
// leave a column without values.
func (t *Table) First(rows int) *Table {
	all := make([]int, min(rows, t.N))
	for i := range all {
		all[i] = i
	}
	return t.only(all)
}

// Stacked has the rows of t and below them those of another table of the same columns in
// the same order. It comes from no file. It fails if the columns differ.
func (t *Table) Stacked(below *Table) (*Table, error) {
	if !slices.Equal(t.Names, below.Names) {
		return nil, fmt.Errorf("tables of the columns %s and %s cannot be stacked", listing(t.Names), listing(below.Names))
	}
	return NewTable(slices.Clone(t.Names), slices.Concat(t.Values, below.Values), slices.Concat(t.Observed, below.Observed))
}

// AppendRow adds row i of another table of the same columns, without its line.
func (t *Table) AppendRow(of *Table, i int) {
	t.Values = append(t.Values, of.Values[i*of.D:(i+1)*of.D]...)
	t.Observed = append(t.Observed, of.Observed[i*of.D:(i+1)*of.D]...)
	t.N++
}
