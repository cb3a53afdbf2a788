package data

// Patterns are the given rows by which of their cells are observed: a group for each pattern,
// in the order of their first rows, and in each the rows in their order.
func (t *Table) Patterns(rows []int) (groups [][]int) {
	place, key := map[string]int{}, make([]byte, t.D)
	for _, i := range rows {
		for j, seen := range t.Observed[i*t.D : (i+1)*t.D] {
			key[j] = 0
			if seen {
				key[j] = 1
			}
		}
		g, known := place[string(key)]
		if !known {
			g = len(groups)
			place[string(key)] = g
			groups = append(groups, nil)
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
