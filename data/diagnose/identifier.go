package diagnose

import (
	"fmt"
	"math"
	"regexp"
	"slices"
)

const (
	leastIdentifiers = 10 // rows that can tell
	leastIncreasing  = 20 // rows, where only their order tells
)

var identifierName = regexp.MustCompile(`(?i)^(id|.*[_. -]id|index|row|row[_. ]?(names?|number)|no|nr|number|case|subject|patient|record|sample|unnamed: ?0|x)$`)

// identifiers warns of columns that count or name the rows.
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
	advice := flag("exclude", names)
	if len(names) == 1 {
		advice = flag("id", names)
	}
	return []Finding{{Severity: Warning, Columns: names, LeaveOut: names, Message: fmt.Sprintf("%s %s (%.6g, %.6g, …: no value twice), as an identifier or a time does, and would be taken for a measurement; leave %s out (%s)",
		columnsText(names), plural(len(names), "counts or names the rows", "count or name the rows"), first[0], first[1], plural(len(names), "it", "them"), advice)}}
}

// identifies says whether no two cells are equal and they rise by equal steps; or they are
// whole numbers which rise from row to row, stand closer together than so many different ones
// would by chance, or have a name that says so.
func (c column) identifies(name string) bool {
	n := len(c.cells)
	if n < leastIdentifiers || len(c.distinct) < n {
		return false
	}
	increasing := slices.Equal(c.cells, c.distinct)
	span := c.distinct[n-1] - c.distinct[0]
	if increasing && c.even(span/float64(n-1)) {
		return true
	}
	// Of n whole numbers among w, no two are equal with probability of about exp(−n²/2w).
	crowded := float64(n)*float64(n) > 14*(span+1)
	return c.whole && (increasing && n >= leastIncreasing || crowded || identifierName.MatchString(name))
}

// even says whether distinct values have equal steps.
func (c column) even(step float64) bool {
	for k := 1; k < len(c.distinct); k++ {
		if math.Abs(c.distinct[k]-c.distinct[k-1]-step) > 1e-6*step {
			return false
		}
	}
	return true
}
