package data

import (
	"fmt"
	"slices"
)

// Present keeps the columns that are observed in at least this share of the rows
// (paper, "Yeast Data": genes present in at least 95 % of the samples). Every row
// stays, also one that has no value left. It fails if no column is left.
func (t *Table) Present(share float64) (*Table, error) {
	if !(0 <= share && share <= 1) {
		return nil, fmt.Errorf("columns present in a share of %g of the rows: it must be from 0 to 1", share)
	}
	var names []string
	for j, name := range t.Names {
		if seen := len(t.AppendColumn(nil, j)); seen > 0 && float64(seen) >= share*float64(t.N) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil, fmt.Errorf("none of the %d columns is observed in %g %% of the rows; lower the share", t.D, 100*share)
	}
	return t.Select(names)
}

// CompleteRows keeps the rows without a missing cell, which are not counted in
// Dropped. It fails if fewer than two are left or a column no longer varies.
func (t *Table) CompleteRows() (*Table, error) {
	var rows []int
	for i := range t.N {
		if !slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			rows = append(rows, i)
		}
	}
	kept := t.only(rows)
	if err := kept.check(); err != nil {
		return nil, fmt.Errorf("of %d rows, %d are complete: %w", t.N, len(rows), err)
	}
	return kept, nil
}

// only copies some rows.
func (t *Table) only(rows []int) *Table {
	kept := blank(t.Names, len(rows))
	kept.Cuts, kept.Rounded = t.Cuts, t.Rounded
	var weights []float64
	for k, i := range rows {
		if t.Weights != nil {
			weights = append(weights, t.Weights[i])
		}
		copy(kept.Values[k*t.D:(k+1)*t.D], t.Values[i*t.D:(i+1)*t.D])
		copy(kept.Observed[k*t.D:(k+1)*t.D], t.Observed[i*t.D:(i+1)*t.D])
		if t.Lines != nil {
			kept.Lines = append(kept.Lines, t.Lines[i])
		}
	}
	if len(weights) > 0 {
		kept.weigh(weights)
	}
	return kept
}
