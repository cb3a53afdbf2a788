package mcar

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
)

type association struct {
	predictor int
	square    float64 // (N − 1) r², χ² with one degree of freedom under independence
	low       bool    // the predictor is low in rows that lack the column
}

func predictors(single []association) (columns []int) {
	for _, a := range single {
		columns = append(columns, a.predictor)
	}
	return columns
}

// single tests each usable predictor of column j. With r the correlation of its ranks with "j is
// missing" in the N rows that have it, (N − 1) r² is the squared standardised Wilcoxon rank sum
// with ties. Nominal columns are excluded.
func (w *work) single(j int) (out []association) {
	var lack []int // rows without j
	for i := range w.table.N {
		if !w.seen(i, j) {
			lack = append(lack, i)
		}
	}
	for k := range w.table.D {
		if k == j || data.KindOf(w.table, k) == data.Nominal {
			continue
		}
		ranks, sum, gone := w.ranks[k](), 0.0, 0
		for _, i := range lack {
			if w.seen(i, k) {
				sum += ranks.of[i]
				gone++
			}
		}
		squares, all := ranks.squares, ranks.rows
		if min(gone, all-gone) < leastRows {
			continue
		}
		variance := squares / float64(all-1) * float64(gone) * float64(all-gone) / float64(all)
		out = append(out, association{k, sum * sum / variance, sum < 0})
	}
	return out
}

type ranked struct {
	of      []float64 // by row; 0 if missing
	rows    int       // that have it
	squares float64   // sum of squares
}

func (w *work) rank(k int) *ranked {
	t := w.table
	rows := make([]int32, 0, t.N)
	for i := range t.N {
		if w.seen(i, k) {
			rows = append(rows, int32(i))
		}
	}
	value := func(i int32) float64 { return t.Values[int(i)*t.D+k] }
	slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(value(a), value(b)) })
	ranks := make([]float64, t.N)
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && value(rows[to]) == value(rows[from]) {
			to++
		}
		for _, i := range rows[from:to] {
			ranks[i] = float64(from+to-1)/2 - float64(len(rows)-1)/2
		}
		from = to
	}
	out := &ranked{of: ranks, rows: len(rows)}
	for _, r := range ranks {
		out.squares += r * r
	}
	return out
}

func survival(x float64) float64 {
	return distuv.ChiSquared{K: 1}.Survival(max(x, 0))
}
