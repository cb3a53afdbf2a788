// Package diagnose says what is wrong with a table before anything is fitted to it: each fault in one sentence
// that names the column and what to do. Flags in the sentences are those of the missingscore command.
//
//	Table      all findings
//	Refusal    what cannot give a result at all
//	Checks     the faults that are looked for
//
// Every limit here is chosen so that normal tables, and the real ones of the tests, raise no
// false alarm; docs/how-to/my-table-has.md tells of each fault.
package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/transform"
	"missingscore/internal/shell"
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
	// Functions are those advised, as name=function; nil where none is.
	Functions []string `json:"functions,omitempty"`
	// LeaveOut are the columns advised to be left out; nil where none are.
	LeaveOut []string `json:"leave_out,omitempty"`
	// Missing are the marks of missing cells advised for --na; nil where none are.
	Missing []string `json:"missing,omitempty"`
	// Exact says by what others determine the one column of LeaveOut but for rounding, as "c ≈ a + b"; "" where none do.
	Exact string `json:"-"`
}

// Setting says what is to be fitted to the table.
type Setting struct {
	Domain      *domain.Domain    // where its rows lie, nil for all of R^d
	Transform   transform.Columns // functions of its columns that are modelled, nil for none
	Natural     transform.Columns // functions that a model takes by itself where none is given: no note advises one there
	Unpenalised bool              // a normal distribution without a penalty
	Workers     int               // that look at columns at the same time; 1
}

type check struct {
	Kind string
	find func(*examined) []Finding
}

// checks are in the order of their findings. Columns that one finds at fault are not looked
// at by later ones where the fault would explain what these find.
var checks = []check{
	{"matrix", matrices},
	{"repeated-rows", repeated},
	{"few-rows", fewRows},
	{"seldom-observed", seldomObserved},
	{apartKind, apart},
	{"apart-levels", apartLevels},
	{"rounded", rounded},
	{"none-cells", noneCells},
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
	if err := e.look(); err != nil {
		return nil, err
	}
	var findings []Finding
	for _, check := range checks {
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

type examined struct {
	*data.Table
	Setting
	after   *data.Table    // Transform
	support *domain.Domain // of after
	columns []summary      // before Transform
	units   []unit         // of after's columns
	values  []float64      // of the column looked at last
	// explained columns are at fault already, in a way that makes their shape meaningless.
	explained []bool
}

// look sets what is asked of columns more than once.
func (e *examined) look() error {
	e.columns, e.units = make([]summary, e.D), make([]unit, e.D)
	err := data.EachColumn(e.Table, e.Workers, func() func(int, []float64) {
		var c column
		return func(j int, cells []float64) {
			c.take(cells)
			e.columns[j], e.units[j] = c.summary(e.Names[j]), unitOf(cells)
			if data.Coded(e.Table, j) != nil { // codes of levels are no measurements
				s := &e.columns[j]
				s.identifier, s.codes, s.limit, s.far = false, nil, nil, false
				e.explained[j] = data.KindOf(e.Table, j) == data.Nominal
			}
		}
	})
	if err != nil || e.after == e.Table {
		return err
	}
	return data.EachColumn(e.after, e.Workers, func() func(int, []float64) {
		return func(j int, cells []float64) { e.units[j] = unitOf(cells) }
	})
}

func (e *examined) transformed(j int) bool { return e.Transform != nil && e.Transform[j] != nil }

// ordinal says whether a column is of ordered categories, or of levels.
func (e *examined) ordinal(j int) bool {
	return slices.Contains(e.Transform.Ordinal(), j) || data.Coded(e.Table, j) != nil
}

// natural says whether the model takes a function of a column by itself.
func (e *examined) natural(j int) bool { return e.Natural != nil && e.Natural[j] != nil }

func (e *examined) names(columns []int) []string {
	var names []string
	for _, j := range columns {
		names = append(names, e.Names[j])
	}
	return names
}

const listed = 6 // names in a message; more are counted

func list(words []string) string {
	switch n := len(words); {
	case n > listed:
		return fmt.Sprintf("%s and %d more", strings.Join(words[:listed], ", "), n-listed)
	case n > 1:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return words[0]
}

func columnsText(names []string) string {
	if len(names) == 1 {
		return "column " + names[0]
	}
	return "columns " + list(names)
}

// set is a setting with words as its value, cut where they would be long.
func set(name string, words []string) string {
	if len(words) > 4*listed && name == "Spec.Transform" {
		return "Spec.Transform npn, of every column"
	}
	if len(words) > 4*listed {
		return fmt.Sprintf("%s with the names of all %d", name, len(words))
	}
	return name + " " + shell.List(words)
}

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// summary is what the checks ask of a column more than once. The values themselves are as many as
// the table's: they are looked at one column after another.
type summary struct {
	cells, levels int     // observed ones, and different values of them
	fewest        int     // cells of one value
	low, high     float64 // of these
	first         []float64
	whole         bool // every value is a whole number
	identifier    bool
	codes         []code    // values that seem to mark missing cells
	limit         *frequent // a value that may be a limit of detection
	far           bool      // from normal: skewness beyond 2 or heavy tails, of many different values
}

type frequent struct {
	value float64
	count int
}

func (c column) summary(name string) summary {
	s := summary{cells: len(c.cells), levels: len(c.distinct), whole: c.whole, identifier: c.identifies(name)}
	if s.cells == 0 {
		return s
	}
	s.fewest = slices.Min(c.counts)
	s.low, s.high, s.first = c.distinct[0], c.distinct[s.levels-1], slices.Clone(c.cells[:min(2, s.cells)])
	s.codes = c.codes()
	if k, ok := c.limit(); ok {
		s.limit = &frequent{c.distinct[k], c.counts[k]}
	}
	s.far = s.cells >= 30 && s.levels > fewLevels && (math.Abs(stat.Skew(c.cells, nil)) > 2 || stat.ExKurtosis(c.cells, nil) > 10)
	return s
}

type column struct {
	cells    []float64 // in the order of the rows
	distinct []float64 // increasing
	counts   []int     // of distinct
	whole    bool      // every value is a whole number
	memory   []float64
}

// take makes it that of other cells, which it keeps, in its own memory.
func (c *column) take(cells []float64) {
	sorted := append(c.memory[:0], cells...)
	c.cells, c.memory, c.whole, c.counts = cells, sorted, true, c.counts[:0]
	slices.Sort(sorted)
	for i, x := range sorted {
		c.whole = c.whole && x == float64(int64(x))
		if last := len(c.counts) - 1; i > 0 && sorted[last] == x { // the first len(counts) are the distinct ones
			c.counts[last]++
			continue
		}
		sorted[len(c.counts)] = x
		c.counts = append(c.counts, 1)
	}
	c.distinct = sorted[:len(c.counts)]
}

// column is the observed values of one, until the next is asked for.
func (e *examined) column(t *data.Table, j int) []float64 {
	e.values = t.AppendColumn(slices.Grow(e.values[:0], t.N), j)
	return e.values
}
