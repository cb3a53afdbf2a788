package diagnose

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"missingscore/data"
)

// conventional lists numbers that files use, with either sign, for missing values.
var conventional = []float64{
	77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 77777, 88888, 99997, 99998, 99999, 999999, 9999999,
	99.9, 99.99, 999.9, 999.99, 9999.9,
}

var conventionalBelow = []float64{-1, -2, -3, -7, -8, -9}

type code struct {
	frequent
	unsure bool // may be a measurement: only a note
}

// codes warns of conventional or repeated numbers far outside the rest; possible measurements are notes.
func codes(e *examined) (findings []Finding) {
	marks := []string{"NA"} // of every warning: one setting reads all of them
	values, in := map[bool][]float64{}, map[float64][]int{}
	for j, c := range e.columns {
		for _, code := range c.codes {
			if v := code.value; !slices.Contains(values[code.unsure], v) {
				values[code.unsure] = append(values[code.unsure], v)
			}
			in[code.value] = append(in[code.value], j)
			e.explained[j] = e.explained[j] || !code.unsure
		}
	}
	slices.Sort(values[false])
	slices.Sort(values[true])
	for _, v := range values[false] {
		marks = append(marks, data.FormatNumber(v))
	}
	for _, v := range values[false] {
		findings = append(findings, e.codeFinding(v, in[v], marks, false))
	}
	for _, v := range values[true] {
		if !slices.Contains(values[false], v) {
			findings = append(findings, e.codeFinding(v, in[v], append(slices.Clone(marks), data.FormatNumber(v)), true))
		}
	}
	return findings
}

func (e *examined) codeFinding(v float64, in []int, marks []string, unsure bool) Finding {
	var where []string
	for _, j := range in {
		for _, code := range e.columns[j].codes {
			if code.value == v {
				where = append(where, fmt.Sprintf("%s (%s)", e.Names[j], times(code.count)))
			}
		}
	}
	advice := fmt.Sprintf("read it as missing (%s, as written in the file)", set("ReadOptions.NA", marks))
	others := e.holding(v, in)
	if len(others) > 0 {
		advice = fmt.Sprintf("replace it by NA in the file, because %s would also remove the %s of %s", set("ReadOptions.NA", marks), data.FormatNumber(v), list(others))
	}
	f := Finding{Severity: Warning, Columns: e.names(in)}
	if len(others) == 0 && !unsure {
		f.Missing = marks
	}
	what := "is far outside the other values of"
	switch {
	case unsure && v < 0:
		f.Severity, what = Note, "is the only negative value of"
	case unsure:
		f.Severity, what = Note, "is apart from the other values of"
	case !named(v) && !slices.Contains(conventionalBelow, v):
		advice += "; for a limit of detection, also declare it (Spec.Missingness, censored)"
	}
	f.Message = fmt.Sprintf("%s %s %s: if it marks a missing cell, %s", data.FormatNumber(v), what, list(where), advice)
	return f
}

