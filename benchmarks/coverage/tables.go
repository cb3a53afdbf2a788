package coverage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

// tables have a line for each setting and kind.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	t := markdown.Table{Name: "coverage", Header: []string{"rows", "missing", "d", "n", "inference", "edges", "others", "SE/error, edges", "others", "bias of edges", "null p", "found", "false", "warned", "tables", "seconds", "of the path"}}
	s.each(func(c setting) {
		for _, kind := range c.Kinds {
			m, fault := c.read(r, kind)
			if err = cmp.Or(err, fault); fault != nil || len(m.found) == 0 {
				continue
			}
			t.Lines = append(t.Lines, []string{c.Name, c.law.Name, strconv.Itoa(c.columns), strconv.Itoa(c.rows), kind,
				share(m.edges), share(m.others), ratio(m.edgeSE, m.edgeError), ratio(m.otherSE, m.otherError), markdown.Signed("%+.3f", mean(m.bias)),
				fmt.Sprintf("%.2g", uniform(m.null)), fmt.Sprintf("%.1f", mean(m.found)), share(m.wrong), fmt.Sprintf("%.2f", mean(m.warned)), strconv.Itoa(len(m.found)),
				fmt.Sprintf("%.2g", mean(m.seconds)), fmt.Sprintf("%.2g", mean(m.path))})
		}
	})
	return []markdown.Table{t}, err
}

// measures are a setting's numbers by a kind, one of each table.
type measures struct {
	edges, others, edgeError, otherError, edgeSE, otherSE, bias, null, found, wrong, warned, seconds, path []float64
}

func (c setting) read(r cells.Results, kind string) (m measures, err error) {
	of, err := r.Only(map[string]string{designColumn: c.Name, lawColumn: c.law.Name, columnsColumn: strconv.Itoa(c.columns), rowsColumn: strconv.Itoa(c.rows), kindColumn: kind})
	if err != nil {
		return m, err
	}
	lines, err := of.Values(edgeCoverColumn, otherCoverColumn, edgeErrorColumn, otherErrorColumn, edgeSEColumn, otherSEColumn, biasColumn, nullColumn, foundColumn, falseColumn, warnedColumn, secondsColumn, pathColumn)
	if err != nil {
		return m, err
	}
	to := []*[]float64{&m.edges, &m.others, &m.edgeError, &m.otherError, &m.edgeSE, &m.otherSE, &m.bias, &m.null, &m.found, &m.wrong, &m.warned, &m.seconds, &m.path}
	for _, line := range lines {
		for i, word := range line {
			v := math.NaN()
			if word != "-" {
				if v, err = strconv.ParseFloat(word, 64); err != nil {
					return m, fmt.Errorf("design %s: %w", c.Name, err)
				}
			}
			*to[i] = append(*to[i], v)
		}
	}
	return m, nil
}

// numbers are those that are there.
func numbers(x []float64) []float64 { return slices.DeleteFunc(slices.Clone(x), math.IsNaN) }

func mean(x []float64) float64 { return stat.Mean(numbers(x), nil) }

// share is the mean of shares with its 95 % t-interval over the tables, for the pairs of one
// table are not independent.
func share(x []float64) string {
	x = numbers(x)
	if len(x) < 2 {
		return ""
	}
	m, half := claims.MeanInterval(x)
	return fmt.Sprintf("%.3f ± %.3f", m, half)
}

// ratio is the root mean square standard error in units of that of the errors.
func ratio(se, errors []float64) string {
	squares := func(x []float64) (sum float64) {
		for _, v := range numbers(x) {
			sum += v * v
		}
		return sum
	}
	return fmt.Sprintf("%.2f", math.Sqrt(squares(se)/squares(errors)))
}

// uniform is the p value of the test of Kolmogorov and Smirnov that p values, one of each table
// and so independent, are uniform on (0, 1): with D the largest distance of distribution
// functions and x = (√n + 0.12 + 0.11/√n) D (Stephens 1970),
//
//	p = 2 Σ_k (−1)^(k−1) exp(−2k²x²)
func uniform(p []float64) float64 {
	p = numbers(p)
	slices.Sort(p)
	n := float64(len(p))
	most := 0.0
	for i, v := range p {
		most = max(most, v-float64(i)/n, float64(i+1)/n-v)
	}
	x := (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * most
	if x < 0.3 { // where the sum is slow, it is 1 to four digits
		return 1
	}
	sum := 0.0
	for k := 1.; k <= 100; k++ {
		sum += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*x*x)
	}
	return min(1, max(0, sum))
}
