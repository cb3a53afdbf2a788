// Package diagnose says what is wrong with a table before anything is fitted to it: each
// fault in one sentence that names the column and what to do. Flags in the sentences are
// those of the missingscore command.
//
//	Table      all findings
//	Refusal    what cannot give a result at all
//	Checks     the faults that are looked for, a file each
//
// Every limit here is chosen so that normal tables, and the real ones of the tests, raise no
// false alarm; docs/how-to/my-table-has.md tells of each fault.
package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/transform"
)

// Severities of a Finding.
const (
	Warning = "warning" // results are wrong or missing if it stays
	Note    = "note"    // worth knowing
)

// Finding is one fault of a table.
type Finding struct {
	Kind     string   `json:"kind"`
	Severity string   `json:"severity"`
	Columns  []string `json:"columns"` // at fault; empty if it is the table
	Message  string   `json:"message"`
}

// Setting says what is to be fitted to the table.
type Setting struct {
	Domain      *domain.Domain    // where its rows lie, nil for all of R^d
	Transform   transform.Columns // functions of its columns that are modelled, nil for none
	Unpenalised bool              // a normal distribution without a penalty
}

// Check looks for one kind of fault.
type Check struct {
	Kind string
	find func(*examined) []Finding
}

// Checks are in the order of their findings. Columns that one finds at fault are not looked
// at by later ones where the fault would explain what these find.
var Checks = []Check{
	{"few-rows", fewRows},
	{"seldom-observed", seldomObserved},
	{"identifier", identifiers},
	{"code", codes},
	{"dependent", dependent},
	{"bound", tooSkewedForBound},
	{"skewed", skewed},
	{"limit", limits},
	{"few-values", fewValues},
	{"categories", categories},
}

// Table looks for every fault of a table in its own units.
func Table(t *data.Table, s Setting) ([]Finding, error) {
	e := &examined{Table: t, Setting: s, explained: make([]bool, t.D)}
	var err error
	if e.after, err = s.Transform.Table(t); err != nil {
		return nil, err
	}
	if e.support, err = s.Transform.Domain(s.Domain, t.Names); err != nil {
		return nil, err
	}
	for j := range t.D {
		e.columns = append(e.columns, newColumn(t.Column(j)))
	}
	var findings []Finding
	for _, check := range Checks {
		for _, f := range check.find(e) {
			f.Kind = check.Kind
			if f.Columns == nil {
				f.Columns = []string{}
			}
			findings = append(findings, f)
		}
	}
	return findings, nil
}

// examined is a table with what several checks need of it.
type examined struct {
	*data.Table
	Setting
	after   *data.Table    // Transform
	support *domain.Domain // of after
	columns []column       // before Transform
	// explained columns are at fault already, in a way that makes their shape meaningless.
	explained []bool
}

// transformed says whether a column is modelled by a function of it.
func (e *examined) transformed(j int) bool { return e.Transform != nil && e.Transform[j] != nil }

// ordinal says whether a column is of ordered categories.
func (e *examined) ordinal(j int) bool { return slices.Contains(e.Transform.Ordinal(), j) }

// names are those of some columns.
func (e *examined) names(columns []int) []string {
	var names []string
	for _, j := range columns {
		names = append(names, e.Names[j])
	}
	return names
}

const listed = 6 // names in a message; more are counted

// list is words for reading.
func list(words []string) string {
	switch n := len(words); {
	case n > listed:
		return fmt.Sprintf("%s and %d more", strings.Join(words[:listed], ", "), n-listed)
	case n > 1:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return words[0]
}

// columnsText is "column a" or "columns a and b".
func columnsText(names []string) string {
	if len(names) == 1 {
		return "column " + names[0]
	}
	return "columns " + list(names)
}

// flag is a flag with words as one argument, cut where it would be long.
func flag(name string, words []string) string {
	if len(words) > 4*listed && name == "transform" {
		return "--transform npn, of every column"
	}
	if len(words) > 4*listed {
		return fmt.Sprintf("--%s with the names of all %d", name, len(words))
	}
	return "--" + name + " " + data.FlagList(words)
}

// plural is "is" or "are".
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// column is the observed values of one.
type column struct {
	cells    []float64 // in the order of the rows
	distinct []float64 // increasing
	counts   []int     // of distinct
	whole    bool      // every value is a whole number
}

func newColumn(cells []float64) column {
	c := column{cells: cells, whole: true}
	sorted := slices.Clone(cells)
	slices.Sort(sorted)
	distinct := 0
	for i, x := range sorted {
		if c.whole = c.whole && x == float64(int64(x)); i == 0 || x != sorted[i-1] {
			distinct++
		}
	}
	c.counts = make([]int, 0, distinct)
	for _, x := range sorted {
		if last := len(c.counts) - 1; last >= 0 && sorted[last] == x { // the first len(counts) are the distinct ones
			c.counts[last]++
			continue
		}
		sorted[len(c.counts)] = x
		c.counts = append(c.counts, 1)
	}
	c.distinct = sorted[:distinct]
	return c
}