// holding names the columns, without those in but, that have a cell of this value.
func (e *examined) holding(v float64, but []int) (names []string) {
	for j, c := range e.columns {
		if !slices.Contains(but, j) && c.cells > 0 && c.low <= v && v <= c.high && slices.Contains(e.column(e.Table, j), v) {
			names = append(names, e.Names[j])
		}
	}
	return names
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

const leastLong = 5

func (c column) codes() (found []code) {
	at := map[int]bool{} // candidates among the distinct values
	for _, v := range conventional {
		c.mark(at, v)
		c.mark(at, -v)
	}
	for _, v := range conventionalBelow {
		c.mark(at, v)
	}
	top := c.topCodes(c.between(at))
	ends := maps.Clone(at)
	for _, k := range []int{0, len(c.distinct) - 1} {
		if c.counts[k] >= 3 {
			ends[k] = true
		}
	}
	long := len(c.distinct)-len(ends) >= leastLong
	if long {
		at = ends
	} else if len(c.distinct)-len(at) < 2 || c.symmetric() {
		return top
	}
	low, high := c.between(at)
	if !long {
		low, high = c.joined(at, low, high)
	}
	tail := long && low > 0 && c.distinct[low-1] >= -3 && c.tail(low-1, c.distinct[high])
	// Counts have their mode at 0 more often than differences do.
	only := tail && low == 1 && c.distinct[0] == -1 && c.distinct[1] == 0 && c.counts[0] >= 3 && c.counts[1] == slices.Max(c.counts)
	for _, k := range slices.Sorted(maps.Keys(at)) {
		near := tail && -3 <= c.distinct[k] && c.distinct[k] < 0
		if c.outlies(k, c.distinct[low], c.distinct[high], long) && (!near || only) {
			found = append(found, code{frequent{c.distinct[k], c.counts[k]}, near})
		}
	}
	return append(found, top...)
}

// between returns the first and last distinct value that is not a candidate; low > high if all are.
func (c column) between(at map[int]bool) (low, high int) {
	for high = len(c.distinct) - 1; high >= 0 && at[high]; high-- {
	}
	for low < high && at[low] {
		low++
	}
	return low, high
}

func (c column) symmetric() bool {
	for k, v := range c.distinct {
		if c.distinct[len(c.distinct)-1-k] != -v {
			return false
		}
	}
	return true
}

// joined extends a short scale by near candidates at its ends: -1 joins 0, 1 and 97 joins 95, 96.
func (c column) joined(at map[int]bool, low, high int) (int, int) {
	step, before := 0.0, low
	for k := low + 1; k <= high; k++ {
		if !at[k] {
			step, before = max(step, c.distinct[k]-c.distinct[before]), k
		}
	}
	for low > 0 && c.distinct[low]-c.distinct[low-1] <= step {
		low--
	}
	for high < len(c.distinct)-1 && c.distinct[high+1]-c.distinct[high] <= step {
		high++
	}
	return low, high
}

// tail reports whether value k, the nearest below the others, may be the end of their tail: close,
// and not much more frequent than log-concavity allows, n(k) n(k+2) ≤ n(k+1)².
func (c column) tail(k int, high float64) bool {
	n, next, after := float64(c.counts[k]), float64(c.counts[k+1]), float64(c.counts[k+2])
	most := min(next, next*next/after)
	return c.distinct[k+1]-c.distinct[k] <= max(2, high/8) && n <= max(3*(most+1), most+2*math.Sqrt(n+most+1))
}

// topCodes finds 7, 8 and 9 at least 3 above a scale of consecutive whole numbers from 0 or 1.
func (c column) topCodes(low, high int) (found []code) {
	if low >= high || !c.whole || len(c.cells) < leastForLevels || c.distinct[low] < 0 || c.distinct[low] > 1 || c.distinct[high] > 9 {
		return nil
	}
	top := low
	for top < high && c.distinct[top+1] == c.distinct[top]+1 {
		top++
	}
	if top == low || top == high || c.distinct[top+1] < max(7, c.distinct[top]+3) || c.counts[top] < 5 { // the largest counts are rare
		return nil
	}
	for k := top + 1; k <= high; k++ {
		if c.counts[k] >= 3 {
			found = append(found, code{frequent{c.distinct[k], c.counts[k]}, true})
		}
	}
	return found
}

func named(v float64) bool { return slices.Contains(conventional, math.Abs(v)) }

func (c column) mark(at map[int]bool, v float64) {
	if k, found := slices.BinarySearch(c.distinct, v); found {
		at[k] = true
	}
}

// outlies judges value k beside values from low to high. Beside a short scale only conventional
// numbers qualify, or the only negative value.
func (c column) outlies(k int, low, high float64, long bool) bool {
	v, n := c.distinct[k], c.counts[k]
	gap := max(low-v, v-high) / (high - low)
	below := v < 0 && low >= 0 && (named(v) || slices.Contains(conventionalBelow, v))
	switch {
	case gap <= 0:
		return false
	case below && n >= 2 && c.whole, named(v) && n >= 2 && gap >= 1, named(v) && gap >= 3:
		return true
	case long && named(v) && n >= 3 && gap >= 0.2:
		for k, v := range c.distinct {
			if low <= v && v <= high && c.counts[k] >= n {
				return false
			}
		}
		return true
	}
	return n >= 3 && gap >= 2
}
