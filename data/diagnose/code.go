package diagnose

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"missingscore/data"
)

// conventional are numbers that files hold in place of missing values, as are their negatives.
var conventional = []float64{
	77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 77777, 88888, 99997, 99998, 99999, 999999, 9999999,
	99.9, 99.99, 999.9, 999.99, 9999.9,
}

// conventionalBelow are more of them, where no other value is negative.
var conventionalBelow = []float64{-1, -2, -3, -7, -8, -9}

// codes warns of numbers that seem to stand for missing cells: far outside the rest, and
// repeated or conventional.
func codes(e *examined) []Finding {
	var values []float64
	in, where := map[float64][]int{}, map[float64][]string{}
	for j, c := range e.columns {
		for _, code := range c.codes {
			v := code.value
			if in[v] == nil {
				values = append(values, v)
			}
			in[v] = append(in[v], j)
			where[v] = append(where[v], fmt.Sprintf("%s (%s)", e.Names[j], times(code.count)))
			e.explained[j] = true
		}
	}
	var findings []Finding
	slices.Sort(values)
	for _, v := range values {
		mark := data.FormatNumber(v)
		advice := fmt.Sprintf("read it as one (--na NA,%s, written as in the file, with its other marks)", mark)
		if !slices.Contains(conventional, math.Abs(v)) && !slices.Contains(conventionalBelow, v) {
			advice += "; if it is a limit of detection, say that too (--missingness, censored)"
		}
		findings = append(findings, Finding{Severity: Warning, Columns: e.names(in[v]),
			Message: fmt.Sprintf("%s stands far outside the other values of %s: if it marks a missing cell, %s", mark, list(where[v]), advice)})
	}
	return findings
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (c column) count(v float64) int {
	k, found := slices.BinarySearch(c.distinct, v)
	if !found {
		return 0
	}
	return c.counts[k]
}

// codes are the values of a column that seem to mark missing cells.
func (c column) codes() (codes []float64) {
	at := map[int]bool{} // places of candidates among the different values
	for _, v := range conventional {
		c.mark(at, v)
		c.mark(at, -v)
	}
	for _, v := range conventionalBelow {
		c.mark(at, v)
	}
	for _, k := range []int{0, len(c.distinct) - 1} {
		if c.counts[k] >= 3 {
			at[k] = true
		}
	}
	rest, low, high := len(c.distinct)-len(at), 0, len(c.distinct)-1 // places of the least and the largest that are none
	const leastRest = 5                                              // which have a width
	if rest < leastRest {
		return nil
	}
	for at[low] {
		low++
	}
	for at[high] {
		high--
	}
	for _, k := range slices.Sorted(maps.Keys(at)) {
		if v := c.distinct[k]; c.outlies(v, c.distinct[low], c.distinct[high]) {
			codes = append(codes, v)
		}
	}
	return codes
}

// mark adds the place of a value, if there is one.
func (c column) mark(at map[int]bool, v float64) {
	if k, found := slices.BinarySearch(c.distinct, v); found {
		at[k] = true
	}
}

// outlies says whether v is a code beside values from low to high: by its distance from them,
// in units of their width, and how often it stands there.
func (c column) outlies(v, low, high float64) bool {
	n := c.count(v)
	gap := max(low-v, v-high) / (high - low)
	named := slices.Contains(conventional, math.Abs(v))
	below := v < 0 && low >= 0 && (named || slices.Contains(conventionalBelow, v))
	switch {
	case gap <= 0:
		return false
	case below && n >= 2 && c.whole, named && n >= 2 && gap >= 1, named && gap >= 3:
		return true
	case named && n >= 3 && gap >= 0.2:
		return n > c.mostBetween(low, high)
	}
	return n >= 3 && gap >= 2
}

// mostBetween is how often the most frequent of the values from low to high stands there.
func (c column) mostBetween(low, high float64) (most int) {
	for k, v := range c.distinct {
		if low <= v && v <= high {
			most = max(most, c.counts[k])
		}
	}
	return most
}
