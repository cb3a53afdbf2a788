package data

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"missingscore/data/format"
	"missingscore/internal/memory"
	"missingscore/internal/printable"
	"missingscore/internal/shell"
	"missingscore/internal/spelling"
)

// head is what messages and columns need to know of a file.
type head struct {
	dialect
	file    string
	format  *format.Format // nil for a text
	header  []string
	top     int     // line of the header, 0 if there is none
	rowwise bool    // the file counts rows, not lines
	limit   float64 // bytes of memory allowed
}

// sheet holds a file as text.
type sheet struct {
	*head
	rows   [][]string // as long as the header, cells trimmed
	lines  []int      // position of each row in the file, from 1
	size   float64    // bytes of the rows
	kinds  []format.Column
	levels [][]string // of columns with a dictionary
}

func openSheet(path string, o ReadOptions) (*sheet, error) {
	f, err := openSource(path, o, path == Stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &sheet{head: f.head}
	if err := f.each(allOf(len(s.header)), true, func(b readBlock, _ int64) error { return s.take(b.rows) }); err != nil {
		return nil, err
	}
	s.kinds, _ = f.reader.Columns()
	return s, nil
}

// Memory of a row beside its text: its place in the lists, and a string and a number for each cell.
const (
	rowBytes  = 3 * (24 + 8)
	cellBytes = 16 + 9
)

func (s *sheet) take(b *format.Block) error {
	for k, c := range b.Cells {
		if c.Levels != nil && s.levels == nil {
			s.levels = make([][]string, len(b.Cells))
		}
		if c.Levels != nil && s.levels[k] == nil {
			s.levels[k] = c.Levels
		}
	}
	for i, line := range b.Rows {
		row := make([]string, len(b.Cells))
		s.size += rowBytes + cellBytes*float64(len(row))
		for k, c := range b.Cells {
			switch {
			case c.Text != nil:
				row[k] = strings.TrimSpace(c.Text[i])
			case c.Present[i]:
				row[k] = format.Number(c.Numbers[i])
			}
			s.size += float64(len(row[k]))
		}
		if err := memory.Fits(s.size, s.limit, fewerCells, "%s, read up to line %d,", s.file, line); err != nil {
			return err
		}
		s.rows, s.lines = append(s.rows, row), append(s.lines, line)
	}
	return nil
}

type sheetRows struct {
	*sheet
	ended bool
}

func (r *sheetRows) Columns() ([]format.Column, int) { return r.kinds, r.top }

func (r *sheetRows) Read(chosen []int, _ bool) (*format.Block, error) {
	if r.ended {
		return nil, io.EOF
	}
	r.ended = true
	b := &format.Block{Rows: r.lines, Cells: make([]format.Cells, len(chosen))}
	for k, j := range chosen {
		b.Cells[k].Text = make([]string, len(r.rows))
		if r.levels != nil {
			b.Cells[k].Levels = r.levels[j]
		}
		for i, row := range r.rows {
			b.Cells[k].Text[i] = row[j]
		}
	}
	return b, nil
}

func (r *sheetRows) Close() error { return nil }

// source reads the rows of the sheet again.
func (s *sheet) source(o ReadOptions) (*source, error) {
	h := *s.head
	h.header = nil
	r := &source{head: &h, in: &input{name: s.file, limit: s.limit}, reader: &sheetRows{sheet: s}}
	return r, r.begin(o)
}

func (s *head) at(line int) string {
	switch {
	case line == 0:
		return s.file
	case s.rowwise:
		return fmt.Sprintf("%s, row %d", s.file, line)
	}
	return fmt.Sprintf("%s:%d", s.file, line)
}

func (s *sheet) cellError(i, j int, problem error, advice string) error {
	return fmt.Errorf("%s: column %q: %q %w; %s", s.at(s.lines[i]), printable.Cell(s.header[j]), printable.Cell(s.rows[i][j]), problem, advice)
}

// choose sets the columns to read: all if none are chosen, without excluded ones.
func (s *source) choose() (err error) {
	o := s.options
	if _, err := choose(s.header, o.Nominal); err != nil {
		return fmt.Errorf("%s: nominal columns: %w", s.at(s.top), err)
	}
	if _, err := choose(s.header, o.Numbers); err != nil {
		return fmt.Errorf("%s: columns of numbers: %w", s.at(s.top), err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Kinds)) {
		if where := o.Kinds[name].where; where != "" && !slices.Contains(s.header, name) {
			return fmt.Errorf("%s: %s has no column %q%s; there are: %s", where, s.file, printable.Cell(name), spelling.DidYouMean(name, s.header), listing(s.header))
		}
	}
	chosen, err := s.wanted(o)
	if err != nil {
		return err
	}
	if _, err := choose(s.header, o.Exclude); err != nil {
		return fmt.Errorf("%s: %w: it cannot be left out", s.at(s.top), err)
	}
	for _, j := range chosen {
		if name := s.header[j]; !slices.Contains(o.Exclude, name) {
			s.chosen, s.names = append(s.chosen, j), append(s.names, name)
		}
	}
	if s.chosen == nil {
		return fmt.Errorf("%s: every column is left out; keep at least one", s.at(s.top))
	}
	if o.rowNames(s.header) {
		s.leftOut = append(s.leftOut, Column{Kind: Identifier, LeftOut: "it has no name, like row names from R"})
	}
	return s.findStyles()
}

func (s *head) wanted(o ReadOptions) (columns []int, err error) {
	if len(o.Columns) > 0 {
		if err := CheckNames(o.Columns); err != nil {
			return nil, fmt.Errorf("%s: %w", s.at(s.top), err)
		}
		return s.find(o.Columns)
	}
	columns = allOf(len(s.header))
	switch {
	case o.rowNames(s.header):
		columns = columns[1:]
	case s.header[0] == "":
		return nil, fmt.Errorf("%s: the first column has no name, it looks like row names (in R: write.csv(x, row.names = FALSE)); name it, or choose the others with ReadOptions.Columns", s.at(s.top))
	case !slices.ContainsFunc(s.header, func(name string) bool { _, err := number(name); return err != nil }):
		return nil, fmt.Errorf("%s: the first line holds only numbers, it must name the columns (if these are the names, give them a letter: x%s)", s.at(s.top), printable.Cell(s.header[0]))
	}
	if err := CheckNames(s.header[columns[0]:]); err != nil {
		return nil, fmt.Errorf("%s: %w; correct the header, or choose columns with ReadOptions.Columns", s.at(s.top), err)
	}
	return columns, nil
}

func allOf(n int) []int {
	all := make([]int, n)
	for j := range all {
		all[j] = j
	}
	return all
}

func (o ReadOptions) rowNames(header []string) bool {
	return o.Coded && !o.Strict && len(o.Columns) == 0 && len(header) > 1 && header[0] == ""
}

// find returns the columns of names. Each name must occur once in the header.
func (s *head) find(names []string) ([]int, error) {
	columns, err := choose(s.header, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.at(s.top), err)
	}
	for _, j := range columns {
		if slices.Contains(s.header[j+1:], s.header[j]) {
			return nil, fmt.Errorf("%s: two columns are named %q; correct the header", s.at(s.top), printable.Cell(s.header[j]))
		}
	}
	return columns, nil
}

