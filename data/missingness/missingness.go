// Package missingness describes cells that are missing not at random: known laws of
// which cells of a row are hidden, given the whole row. It hides cells by them, and
// reads them from files. package model has their log φ_Λ for fitting, φ_Λ(x) being the
// probability that of a row x exactly the cells Λ are observed.
package missingness

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"missingscore/data"
)

// Mechanism says how likely each cell of a row is observed. Given the complete row,
// cells are hidden independently of each other.
type Mechanism interface {
	// Observed sets p (d) to P(cell j is observed | x) for a complete row x (d).
	Observed(p, x []float64)
}

// Hide hides cells of a complete table by a mechanism. Hidden cells hold 0 and rows
// without any value stay. It refuses a table with missing cells, whose rows are not
// known, and what data.NewTable refuses.
func Hide(t *data.Table, m Mechanism, rng *rand.Rand) (*data.Table, error) {
	if !t.Complete() {
		return nil, fmt.Errorf("%d cells are missing already: which cells are hidden depends on the whole row, so a complete table is needed", t.Missing())
	}
	values, observed := make([]float64, len(t.Values)), make([]bool, len(t.Values))
	p := make([]float64, t.D)
	for i := 0; i < len(values); i += t.D {
		m.Observed(p, t.Values[i:i+t.D])
		for j, q := range p {
			if rng.Float64() < q {
				values[i+j], observed[i+j] = t.Values[i+j], true
			}
		}
	}
	hidden, err := data.NewTable(slices.Clone(t.Names), values, observed)
	if err != nil {
		return nil, fmt.Errorf("after hiding cells not at random: %w; hide fewer or take more rows", err)
	}
	hidden.Lines = t.Lines
	return hidden, nil
}
