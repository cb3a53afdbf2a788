package transform

import (
	"cmp"
	"slices"
)

// share is a value of a column with the sum of the weights of the cells that have it.
type share struct{ value, weight float64 }

// shares are those of the distinct values of x, increasing, and of all cells together; weights
// nil for ones.
func shares(x, weights []float64) (of []share, total float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for _, i := range order {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		if n := len(of); n == 0 || of[n-1].value != x[i] {
			of = append(of, share{value: x[i]})
		}
		of[len(of)-1].weight += w
		total += w
	}
	return of, total
}
