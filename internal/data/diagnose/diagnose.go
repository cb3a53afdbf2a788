// Package diagnose finds faults of a table before a fit. docs/how-to/my-table-has.md explains each.
//
//	Table      all findings
//	Refusal    faults that prevent any result
//	Checks     all checks
package diagnose

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/transform"
	"missingscore/internal/shell"
)

const (
	Warning = "warning" // results are wrong or missing until corrected
	Note    = "note"    // worth knowing
)

// Finding is one fault of a table.
type Finding struct {
	Kind     string   `json:"kind"`
	Severity string   `json:"severity"`
	Columns  []string `json:"columns"` // at fault; empty for the whole table
	Message  string   `json:"message"`
	// Functions are the advised transforms, as name=function; nil if none.
	Functions []string `json:"functions,omitempty"`
	// LeaveOut are the columns advised to leave out; nil if none.
	LeaveOut []string `json:"leave_out,omitempty"`
	// Missing are the advised marks of missing cells (ReadOptions.NA); nil if none.
	Missing []string `json:"missing,omitempty"`
	// Exact is the exact linear relation of the column in LeaveOut, as "c ≈ a + b"; "" if none.
	Exact string `json:"-"`
}

// Setting describes the planned fit.
type Setting struct {
	Domain      *domain.Domain    // domain of the rows; nil for all of R^d
	Transform   transform.Columns // transforms of columns; nil for none
	Natural     transform.Columns // transforms that the model chooses itself: no note advises one there
	Unpenalised bool              // a normal distribution without penalty
	Workers     int               // number of threads
}

type check struct {
	Kind string
	find func(*examined) []Finding
}

// A column with a finding is skipped by later checks that the same fault would trigger.
var checks = []check{
	{"matrix", matrices},
	{"imputed-tables", imputedTables},
	{"repeated-rows", repeated},
	{"few-rows", fewRows},
	{"seldom-observed", seldomObserved},
	{apartKind, apart},
	{"apart-levels", apartLevels},
	{"marked-cells", markedCells},
	{"identifier", identifiers},
	{"repeated-measures", repeatedMeasures},
	{"code", codes},
	{"dependent", dependent},
	{"bound", tooSkewedForBound},
	{"skewed", skewed},
	{"limit", limits},
	{"few-values", fewValues},
	{"categories", categories},
}

// Table returns the findings of all checks, in the table's own units.
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
	after   *data.Table    // after Transform
	support *domain.Domain // of after
	columns []summary      // before Transform
	units   data.Scale     // of the columns of after
	values  []float64      // of the last column read
	// explained columns have a fault that makes their shape meaningless.
	explained []bool
}

func (e *examined) look() error {
	plain := &data.Table{N: e.after.N, D: e.D, Values: e.after.Values, Observed: e.after.Observed}
	e.columns, e.units = make([]summary, e.D), data.StandardScale(plain)
	return data.EachColumn(e.Table, e.Workers, func() func(int, []float64) {
		var c column
		return func(j int, cells []float64) {
			c.take(cells)
			e.columns[j] = c.summary(e.Names[j])
			if data.Coded(e.Table, j) != nil { // codes of levels are not measurements
				s := &e.columns[j]
				s.identifier, s.codes, s.limit, s.far = false, nil, nil, false
				e.explained[j] = data.KindOf(e.Table, j) == data.Nominal
			}
		}
	})
}

func (e *examined) transformed(j int) bool { return e.Transform != nil && e.Transform[j] != nil }

func (e *examined) ordinal(j int) bool {
	return slices.Contains(e.Transform.Ordinal(), j) || data.Coded(e.Table, j) != nil
}

func (e *examined) natural(j int) bool { return e.Natural != nil && e.Natural[j] != nil }

func (e *examined) names(columns []int) []string {
	var names []string
	for _, j := range columns {
		names = append(names, e.Names[j])
	}
	return names
}

const listed = 6 // names in a message; the others are counted

func list(words []string) string {
	switch n := len(words); {
	case n == 0:
		return ""
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

func set(name string, words []string) string {
	if len(words) > 4*listed && name == "Spec.Transform" {
		return "Spec.Transform npn for every column"
	}
	if len(words) > 4*listed {
		return fmt.Sprintf("%s with the names of all %d", name, len(words))
	}
	return name + " " + shell.List(words)
}

// where returns the columns without an earlier fault that satisfy is.
func (e *examined) where(is func(j int, c summary) bool) (found []int) {
	for j, c := range e.columns {
		if !e.explained[j] && is(j, c) {
			found = append(found, j)
		}
	}
	return found
}

var forms = regexp.MustCompile(`\{([^|}]*)\|([^}]*)\}`)

// finding describes columns, none for no columns. In its text {columns} names them, and {is|are}
// agrees with their number.
func (e *examined) finding(severity string, columns []int, text string, args ...any) []Finding {
	if len(columns) == 0 {
		return nil
	}
	names, form := e.names(columns), "$2"
	if len(columns) == 1 {
		form = "$1"
	}
	text = strings.ReplaceAll(forms.ReplaceAllString(text, form), "{columns}", strings.ReplaceAll(columnsText(names), "%", "%%"))
	return []Finding{{Severity: severity, Columns: names, Message: fmt.Sprintf(text, args...)}}
}

type summary struct {
	cells, levels int     // observed cells, and distinct values
	fewest        int     // cells of the rarest value
	low, high     float64 // minimum and maximum
	first         []float64
	whole         bool // every value is a whole number
	identifier    bool
	codes         []code    // values that seem to mark missing cells
	limit         *frequent // a possible limit of detection
	far           bool      // far from normal: skewness beyond 2 or heavy tails, many distinct values
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
	cells    []float64 // in row order
	distinct []float64 // increasing
	counts   []int     // of distinct
	whole    bool      // every value is a whole number
	memory   []float64
}

func (c *column) take(cells []float64) {
	sorted := append(c.memory[:0], cells...)
	c.cells, c.memory, c.whole, c.counts = cells, sorted, true, c.counts[:0]
	slices.Sort(sorted)
	for i, x := range sorted {
		c.whole = c.whole && x == float64(int64(x))
		if last := len(c.counts) - 1; i > 0 && sorted[last] == x { // sorted[:len(counts)] holds the distinct values
			c.counts[last]++
			continue
		}
		sorted[len(c.counts)] = x
		c.counts = append(c.counts, 1)
	}
	c.distinct = sorted[:len(c.counts)]
}

// column returns the observed values of a column, valid until the next call.
func (e *examined) column(t *data.Table, j int) []float64 {
	e.values = t.AppendColumn(slices.Grow(e.values[:0], t.N), j)
	return e.values
}
