package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/internal/data/transform"
	"missingscore/internal/printable"
)

const (
	fewLevels      = 10 // whole numbers: possibly an ordinal scale
	veryFewLevels  = 4  // of other numbers
	leastForLevels = 30 // minimum number of cells
)

func fewValues(e *examined) []Finding {
	var found []int
	least, most := e.N, 0
	for j, c := range e.columns {
		levels := c.levels
		if e.explained[j] || e.ordinal(j) || e.natural(j) || c.cells < leastForLevels || !(levels <= veryFewLevels || c.whole && levels <= fewLevels) {
			continue
		}
		found = append(found, j)
		least, most = min(least, levels), max(most, levels)
	}
	if found == nil {
		return nil
	}
	names := e.names(found)
	count := fmt.Sprintf("%d", least)
	if most > least {
		count = fmt.Sprintf("%d to %d", least, most)
	}
	return []Finding{{Severity: Note, Columns: names, Message: fmt.Sprintf("%s %s only %s different values: %s; for ordered levels add %s, for categories %s",
		columnsText(names), plural(len(names), "has", "have"), count, plural(len(names), "it is treated as a number", "they are treated as numbers"), set("Spec.Transform=ordinal", names), set("ReadOptions.Nominal", names))}}
}

func limits(e *examined) []Finding {
	var found []int
	var shown []string
	for j, c := range e.columns {
		if c.limit == nil || e.explained[j] {
			continue
		}
		found = append(found, j)
		shown = append(shown, fmt.Sprintf("%s (%.4g, %d times)", e.Names[j], c.limit.value, c.limit.count))
	}
	if found == nil {
		return nil
	}
	names := e.names(found)
	return []Finding{{Severity: Note, Columns: names, Message: fmt.Sprintf("the smallest or largest value of %s is far more frequent than any other: %s; if it is a limit of detection, read it as missing (ReadOptions.NA) and declare it (Spec.Missingness, censored)",
		columnsText(names), list(shown))}}
}

// limit finds an end with 5 cells, 5 % of the cells and three times as many as any other value.
func (c column) limit() (k int, ok bool) {
	last := len(c.distinct) - 1
	if last < 2*fewLevels || c.whole {
		return 0, false
	}
	for _, k := range []int{0, last} {
		others := slices.Max(c.counts[1:last])
		others = max(others, c.counts[last-k])
		if n := c.counts[k]; n >= 5 && 20*n >= len(c.cells) && n >= 3*others {
			return k, true
		}
	}
	return 0, false
}

const (
	manyCategories = 12 // of an ordinal column; beyond this a number serves as well
	leastCategory  = 5  // cells of a category
)

func categories(e *examined) (found []Finding) {
	var many, thin []int
	for _, j := range e.Transform.Ordinal() {
		c := e.columns[j]
		if c.levels > manyCategories {
			many = append(many, j)
		}
		if c.fewest < leastCategory {
			thin = append(thin, j)
		}
	}
	if many != nil {
		names := e.names(many)
		found = append(found, Finding{Severity: Note, Columns: names, Message: fmt.Sprintf("%s %s more than %d categories (the maximum is %d): as %s (without Spec.Transform=ordinal) %s nearly the same result faster",
			columnsText(names), plural(len(names), "has", "have"), manyCategories, transform.MostCategories, plural(len(names), "a number", "numbers"), plural(len(names), "it gives", "they give"))})
	}
	if thin != nil {
		names := e.names(thin)
		found = append(found, Finding{Severity: Note, Columns: names, Message: fmt.Sprintf("%s %s a category with fewer than %d cells: its threshold and correlations are imprecise; merge it with a neighbouring category in the table",
			columnsText(names), plural(len(names), "has", "have"), leastCategory)})
	}
	return found
}

func noneCells(e *examined) []Finding {
	var names, counts []string
	for _, name := range e.Names {
		if n := e.Nones[name]; n > 0 {
			names = append(names, name)
			counts = append(counts, fmt.Sprintf("%d of %s", n, printable.Cell(name)))
		}
	}
	if names == nil {
		return nil
	}
	return []Finding{{Severity: Note, Columns: names, Message: fmt.Sprintf("cells None are read as missing (%s): if None is a level, list the marks of missing cells without it (ReadOptions.NA NA)", strings.Join(counts, ", "))}}
}

const leastIncreasing = 20 // rows, if only their order is evidence

func identifiers(e *examined) []Finding {
	var found []int
	for j, c := range e.columns {
		if c.identifier {
			found = append(found, j)
			e.explained[j] = true
		}
	}
	if found == nil {
		return nil
	}
	names := e.names(found)
	first := e.columns[found[0]].first
	return []Finding{{Severity: Warning, Columns: names, LeaveOut: names, Message: fmt.Sprintf("%s %s (%.6g, %.6g, …: all different): an identifier or a time, not a measurement; leave %s out (%s)",
		columnsText(names), plural(len(names), "counts or names the rows", "count or name the rows"), first[0], first[1], plural(len(names), "it", "them"), set("ReadOptions.Exclude", names))}}
}

// identifies reports whether all cells differ and are equally spaced, or are whole numbers that
// increase, are dense or have an identifier's name.
func (c column) identifies(name string) bool {
	n := len(c.cells)
	if n < data.LeastIdentifiers || len(c.distinct) < n {
		return false
	}
	increasing := slices.Equal(c.cells, c.distinct)
	span := c.distinct[n-1] - c.distinct[0]
	if increasing && c.even(span/float64(n-1)) {
		return true
	}
	// n whole numbers among w are all distinct with probability about exp(−n²/2w).
	crowded := float64(n)*float64(n) > 14*(span+1)
	return c.whole && (increasing && n >= leastIncreasing || crowded || data.IdentifierName(name))
}

func (c column) even(step float64) bool {
	for k := 1; k < len(c.distinct); k++ {
		if math.Abs(c.distinct[k]-c.distinct[k-1]-step) > 1e-6*step {
			return false
		}
	}
	return true
}
