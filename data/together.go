package data

// NeverTogether are the pairs of columns j < k that no row has both of.
func (t *Table) NeverTogether() (pairs [][2]int) {
	together := make([]bool, t.D*t.D)
	for i := range t.N {
		seen := t.Observed[i*t.D : (i+1)*t.D]
		for j, a := range seen {
			for k := j + 1; a && k < t.D; k++ {
				together[j*t.D+k] = together[j*t.D+k] || seen[k]
			}
		}
	}
	for j := range t.D {
		for k := j + 1; k < t.D; k++ {
			if !together[j*t.D+k] {
				pairs = append(pairs, [2]int{j, k})
			}
		}
	}
	return pairs
}

// Together is how many rows have both of two columns.
func (t *Table) Together(j, k int) (rows int) {
	for i := range t.N {
		if t.Observed[i*t.D+j] && t.Observed[i*t.D+k] {
			rows++
		}
	}
	return rows
}
