package data

import (
	"math"
	"slices"
)

// PairCounts is how many rows have both columns of each pair j < k: (0,1), (0,2), …
func (t *Table) PairCounts() []int {
	if t.Sampled != nil {
		return slices.Clone(t.Sampled.Pairs)
	}
	count := make([]float64, t.D*t.D)
	if t.Counted != nil && t.Counted.Pairs != nil {
		copy(count, t.Counted.Pairs.Number)
	}
	for i := range t.N {
		once := t.Count(i)
		seen := t.Observed[i*t.D : (i+1)*t.D]
		for j, a := range seen {
			for k := j + 1; a && k < t.D; k++ {
				if seen[k] {
					count[j*t.D+k] += once
				}
			}
		}
	}
	var out []int
	for j := range t.D {
		for _, n := range count[j*t.D+j+1 : (j+1)*t.D] {
			out = append(out, int(math.Round(n)))
		}
	}
	return out
}

// NeverTogether are the pairs of columns j < k that no row has both of.
func (t *Table) NeverTogether() (pairs [][2]int) {
	if t.Counted == nil && t.everyPair() {
		return nil
	}
	if t.Counted == nil && t.Sampled == nil && t.Weights == nil {
		return t.apart()
	}
	counts := t.PairCounts()
	i := 0
	for j := range t.D {
		for k := j + 1; k < t.D; k++ {
			if counts[i] == 0 {
				pairs = append(pairs, [2]int{j, k})
			}
			i++
		}
	}
	return pairs
}

// apart is NeverTogether by a bit for each row that has a column.
func (t *Table) apart() (pairs [][2]int) {
	words := (t.N + 63) / 64
	rows := make([]uint64, t.D*words)
	for i := range t.N {
		for j, seen := range t.Observed[i*t.D : (i+1)*t.D] {
			if seen {
				rows[j*words+i/64] |= 1 << (i % 64)
			}
		}
	}
	for j := range t.D {
		a := rows[j*words : (j+1)*words]
		for k := j + 1; k < t.D; k++ {
			if !meet(a, rows[k*words:(k+1)*words]) {
				pairs = append(pairs, [2]int{j, k})
			}
		}
	}
	return pairs
}

// meet tells whether two sets of rows have one in common.
func meet(a, b []uint64) bool {
	for i, word := range a {
		if word&b[i] != 0 {
			return true
		}
	}
	return false
}

// everyPair tells whether one of the first rows has every column, and so all pairs.
func (t *Table) everyPair() bool {
	const first = 1000
	for i := range min(t.N, first) {
		if !slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			return true
		}
	}
	return false
}
