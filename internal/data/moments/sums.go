package moments

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/internal/memory"
)

// sums holds Σ_i y_ia y_ib over rows i, a ≤ b, of c columns, with compensated summation of blocks
// (A. Neumaier 1974, Zeitschrift für Angewandte Mathematik und Mechanik 54).
type sums struct {
	c         int
	sum, rest []float64 // (c(c + 1)/2): a sum is sum + rest
}

func newSums(c int) *sums {
	return &sums{c: c, sum: make([]float64, pairs(c)), rest: make([]float64, pairs(c))}
}

func pairs(c int) int { return c * (c + 1) / 2 }

func (s *sums) at(a, b int) float64 {
	a, b = min(a, b), max(a, b)
	i := a*s.c - a*(a-1)/2 + b - a
	return s.sum[i] + s.rest[i]
}

func (s *sums) plus(i int, x float64) {
	t := s.sum[i] + x
	if math.Abs(s.sum[i]) >= math.Abs(x) {
		s.rest[i] += s.sum[i] - t + x
	} else {
		s.rest[i] += x - t + s.sum[i]
	}
	s.sum[i] = t
}

func (s *sums) addRows(rows []float64) {
	if len(rows) == 0 {
		return
	}
	y := mat.NewDense(len(rows)/s.c, s.c, rows)
	var products mat.Dense
	products.Mul(y.T(), y)
	for a, i := 0, 0; a < s.c; a++ {
		for _, x := range products.RawRowView(a)[a:] {
			s.plus(i, x)
			i++
		}
	}
}

func (s *sums) merge(other *sums) {
	for i := range other.sum {
		s.plus(i, other.sum[i])
		s.rest[i] += other.rest[i]
	}
}

// moved returns the sums of y_a + by_a y_one(a), where one(a) is 1 in the rows that have a.
func (s *sums) moved(by []float64, one func(a int) int) *sums {
	out := newSums(s.c)
	for a, i := 0, 0; a < s.c; a++ {
		for b := a; b < s.c; b++ {
			out.sum[i] = s.at(a, b)
			if by[a] != 0 || by[b] != 0 {
				out.sum[i] += by[b]*s.at(a, one(b)) + by[a]*s.at(one(a), b) + by[a]*by[b]*s.at(one(a), one(b))
			}
			i++
		}
	}
	return out
}

const sumBytes = 16

func checkRoom(sums int, what string, args ...any) error {
	return memory.Check(sumBytes*float64(sums), "leave columns out (ReadOptions.Columns, ReadOptions.Exclude), or use moments.Options.Pairs if there are many missing-data patterns", what, args...)
}
