package data

import "slices"

// Patterns are the given rows by which of their cells are observed: a group for each pattern,
// in the order of their first rows, and in each the rows in their order.
func (t *Table) Patterns(rows []int) (groups [][]int) {
	place, key := map[string]int{}, make([]byte, (t.D+7)/8)
	for len(rows) > 0 {
		observed, run := t.observedIn(rows[0]), 1
		for run < len(rows) && slices.Equal(observed, t.observedIn(rows[run])) {
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

// observedIn tells which cells of row i are observed.
func (t *Table) observedIn(i int) []bool { return t.Observed[i*t.D : (i+1)*t.D] }

// AllRows are the numbers of all rows.
func (t *Table) AllRows() []int {
	rows := make([]int, t.N)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
