package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"missingscore/data/domain"
	"missingscore/data/format"
	"missingscore/internal/printable"
	"missingscore/internal/spelling"
)

// Limits of sizes, so that squares stay within float64.
const (
	LargestValue      = 1e150  // of an observed cell
	SmallestDeviation = 1e-150 // of a column
)

// Mark is a text that Cells cells of a column hold.
type Mark struct {
	Text  string
	Cells int
}

func (t *Table) mark(column, text string, cells int) {
	if t.Marks == nil {
		t.Marks = map[string]Mark{}
	}
	t.Marks[column] = Mark{text, cells}
}

// Table is n rows of d named columns with missing cells.
type Table struct {
	Names    []string
	N, D     int
	Values   []float64 // (N, D) row-major; the value of a missing cell is undefined
	Observed []bool    // (N, D)
	Dropped  int       // rows without any value, left out by the reader
	Lines    []int     // (N) line of each row in its file; nil if the rows come from no file
	Weights  []float64 // (N) sampling weights of mean 1, not all equal; nil: none (Weighted)
	Counted  *Counted  // if the rows represent moments of others; else nil
	Sampled  *Sampled  // if the rows are a sample of a file; else nil

	// Marks are, by column, cells that were read as missing without being asked for: "None" among
	// levels, and a repeated mark among numbers.
	Marks map[string]Mark

	// Levels[j] lists the level names of column j; an observed cell holds its index, from 0. nil
	// for numbers; both nil if all columns are numbers.
	Kinds  []Kind
	Levels [][]string

	// LeftOut lists the columns of the file that cannot be used.
	LeftOut []Column

	// Blocks group the utilities of nominal columns (trainers.Prepare); nil: every column is its own.
	Blocks []Block

	// Cuts are increasing thresholds of a latent standard normal: an observed cell of an ordered
	// column is the index of its interval. nil for other columns, and nil if there are none.
	Cuts [][]float64
}

// ColumnError reports a column that cannot be used.
type ColumnError struct{ Column, Problem string }

func (e *ColumnError) Error() string { return fmt.Sprintf("column %q: %s", e.Column, e.Problem) }

// NewTable makes a table of values and observed, (n, d) row-major, without copying. A nil observed
// means that every cell is observed. It fails if names are empty, equal or hold control characters;
// if fewer than two rows have a value; if an observed cell is not finite or beyond 1e150; and, with
// a *ColumnError, if a column has no value or is constant.
func NewTable(names []string, values []float64, observed []bool) (*Table, error) {
	if err := CheckNames(names); err != nil {
		return nil, err
	}
	d := len(names)
	if len(values)%d != 0 {
		return nil, fmt.Errorf("%d values do not fill rows of %d columns", len(values), d)
	}
	if observed == nil {
		observed = slices.Repeat([]bool{true}, len(values))
	}
	if len(observed) != len(values) {
		return nil, fmt.Errorf("%d values, but %d observed marks", len(values), len(observed))
	}
	t := &Table{Names: names, N: len(values) / d, D: d, Values: values, Observed: observed}
	if err := check(t); err != nil {
		return nil, err
	}
	return t, nil
}

// CheckTable checks a literal table: lengths of slices, observed cells not finite or beyond 1e150,
// and, with a *ColumnError, columns without a value.
func CheckTable(t *Table) error {
	switch {
	case t == nil:
		return errors.New("the table is nil")
	case t.Counted != nil || t.Sampled != nil:
		return nil
	case len(t.Names) != t.D || t.D < 1:
		return fmt.Errorf("the table has %d names for %d columns", len(t.Names), t.D)
	case len(t.Values) != t.N*t.D:
		return fmt.Errorf("the table has %d values: %d rows of %d columns need %d", len(t.Values), t.N, t.D, t.N*t.D)
	case len(t.Observed) != len(t.Values):
		return fmt.Errorf("the table has %d values, but %d observed marks: data.NewTable makes them", len(t.Values), len(t.Observed))
	}
	seen := make([]bool, t.D)
	for k, x := range t.Values {
		if !t.Observed[k] {
			continue
		}
		seen[k%t.D] = true
		if err := t.checkCell(k, x); err != nil {
			return err
		}
	}
	if j := slices.Index(seen, false); j >= 0 {
		return &ColumnError{t.Names[j], "it has no value: leave the column out"}
	}
	return nil
}

