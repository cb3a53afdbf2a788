package mcar

import (
	"fmt"
	"math"
	"slices"

	"missingscore/data"
)

// Share is how often a column is missing in each of two groups of rows.
type Share struct {
	Name    string
	Missing [2]int // rows that lack it, of each group
	Rows    [2]int
	// P is that of Fisher's exact test of equal shares; Corrected is P by Holm's correction
	// for the number of columns with gaps.
	P, Corrected float64
}

// Differs says that the groups' shares differ.
func (s Share) Differs() bool { return s.Corrected < level }

// Shares compares two tables of the same columns by how often each column is missing:
// columns with gaps in either, in their order. It sees only how many cells are missing, not
// which: the patterns may differ where shares do not.
func Shares(a, b *data.Table) (out []Share) {
	var columns []Column
	for j, name := range a.Names {
		s := Share{Name: name, Rows: [2]int{a.N, b.N}, Missing: [2]int{missing(a, j), missing(b, j)}}
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

// String says of a column which share of it is missing where.
func (s Share) String() string {
	share := func(i int) float64 { return 100 * float64(s.Missing[i]) / float64(s.Rows[i]) }
	return fmt.Sprintf("%s is missing in %.3g %% and %.3g %% of the rows (p %s)", s.Name, share(0), share(1), FormatP(s.Corrected))
}

// fisherExact is the two-sided p of Fisher's exact test that x of n and y of m are equal
// shares: with k = x + y given, x is hypergeometric,
//
//	P(x) = C(n, x) C(m, k − x) / C(n + m, k),
//
// and p is the sum of P over all x that are no more probable than the observed one (Fisher 1935).
func fisherExact(x, n, y, m int) float64 {
	k := x + y
	low, high := max(0, k-m), min(n, k)
	logs := make([]float64, 0, high-low+1)
	for i := low; i <= high; i++ {
		logs = append(logs, logBinomial(n, i)+logBinomial(m, k-i))
	}
	top, observed := slices.Max(logs), logs[x-low]
	sum, all := 0.0, 0.0
	for _, l := range logs {
		v := math.Exp(l - top)
		all += v
		if l <= observed+1e-7 { // equal but for rounding, as R's fisher.test has it
			sum += v
		}
	}
	return min(1, sum/all)
}

func logBinomial(n, k int) float64 {
	logFactorial := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}
