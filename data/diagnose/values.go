package diagnose

import (
	"fmt"
	"slices"
)

const (
	fewLevels      = 10 // whole numbers: an ordinal scale, perhaps
	veryFewLevels  = 4  // of other numbers
	leastForLevels = 30 // cells that can tell
)

// fewValues notes columns that may be ordinal or categories.
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
	return []Finding{{Severity: Note, Columns: names, Message: fmt.Sprintf("%s %s only %s different values: %s treated as continuous, which is fair for an ordinal scale and means nothing for categories without an order; %s takes %s for ordered categories of a latent normal",
		columnsText(names), plural(len(names), "has", "have"), count, plural(len(names), "it is", "they are"), flag("ordinal", names), plural(len(names), "it", "them"))}}
}

// limits notes columns whose largest or smallest value stands so often that it may be a limit
// of detection.
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
	return []Finding{{Severity: Note, Columns: names, Message: fmt.Sprintf("one value at the end of %s stands far more often than any other: %s; if it is a limit of detection, read it as missing (--na) and say so (--missingness, censored)",
		columnsText(names), list(shown))}}
}

// limit is the place of an end of the distinct values that stands at least 5 times, in 5 % of
// the cells and three times as often as any other.
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