func (t *Table) checkCell(k int, x float64) error {
	if math.Abs(x) <= LargestValue {
		return nil
	}
	return fmt.Errorf("row %d: column %q: %g must be finite, with size up to %g", k/t.D+1, t.Names[k%t.D], x, LargestValue)
}

// Missing is the number of missing cells, in all rows that the table represents.
func (t *Table) Missing() int {
	missing := 0
	if t.Counted != nil || t.Sampled != nil {
		for j := range t.D {
			missing += t.RowCount() - t.ObservedIn(j)
		}
		return missing
	}
	for _, seen := range t.Observed {
		if !seen {
			missing++
		}
	}
	return missing
}

// Ordinal reports whether column j is ordered (Cuts).
func (t *Table) Ordinal(j int) bool { return t.Cuts != nil && t.Cuts[j] != nil }

// Complete reports whether every cell is observed.
func (t *Table) Complete() bool {
	if t.Counted != nil || t.Sampled != nil {
		return t.Missing() == 0
	}
	return !slices.Contains(t.Observed, false)
}

// Select copies the named columns in order, with all rows. It fails if a name is unknown or repeated.
func (t *Table) Select(names []string) (*Table, error) {
	if t.Counted != nil {
		return nil, errors.New("the rows represent moments: select columns of the moments")
	}
	columns, err := choose(t.Names, names)
	if err != nil {
		return nil, err
	}
	if err := CheckNames(names); err != nil {
		return nil, err
	}
	s := emptied(t, names)
	for i := range t.N {
		for k, j := range columns {
			if from := i*t.D + j; t.Observed[from] {
				s.set(i, k, t.Values[from])
			}
		}
	}
	if t.Kinds != nil {
		s.Kinds, s.Levels = make([]Kind, s.D), make([][]string, s.D)
		for k, j := range columns {
			s.Kinds[k], s.Levels[k] = t.Kinds[j], t.Levels[j]
		}
	}
	return s, nil
}

func blank(names []string, n int) *Table {
	d := len(names)
	return &Table{Names: names, N: n, D: d, Values: make([]float64, n*d), Observed: make([]bool, n*d)}
}

func emptied(t *Table, names []string) *Table {
	e := blank(slices.Clone(names), t.N)
	e.Dropped, e.Lines, e.Weights, e.Marks, e.LeftOut = t.Dropped, t.Lines, t.Weights, t.Marks, t.LeftOut
	return e
}

// Inside fails with a *RowError at a row that cannot be completed inside the domain.
func (t *Table) Inside(s *domain.Domain) error {
	if !s.Bounded() {
		return nil
	}
	if err := s.Check(t.Names); err != nil {
		return err
	}
	b := NewBatch(1, t.D)
	for i := range t.N {
		b.Fill(t, []int{i}, 1)
		cell, why := s.Outside(t.Names, b.X, b.Mask)
		if why == nil {
			continue
		}
		e := &RowError{Row: i, Why: why}
		if t.Lines != nil {
			e.Line = t.Lines[i]
		}
		if cell >= 0 {
			e.Column, e.Cell = t.Names[cell], format.Number(b.X[cell])
		}
		return e
	}
	return nil
}

// RowError reports a row that cannot be used.
type RowError struct {
	Row, Line    int    // the row from 0; its line in the file, 0 if unknown
	Column, Cell string // the faulty cell; empty if the whole row is at fault
	Why          error
}

func (e *RowError) Unwrap() error { return e.Why }

func (e *RowError) Error() string {
	where := fmt.Sprintf("row %d", e.Row+1)
	if e.Line > 0 {
		where = fmt.Sprintf("line %d", e.Line)
	}
	if e.Column == "" {
		return fmt.Sprintf("%s: the row lies outside the domain: %v", where, e.Why)
	}
	return fmt.Sprintf("%s: column %q: %s %v", where, e.Column, e.Cell, e.Why)
}

func (t *Table) set(i, j int, x float64) {
	t.Values[i*t.D+j], t.Observed[i*t.D+j] = x, true
}

// AppendColumn appends the observed values of column j to dst.
func (t *Table) AppendColumn(dst []float64, j int) []float64 {
	for k := j; k < len(t.Observed); k += t.D {
		if t.Observed[k] {
			dst = append(dst, t.Values[k])
		}
	}
	return dst
}

