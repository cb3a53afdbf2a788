package diagnose

import (
	"fmt"
	"math"

	"missingscore/data"
)

// LeastRows are those of which a correlation can be told from none: on Fisher's scale its
// standard error is 1/√(n − 3).
const LeastRows = 4

// fewestRows are those below which a correlation of 0 may well be estimated as 0.5:
// 1.96/√(n − 3) > 0.5.
const fewestRows = 19

// Refusal says why a table cannot give a result, or nil.
func Refusal(t *data.Table) error {
	n := rowsWithValues(t)
	if n >= LeastRows {
		return nil
	}
	return fmt.Errorf("only %d rows have a value: at least %d are needed, the standard error of a correlation is 1/√(n − 3) of n rows", n, LeastRows)
}

// rowsWithValues counts them.
func rowsWithValues(t *data.Table) (n int) {
	if t.Counted != nil || t.Sampled != nil {
		return t.RowCount()
	}
	for i := range t.N {
		for _, seen := range t.Observed[i*t.D : (i+1)*t.D] {
			if seen {
				n++
				break
			}
		}
	}
	return n
}

// fewRows warns of tables that say little, and of normal distributions that they do not
// determine.
func fewRows(e *examined) []Finding {
	n := rowsWithValues(e.Table)
	switch {
	case n < fewestRows:
		return []Finding{{Severity: Warning, Message: fmt.Sprintf("only %d rows: of columns that have nothing to do with each other, correlations up to %.2f are to be expected in so few; get more rows, or take the result as a first look", n, math.Tanh(1.96/math.Sqrt(float64(max(n-3, 1)))))}}
	case e.Unpenalised && n <= e.D:
		return []Finding{{Severity: Warning, Message: fmt.Sprintf("%d rows for %d columns: they do not determine the precision of a normal distribution without a penalty; leave columns out (--exclude), or estimate a network", n, e.D)}}
	case n <= e.D:
		return []Finding{{Severity: Note, Message: fmt.Sprintf("%d rows for %d columns: only strong partial correlations can be found in so few", n, e.D)}}
	}
	return nil
}

// seldomObserved warns of columns with hardly a value.
func seldomObserved(e *examined) []Finding {
	if rowsWithValues(e.Table) < fewestRows {
		return nil
	}
	var seldom []int
	least := e.RowCount()
	for j, c := range e.columns {
		if c.cells >= fewestRows { // of a sample, if not of its file
			continue
		}
		if cells := e.ObservedIn(j); cells < fewestRows {
			seldom = append(seldom, j)
			least = min(least, cells)
		}
	}
	if seldom == nil {
		return nil
	}
	names := e.names(seldom)
	leaveOut, advice := names, fmt.Sprintf("leave %s out (%s)", plural(len(names), "it", "them"), flag("exclude", names))
	if e.D-len(names) < 2 { // which would leave nothing to estimate
		leaveOut, advice = nil, "get more rows, or take the result as a first look"
	}
	return []Finding{{Severity: Warning, Columns: names, LeaveOut: leaveOut, Message: fmt.Sprintf("%s %s observed in fewer than %d of %d rows (the least: %d): what is estimated of %s is mostly chance; %s",
		columnsText(names), plural(len(names), "is", "are"), fewestRows, e.RowCount(), least, plural(len(names), "it", "them"), advice)}}
}
