package diagnose

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// Dependent is the least set of the columns of a correlation matrix of which one is a
// combination of the others but for a share of its variance of most or less, that one first;
// nil if there is none. Of more than 150 columns none is looked for.
func Dependent(r *mat.SymDense, most float64) []int {
	all := make([]int, r.SymmetricDim())
	for j := range all {
		all[j] = j
	}
	if len(all) > mostDependent {
		return nil
	}
	if share, _ := unexplained(r, all); share > most {
		return nil
	}
	return leastSet(r, most, 0)
}

// exactShare of a variance is what rounding leaves, squared.
const exactShare = 1e-20

// Exact counts the rows that have all of the columns, the first of which is said to be a
// combination of the others, and says whether these rows leave room for it to be one
// exactly: whether all meet it but for rounding, as any rows do that are no more than the columns.
func Exact(t *data.Table, columns []int) (rows int, exact bool) {
	x := make([][]float64, len(columns))
	for i := range t.N {
		cells := t.Observed[i*t.D : (i+1)*t.D]
		if slices.ContainsFunc(columns, func(j int) bool { return !cells[j] }) {
			continue
		}
		rows += int(t.Count(i) + 0.5)
		for k, j := range columns {
			x[k] = append(x[k], t.Values[i*t.D+j])
		}
	}
	if rows <= len(columns) {
		return rows, true
	}
	_, _, share := regress(x[0], x[1:])
	return rows, share <= exactShare
}