// Column returns a copy of the observed values of column j.
func (t *Table) Column(j int) []float64 { return t.AppendColumn(make([]float64, 0, t.N), j) }

// withValues appends to dst the rows with at least one value.
func withValues(t *Table, dst []int) []int {
	for i := range t.N {
		if slices.Contains(t.Observed[i*t.D:(i+1)*t.D], true) {
			dst = append(dst, i)
		}
	}
	return dst
}

func check(t *Table) error {
	if err := checkRows(len(withValues(t, nil))); err != nil {
		return err
	}
	for k, x := range t.Values {
		if !t.Observed[k] {
			continue
		}
		if err := t.checkCell(k, x); err != nil {
			return err
		}
	}
	for j, sums := range columnSums(t) {
		if err := sums.Fault(t.Names[j]); err != nil {
			return err
		}
	}
	return nil
}

func acceptable(t *Table, file string) error {
	if err := checkRows(t.N); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return refusal(file, t.Names, columnSums(t))
}

func refusal(file string, names []string, columns []ColumnSums) error {
	for j, sums := range columns {
		if err := sums.Fault(names[j]); err != nil {
			return fmt.Errorf("%s: %w; %s", file, err, leaveOut(names[j]))
		}
	}
	return nil
}

func checkRows(usable int) error {
	switch usable {
	case 0:
		return fmt.Errorf("no row has a value; at least 2 are needed")
	case 1:
		return fmt.Errorf("only 1 row has a value; at least 2 are needed")
	}
	return nil
}

// CheckNames fails if there are no names, or if names are empty, equal or hold control characters.
func CheckNames(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("a table needs at least one column")
	}
	seen := make(map[string]bool, len(names))
	for j, name := range names {
		if name == "" {
			return fmt.Errorf("column %d has no name", j+1)
		}
		// A byte order mark is not a control character, but invisible too.
		if k := strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\ufeff' }); k >= 0 {
			return fmt.Errorf("column %d: the name %q holds a control character", j+1, printable.Cell(name))
		}
		if seen[name] {
			return fmt.Errorf("two columns are named %q", printable.Cell(name))
		}
		seen[name] = true
	}
	return nil
}

func choose(names, wanted []string) ([]int, error) {
	columns, at := make([]int, len(wanted)), map[string]int{}
	for j, name := range slices.Backward(names) {
		at[name] = j // the first occurrence
	}
	for k, name := range wanted {
		var found bool
		if columns[k], found = at[name]; !found {
			return nil, fmt.Errorf("no column %q%s; there are: %s", name, spelling.DidYouMean(name, names), listing(names))
		}
	}
	return columns, nil
}

// Counted says that the rows represent standardised moments of other rows (data/moments).
type Counted struct {
	Rows      int       // number of rows represented
	Counts    []float64 // (N) multiplicity of each row
	Scale     Scale     // scale of Values
	Own       []int     // (d) number of rows that have each column
	Low, High []float64 // (d) minimum and maximum of each column, in its own units
	Pairs     *Pairs    // of a table without rows; else nil
}

// Pairs holds sums over the rows that have both columns of a pair, (d, d) and symmetric.
type Pairs struct {
	Cross  []float64 // Σ z_j z_k, standardised
	Number []float64
}

// Sampled says that the rows are a sample of a file, and summarises the file. It serves checks,
// never estimates.
type Sampled struct {
	Rows     int    // of the file that have a value
	Gaps     int    // of these, with a missing cell
	Own      []int  // (d) of these, that have each column
	Pairs    []int  // of these, that have both columns of each pair j < k: (0,1), (0,2), …
	Checksum string // of their observed cells
}

// RowCount is the number of rows that the table represents.
func (t *Table) RowCount() int {
	switch {
	case t.Counted != nil:
		return t.Counted.Rows
	case t.Sampled != nil:
		return t.Sampled.Rows
	}
	return t.N
}

// ObservedIn is the number of rows that have column j.
func (t *Table) ObservedIn(j int) (n int) {
	switch {
	case t.Counted != nil:
		return t.Counted.Own[j]
	case t.Sampled != nil:
		return t.Sampled.Own[j]
	}
	for k := j; k < len(t.Observed); k += t.D {
		if t.Observed[k] {
			n++
		}
	}
	return n
}

// Count is the multiplicity of row i.
func (t *Table) Count(i int) float64 {
	if t.Counted != nil {
		return t.Counted.Counts[i]
	}
	return 1
}
