package diagnose

import (
	"fmt"
	"maps"
	"math"
	"regexp"
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
	least, most := e.N, 0
	found := e.where(func(j int, c summary) bool {
		few := c.cells >= leastForLevels && (c.levels <= veryFewLevels || c.whole && c.levels <= fewLevels)
		if !few || e.ordinal(j) || e.natural(j) {
			return false
		}
		least, most = min(least, c.levels), max(most, c.levels)
		return true
	})
	count := fmt.Sprint(least)
	if most > least {
		count = fmt.Sprintf("%d to %d", least, most)
	}
	names := e.names(found)
	return e.finding(Note, found, "{columns} {has|have} only %s different values: {it is treated as a number|they are treated as numbers}; for ordered levels add %s, for categories %s",
		count, set("Spec.Transform=ordinal", names), set("ReadOptions.Nominal", names))
}

func limits(e *examined) []Finding {
	var shown []string
	found := e.where(func(j int, c summary) bool {
		if c.limit != nil {
			shown = append(shown, fmt.Sprintf("%s (%.4g, %d times)", e.Names[j], c.limit.value, c.limit.count))
		}
		return c.limit != nil
	})
	return e.finding(Note, found, "the smallest or largest value of {columns} is far more frequent than any other: %s; if it is a limit of detection, read it as missing (ReadOptions.NA) and declare it (Spec.Missingness, censored)", list(shown))
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

func categories(e *examined) []Finding {
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
	return append(e.finding(Note, many, "{columns} {has|have} more than %d categories (the maximum is %d): as {a number|numbers} (without Spec.Transform=ordinal) {it gives|they give} nearly the same result faster", manyCategories, transform.MostCategories),
		e.finding(Note, thin, "{columns} {has|have} a category with fewer than %d cells: its threshold and correlations are imprecise; merge it with a neighbouring category in the table", leastCategory)...)
}

func markedCells(e *examined) (findings []Finding) {
	found, counts := map[string][]int{}, map[string][]string{} // by mark
	for j, name := range e.Names {
		if m := e.Marks[name]; m.Cells > 0 {
			found[m.Text] = append(found[m.Text], j)
			counts[m.Text] = append(counts[m.Text], fmt.Sprintf("%d of %s", m.Cells, printable.Cell(name)))
		}
	}
	for _, text := range slices.Sorted(maps.Keys(found)) {
		of := strings.Join(counts[text], ", ")
		if text == "None" {
			findings = append(findings, e.finding(Note, found[text], "cells None are read as missing (%s): if None is a level, list the marks of missing cells without it (ReadOptions.NA NA)", of)...)
			continue
		}
		findings = append(findings, e.finding(Note, found[text], "cells %s are read as missing (%s): the column's other cells are numbers; ReadOptions.Strict refuses them", printable.Cell(text), of)...)
	}
	return findings
}

const leastIncreasing = 20 // rows, if only their order is evidence

func identifiers(e *examined) []Finding {
	found := e.where(func(_ int, c summary) bool { return c.identifier })
	if found == nil {
		return nil
	}
	for _, j := range found {
		e.explained[j] = true
	}
	names, first := e.names(found), e.columns[found[0]].first
	f := e.finding(Warning, found, "{columns} {counts or names the rows|count or name the rows} (%.6g, %.6g, …: all different): an identifier or a time, not a measurement; leave {it|them} out (%s)", first[0], first[1], set("ReadOptions.Exclude", names))
	f[0].LeaveOut = names
	return f
}

var personName = regexp.MustCompile(`(?i)^(person|participant|respondent|subject|patient|proband|pupil|student|vpn?|p?id|.*[_. -]id)$`)

// repeatedMeasures warns of columns that name persons, with two rows or more for each on average.
func repeatedMeasures(e *examined) []Finding {
	var findings []Finding
	for j, c := range e.columns {
		if !personName.MatchString(e.Names[j]) || !c.whole || c.levels < 5 || c.cells < 2*c.levels || slices.Contains(e.Names, ".imp") {
			continue
		}
		e.explained[j] = true
		names := e.names([]int{j})
		f := e.finding(Warning, []int{j}, "{columns} has %d values in %d rows: rows with the same value are not independent, so intervals are too narrow; give one row for each, such as means, and leave the column out (%s)", c.levels, c.cells, set("ReadOptions.Exclude", names))
		f[0].LeaveOut = names
		findings = append(findings, f...)
	}
	return findings
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
