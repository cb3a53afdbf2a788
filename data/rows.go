package data

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Rows copies the given rows in order, with repetition allowed.
func (t *Table) Rows(rows []int) (*Table, error) {
	for _, i := range rows {
		if i < 0 || i >= t.N {
			return nil, fmt.Errorf("there is no row %d among %d", i+1, t.N)
		}
	}
	chosen := only(t, rows)
	if err := check(chosen); err != nil {
		return nil, err
	}
	return chosen, nil
}

// Stack appends the rows of below to those of t. It fails if the columns or their order differ.
func Stack(t, below *Table) (*Table, error) {
	if !slices.Equal(t.Names, below.Names) {
		return nil, fmt.Errorf("tables of the columns %s and %s cannot be stacked", listing(t.Names), listing(below.Names))
	}
	both, err := NewTable(slices.Clone(t.Names), slices.Concat(t.Values, below.Values), slices.Concat(t.Observed, below.Observed))
	if err == nil {
		both.Kinds, both.Levels, both.Blocks, both.LeftOut = t.Kinds, t.Levels, t.Blocks, t.LeftOut
	}
	return both, err
}

// PassRows is the number of rows of a pass: of the file, if the table is a sample.
func (t *Table) PassRows() int {
	if t.Sampled != nil {
		return t.Sampled.Rows
	}
	return t.N
}

// AppendRow appends row i of a table with the same columns, without its line.
func (t *Table) AppendRow(of *Table, i int) {
	t.Values = append(t.Values, of.Values[i*of.D:(i+1)*of.D]...)
	t.Observed = append(t.Observed, of.Observed[i*of.D:(i+1)*of.D]...)
	t.N++
}

func appendTable(t, b *Table) {
	t.N += b.N
	t.Dropped += b.Dropped
	t.Values, t.Observed, t.Lines = append(t.Values, b.Values...), append(t.Observed, b.Observed...), append(t.Lines, b.Lines...)
}

// CompleteRows keeps the rows without a missing cell. It fails if fewer than two rows are left or a
// column becomes constant.
func (t *Table) CompleteRows() (*Table, error) {
	var rows []int
	for i := range t.N {
		if !slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			rows = append(rows, i)
		}
	}
	kept := only(t, rows)
	if err := check(kept); err != nil {
		return nil, fmt.Errorf("of %d rows, %d are complete: %w", t.N, len(rows), err)
	}
	return kept, nil
}

func only(t *Table, rows []int) *Table {
	kept := blank(t.Names, len(rows))
	kept.Cuts, kept.Marks = t.Cuts, t.Marks
	kept.Kinds, kept.Levels, kept.LeftOut, kept.Blocks = t.Kinds, t.Levels, t.LeftOut, t.Blocks
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
		weigh(kept, weights)
	}
	return kept
}

// HideMCAR hides each observed cell with probability p, independently (missing completely at
// random). Hidden cells hold 0; rows without any value stay. It fails if p is outside [0, 1), if
// fewer than two rows keep a value, and with a *ColumnError if a column becomes constant or empty.
func HideMCAR(t *Table, p float64, rng *rand.Rand) (*Table, error) {
	if !(0 <= p && p < 1) {
		return nil, fmt.Errorf("the probability to hide a cell is %g, it must be at least 0 and less than 1", p)
	}
	if rng == nil {
		return nil, errors.New("hiding cells needs a generator of random numbers: rng is nil")
	}
	hidden := emptied(t, t.Names)
	hidden.Kinds, hidden.Levels, hidden.Blocks = t.Kinds, t.Levels, t.Blocks
	for k, seen := range t.Observed {
		if seen && rng.Float64() >= p {
			hidden.set(k/t.D, k%t.D, t.Values[k])
		}
	}
	if err := check(hidden); err != nil {
		return nil, fmt.Errorf("after hiding cells with probability %g: %w; hide fewer or take more rows", p, err)
	}
	return hidden, nil
}

// Patterns groups the given rows by their observed cells, in order of first rows.
func (t *Table) Patterns(rows []int) (groups [][]int) {
	place, key := map[string]int{}, make([]byte, (t.D+7)/8)
	for len(rows) > 0 {
		in := func(i int) []bool { return t.Observed[i*t.D : (i+1)*t.D] }
		observed, run := in(rows[0]), 1
		for run < len(rows) && slices.Equal(observed, in(rows[run])) {
			run++
		}
		clear(key)
		for j, seen := range observed {
			if seen {
				key[j/8] |= 1 << (j % 8)
			}
		}
		g, known := place[string(key)]
		if !known {
			g = len(groups)
			place[string(key)] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], rows[:run]...)
		rows = rows[run:]
	}
	return groups
}

// AllRows returns 0, …, N−1.
func (t *Table) AllRows() []int {
	rows := make([]int, t.N)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
