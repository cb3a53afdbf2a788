package data

import (
	"fmt"
	"io"
	"slices"

	"missingscore/internal/atomicfile"
	"missingscore/internal/printable"
)

// DefaultNA are the cells that are read as missing when nothing else is asked.
var DefaultNA = []string{"", "NA", "N/A", "na", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", ".", "?"}

// ReadOptions say how a file is to be read. In the zero value separator and decimal mark are
// found out.
type ReadOptions struct {
	NA       []string               // marks of a missing cell, compared exactly; nil: DefaultNA. An empty cell is always missing
	Columns  []string               // what to read, in this order; nil: all. Other columns are not looked at
	Exclude  []string               // columns to leave out of those; each must be there
	Comma    rune                   // separator of the cells; 0: the one of comma, semicolon, tab and | that the first lines have
	Decimal  rune                   // '.' or ','; 0: a comma where the separator is another and the first lines have no decimal point
	Sheet    string                 // of an Excel workbook, by name or by number from 1; "": the first
	Progress func(read, size int64) // is told, now and then, how many bytes of the file are read; size is 0 where it is not known
}

// ReadCSV reads a table from a text file; one compressed by gzip or Zstandard is decompressed,
// and the path "-" is the standard input. The rules are those of ParseCSV.
func ReadCSV(path string, o ReadOptions) (*Table, error) {
	in, err := openInput(path, true)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.csv(o)
}

// ParseCSV reads a table from text in UTF-8, with name in its messages. The
// first line names the columns, each further line is a row; blank lines are
// skipped, and so is the space around a cell. Numbers are decimal.
// Rows without a value in the chosen columns are left out and counted in Dropped.
//
// Errors name file, line, column and cell and say what to do. Besides what is no
// number it refuses what NewTable refuses.
func ParseCSV(r io.Reader, name string, o ReadOptions) (*Table, error) {
	s, err := readSheet(r, name, o)
	if err != nil {
		return nil, err
	}
	return s.table(o)
}

// WriteCSV writes a table to a file, whole or not at all, as EncodeCSV does; a name in .gz or
// .zst is compressed.
func WriteCSV(path string, t *Table) error {
	return atomicfile.Write(path, compressing(path, func(to io.Writer) error { return EncodeCSV(to, t) }))
}

// EncodeCSV writes a table as text. Missing cells are empty and numbers the shortest which read
// back as the same; rows without any value are written too, though a reader drops them.
func EncodeCSV(to io.Writer, t *Table) error {
	return writeText(to, t.Names, ',', func(write func([]string) error) error {
		row := make([]string, t.D)
		for i := range t.N {
			for j := range row {
				row[j] = ""
				if k := i*t.D + j; t.Observed[k] {
					row[j] = format(t.Values[k])
				}
			}
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o ReadOptions) marks() []string {
	if o.NA == nil {
		return DefaultNA
	}
	return o.NA
}

func (o ReadOptions) missing(cell string) bool {
	return cell == "" || slices.Contains(o.marks(), cell)
}

// table understands the chosen columns of a sheet as a table.
func (s *sheet) table(o ReadOptions) (*Table, error) {
	t, w, err := s.numbers(o)
	if err == nil && s.format == nil {
		err = w.ask(s.file, t.Names, o)
	}
	if err == nil {
		err = t.acceptable(s.file)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// acceptable refuses a table from a file that has too few rows, or a column that does not vary.
func (t *Table) acceptable(file string) error {
	if err := checkRows(t.N); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return t.refusal(file)
}

// numbers understands the chosen columns of a sheet as numbers, in the rows that have any.
func (s *sheet) numbers(o ReadOptions) (t *Table, w written, err error) {
	columns, err := s.columns(o)
	if err != nil {
		return nil, w, err
	}
	kept := s.withValues(columns, o)
	names := make([]string, len(columns))
	for k, j := range columns {
		names[k] = s.header[j]
	}
	t, w.grouped = blank(names, len(kept.rows)), make([]grouped, len(names))
	t.Dropped, t.Lines = len(s.rows)-len(kept.rows), kept.lines
	for k, j := range columns {
		column, i, problem := kept.parse(j, o)
		if problem != nil {
			advice := s.advice(o, kept.rows[i][j], problem)
			if kept.isText(j, o) {
				advice = "no cell of this column is: " + leaveOut(kept.usable(columns, o))
			}
			return nil, w, kept.cellError(i, j, problem, advice)
		}
		for i, x := range column.Values {
			if column.Observed[i] {
				t.set(i, k, x)
				w.see(k, t.Names[k], []byte(kept.rows[i][j]), s.decimal, kept.lines[i], x)
			}
		}
	}
	t.Rounded = w.texts()
	return t, w, nil
}

// columns are the places of the chosen columns, or of all, without those to leave out.
func (s *sheet) columns(o ReadOptions) ([]int, error) {
	chosen, err := s.chosen(o)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(chosen))
	for k, j := range chosen {
		names[k] = s.header[j]
	}
	left, err := o.without(names, s.header)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.at(s.top), err)
	}
	kept := map[string]bool{}
	for _, name := range left {
		kept[name] = true
	}
	return slices.DeleteFunc(chosen, func(j int) bool { return !kept[s.header[j]] }), nil
}

// without are the chosen names less those to leave out, which must be among all names.
func (o ReadOptions) without(chosen, all []string) ([]string, error) {
	if _, err := choose(all, o.Exclude); err != nil {
		return nil, fmt.Errorf("%w: it cannot be left out", err)
	}
	left := slices.DeleteFunc(slices.Clone(chosen), func(name string) bool { return slices.Contains(o.Exclude, name) })
	if len(left) == 0 {
		return nil, fmt.Errorf("every column is left out; keep one at least")
	}
	return left, nil
}

// chosen are the places of the chosen columns, or of all.
func (s *sheet) chosen(o ReadOptions) ([]int, error) {
	if len(o.Columns) > 0 {
		columns, err := s.find(o.Columns)
		if err != nil {
			return nil, err
		}
		if err := checkNames(o.Columns); err != nil {
			return nil, fmt.Errorf("%s: %w", s.at(s.top), err)
		}
		return columns, nil
	}
	all := make([]int, len(s.header))
	for j := range all {
		all[j] = j
	}
	if s.header[0] == "" {
		return nil, fmt.Errorf("%s: the first column has no name, it looks like row names (in R: write.csv(x, row.names = FALSE)); %s", s.at(s.top), leaveOut(s.usable(all, o)))
	}
	if !slices.ContainsFunc(s.header, func(name string) bool { _, err := number(name); return err != nil }) {
		return nil, fmt.Errorf("%s: the first line holds only numbers, it must name the columns (if these are the names, give them a letter: x%s)", s.at(s.top), printable.Cell(s.header[0]))
	}
	if err := checkNames(s.header); err != nil {
		advice := "correct the header"
		if others := s.usable(all, o); len(others) > 0 {
			advice += ", or " + leaveOut(others)
		}
		return nil, fmt.Errorf("%s: %w; %s", s.at(s.top), err, advice)
	}
	return all, nil
}

// find gives the places of named columns; each name must stand once in the header.
func (s *sheet) find(names []string) ([]int, error) {
	columns, err := choose(s.header, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.at(s.top), err)
	}
	times := map[string]int{}
	for _, name := range s.header {
		times[name]++
	}
	for _, j := range columns {
		if times[s.header[j]] > 1 {
			return nil, fmt.Errorf("%s: two columns are named %q; correct the header", s.at(s.top), printable.Cell(s.header[j]))
		}
	}
	return columns, nil
}

// withValues leaves out the rows which have no value in the columns.
func (s *sheet) withValues(columns []int, o ReadOptions) *sheet {
	kept := &sheet{dialect: s.dialect, file: s.file, header: s.header, top: s.top, rowwise: s.rowwise}
	for i, row := range s.rows {
		if slices.ContainsFunc(columns, func(j int) bool { return !o.missing(row[j]) }) {
			kept.rows, kept.lines = append(kept.rows, row), append(kept.lines, s.lines[i])
		}
	}
	return kept
}

// parse reads column j as a table of one column, or gives the first row that
// cannot be read and why.
func (s *sheet) parse(j int, o ReadOptions) (column *Table, row int, problem error) {
	column = blank(s.header[j:j+1], len(s.rows))
	for i, row := range s.rows {
		if o.missing(row[j]) {
			continue
		}
		x, err := s.number(row[j])
		if err != nil {
			return nil, i, err
		}
		column.set(i, 0, x)
	}
	return column, 0, nil
}
