package data

import "bytes"

// Patterns are the given rows by which of their cells are observed: a group for each pattern,
// in the order of their first rows, and in each the rows in their order.
func (t *Table) Patterns(rows []int) (groups [][]int) {
	place, last := map[string]int{}, -1
	key, before := make([]byte, (t.D+7)/8), make([]byte, (t.D+7)/8)
	for _, i := range rows {
		clear(key)
		for j, seen := range t.Observed[i*t.D : (i+1)*t.D] {
			if seen {
				key[j/8] |= 1 << (j % 8)
			}
		}
		g := last
		if g < 0 || !bytes.Equal(key, before) {
			known := false
			if g, known = place[string(key)]; !known {
				g = len(groups)
				place[string(key)] = g
				groups = append(groups, nil)
			}
			last = g
			key, before = before, key
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// AllRows are the numbers of all rows.
func (t *Table) AllRows() []int {
	rows := make([]int, t.N)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