// listed is the maximum number of names in a message.
const listed = 20

func (s *sheet) observed(j int, o ReadOptions) (cells []string) {
	for _, row := range s.rows {
		if !o.missing(row[j]) {
			cells = append(cells, row[j])
		}
	}
	return cells
}

// columnAdvice says what to do about a cell that is not a number, or about a column without any.
func (s *sheet) columnAdvice(o ReadOptions, i, j int, problem error) string {
	cells := s.observed(j, o)
	isNumber := func(cell string) bool {
		_, err := s.number(cell)
		return !errors.Is(err, errNotNumber) || slices.Contains(likelyMarks, strings.ToLower(cell))
	}
	style, numbers := s.numberLike(cells, nil, o)
	declared := slices.Contains(o.Numbers, s.header[j])
	if !numbers && !slices.ContainsFunc(cells, isNumber) && !declared {
		return "the column has no numbers: " + leaveOut(s.header[j])
	}
	cell := s.rows[i][j]
	mark := "ReadOptions.NA " + shell.List(append(slices.DeleteFunc(slices.Clone(o.marks()), func(mark string) bool { return mark == "" }), cell)) // an empty cell is always missing
	var wrong *styleError
	switch {
	case errors.As(problem, &wrong):
		return wrong.advice
	case errors.Is(problem, errTooLarge):
		return "rescale the column"
	case printable.Cell(cell) != cell: // too long to repeat
		return "correct the cell"
	}
	if numbers && !declared && (style.problem == "" || 2*style.texts > style.cells) { // else a slip
		return "the column has " + style.finding(s.header[j])
	}
	switch {
	case slices.Contains([]string{"true", "false"}, strings.ToLower(cell)):
		return "write yes and no as 1 and 0"
	case slices.Contains(likelyMarks, strings.ToLower(cell)):
		return "if it marks a missing cell: " + mark
	}
	if o.Coded && errors.Is(problem, errNotNumber) {
		return fmt.Sprintf("correct the cell, read it as missing (%s), or treat the column as nominal: ReadOptions.Nominal %s", mark, shell.List([]string{s.header[j]}))
	}
	return "correct the cell, or read it as missing: " + mark
}

// likelyMarks of missing cells; some are not in DefaultNA because they may be a slip.
var likelyMarks = []string{".", "-", "--", "*", "na", "n/a", "#n/a", "#na", "n.a.", "<na>", "nan", "null", "none", "nil", "nd", "missing", "unknown", "?", "k.a.", "k. a.", "keine angabe"}

// emptyMarks empties the cells that source.marksAsMissing reads as missing.
func (s *sheet) emptyMarks(columns []int, o ReadOptions) {
	repeated := map[string]int{}
	for _, j := range columns {
		for _, cell := range s.observed(j, o) {
			repeated[cell]++
		}
	}
	for _, j := range columns {
		if o.declared(s.header[j]).hasLevels() {
			continue
		}
		mark, others, numbers := "", false, map[float64]bool{}
		for _, cell := range s.observed(j, o) {
			if x, err := s.number(cell); err == nil {
				numbers[x] = true
			} else if mark == "" || mark == cell {
				mark = cell
			} else {
				others = true
			}
		}
		if others || repeated[mark] < 2 || len(numbers) < 2 || !slices.Contains(likelyMarks, strings.ToLower(mark)) {
			continue
		}
		for _, row := range s.rows {
			if row[j] == mark {
				row[j] = ""
			}
		}
	}
}

func leaveOut(name string) string {
	return "leave it out with ReadOptions.Exclude " + shell.List([]string{name})
}

func listing(names []string) string {
	if len(names) > listed {
		return fmt.Sprintf("%s and %d more", listing(names[:listed]), len(names)-listed)
	}
	shown := make([]string, len(names))
	for i, name := range names {
		if shown[i] = printable.Cell(name); strings.ContainsAny(name, `,"`) { // as flags take it
			shown[i] = shell.List([]string{name})
		}
	}
	return strings.Join(shown, ", ")
}
