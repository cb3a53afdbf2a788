package mcar

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"missingscore/data"
)

// Share is how often a column is missing in each of two groups of rows.
type Share struct {
	Name    string
	Missing [2]int // rows without it, by group
	Rows    [2]int
	// P is of Fisher's exact test of equal shares; Corrected is Holm's correction.
	P, Corrected float64
}

func (s Share) Differs() bool { return s.Corrected < level }

// Shares compares how often each column of two tables is missing, for columns with missing cells.
func Shares(a, b *data.Table) (out []Share) {
	var columns []Column
	for j, name := range a.Names {
		s := Share{Name: name, Rows: [2]int{a.N, b.N}, Missing: [2]int{a.N - len(a.Column(j)), b.N - len(b.Column(j))}}
		if s.Missing[0]+s.Missing[1] == 0 {
			continue
		}
		s.P = fisherExact(s.Missing[0], s.Rows[0], s.Missing[1], s.Rows[1])
		out, columns = append(out, s), append(columns, Column{P: s.P})
	}
	holm(columns)
	for i, c := range columns {
		out[i].Corrected = c.Corrected
	}
	return out
}

func (s Share) String() string {
	share := func(i int) float64 { return 100 * float64(s.Missing[i]) / float64(s.Rows[i]) }
	return fmt.Sprintf("%s is missing in %.3g %% and %.3g %% of the rows (p %s)", s.Name, share(0), share(1), FormatP(s.Corrected))
}

// fisherExact is the two-sided p value of Fisher's exact test for x of n and y of m: the sum of P
// over all x at most as probable as the observed one, with k = x + y and
//
//	P(x) = C(n, x) C(m, k − x) / C(n + m, k)
func fisherExact(x, n, y, m int) float64 {
	k := x + y
	low, high := max(0, k-m), min(n, k)
	logs := make([]float64, 0, high-low+1)
	for i := low; i <= high; i++ {
		logs = append(logs, combin.LogGeneralizedBinomial(float64(n), float64(i))+combin.LogGeneralizedBinomial(float64(m), float64(k-i)))
	}
	top, observed := slices.Max(logs), logs[x-low]
	sum, all := 0.0, 0.0
	for _, l := range logs {
		v := math.Exp(l - top)
		all += v
		if l <= observed+1e-7 { // equal up to rounding, as in R's fisher.test
			sum += v
		}
	}
	return min(1, sum/all)
}
