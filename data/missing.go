package data

import (
	"fmt"
	"math/rand/v2"
)

// HideMCAR hides each observed cell with probability p, independently of
// everything (missing completely at random). Hidden cells hold 0 and rows
// without any value stay.
//
// It refuses p outside [0, 1), and a draw that leaves fewer than two rows with a
// value or, by a *ColumnError, a column without a value or without variation.
func HideMCAR(t *Table, p float64, rng *rand.Rand) (*Table, error) {
	if !(0 <= p && p < 1) {
		return nil, fmt.Errorf("the probability to hide a cell is %g, it must be at least 0 and less than 1", p)
	}
	hidden := t.emptied(t.Names)
	for k, seen := range t.Observed {
		if seen && rng.Float64() >= p {
			hidden.set(k/t.D, k%t.D, t.Values[k])
		}
	}
	if err := hidden.check(); err != nil {
		return nil, fmt.Errorf("after hiding cells with probability %g: %w; hide fewer or take more rows", p, err)
	}
	return hidden, nil
}
