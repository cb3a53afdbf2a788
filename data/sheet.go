package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode"

	"missingscore/internal/memory"
	"missingscore/internal/printable"
)

// sheet is a separated text file with a header, before any cell is understood.
type sheet struct {
	dialect
	file   string
	header []string
	top    int        // line of the header
	rows   [][]string // each as long as the header, cells trimmed
	lines  []int      // where each row starts in the file, from 1

	size, limit float64 // bytes that the rows take, and may take

	rowwise bool        // lines are rows of a file without lines, and top is none
	format  *fileFormat // nil for a text
	kinds   []column    // of another file's columns

	spaced map[[2]int]string // cells of another file, by row and column, that have space around them
}

// at is a line of the file.
func (s *sheet) at(line int) string {
	switch {
	case !s.rowwise:
		return fmt.Sprintf("%s:%d", s.file, line)
	case line == 0:
		return s.file
	}
	return fmt.Sprintf("%s, row %d", s.file, line)
}

// sheet is the whole input as text.
func (in *input) sheet(o ReadOptions) (*sheet, error) {
	return readSheet(in, in.name, o)
}

// openSheet reads a file of any format.
func openSheet(path string, o ReadOptions) (*sheet, error) {
	in, err := openInput(path, path == Stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := in.format()
	if err != nil {
		return nil, err
	}
	if f == nil {
		return in.sheet(o)
	}
	c, err := in.columnar(f, o)
	if err != nil {
		return nil, err
	}
	defer c.reader.Close()
	return c.whole()
}

// readSheet refuses what is no UTF-8 text, no header with rows below, or has a
// row of another length than the header. Blank lines are no rows.
func readSheet(r io.Reader, file string, o ReadOptions) (*sheet, error) {
	text, err := newTextReader(r, file)
	if err != nil {
		return nil, err
	}
	in, l, err := text.begin(o)
	if err != nil {
		return nil, readError(err, file, l.comma)
	}
	s := &sheet{file: file, dialect: l, limit: text.limit}
	if err := s.fill(in, 0); err != nil {
		return nil, err
	}
	if s.header == nil {
		return nil, fmt.Errorf("%s: the file is empty; it needs a first line of column names and a line for each row", file)
	}
	if len(s.rows) == 0 && !text.fed && text.returned {
		return nil, fmt.Errorf("%s: its lines end with a carriage return alone; save it with line feeds (Unix or Windows line ends)", file)
	}
	if len(s.rows) == 0 {
		return nil, fmt.Errorf("%s: a header but no rows", file)
	}
	return s, nil
}

// begin buffers a text and finds out its dialect.
func (r *textReader) begin(o ReadOptions) (*bufio.Reader, dialect, error) {
	in := bufio.NewReaderSize(r, headBytes)
	head, err := in.Peek(headBytes)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, dialect{comma: ','}, err
	}
	return in, o.dialect(head, err == io.EOF), nil
}

// fill adds the rows of a text, the header first where there is none yet. The text's first line
// is that after so many.
func (s *sheet) fill(text io.Reader, above int) error {
	row := &rowReader{in: text, sheet: s, line: above + 1}
	in := csv.NewReader(row)
	in.Comma = s.comma
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = !isSpace(s.comma)
	for {
		cells, err := in.Read()
		if err == io.EOF {
			return nil
		}
		var quote *csv.ParseError
		if errors.As(err, &quote) {
			quote.StartLine += above
		}
		if err != nil {
			return readError(err, s.file, s.comma)
		}
		row.bytes, row.cells = 0, 0
		for j, cell := range cells {
			cells[j] = strings.TrimSpace(cell)
		}
		if len(cells) == 1 && cells[0] == "" {
			continue
		}
		line, _ := in.FieldPos(0)
		if s.header == nil {
			s.header, s.top = cells, above+line
			continue
		}
		if err := s.add(cells, above+line); err != nil {
			return err
		}
	}
}

// rowReader hands on the text of a sheet and refuses a row that takes too much memory, before its
// cells are made.
type rowReader struct {
	in    io.Reader
	sheet *sheet
	line  int // under way
	bytes int // of the row under way
	cells int
}

// mostCells is how many cells a row may have.
const mostCells = 1 << 22

// Memory of a row while its cells are made: its text, which is copied as it grows, and a place in
// two lists for each cell.
const (
	rowTextFactor = 6
	rowCellBytes  = 34
)

// Read implements io.Reader.
func (r *rowReader) Read(p []byte) (n int, err error) {
	n, err = r.in.Read(p)
	r.bytes += n
	r.cells += bytes.Count(p[:n], []byte(string(r.sheet.comma)))
	s := r.sheet
	need := s.size + rowTextFactor*float64(r.bytes) + rowCellBytes*float64(r.cells)
	if r.cells > mostCells {
		return 0, textError{fmt.Errorf("%s: the row has more than %d million cells: %s", s.at(r.line), mostCells>>20, onlyRows)}
	}
	if err := memory.Fits(need, s.limit, fewerCells, "%s, read up to line %d,", s.file, r.line); err != nil {
		return 0, textError{err}
	}
	r.line += bytes.Count(p[:n], []byte{'\n'})
	return n, err
}

// isSpace tells whether cells are separated by a space or tab: then an empty cell would be
// skipped together with it if space before cells were.
func isSpace(comma rune) bool { return unicode.IsSpace(comma) }

func (s *sheet) add(row []string, line int) error {
	if sep, found := otherSeparator(s.header, row); found && len(s.rows) == 0 {
		return fmt.Errorf("%s: only one column found, named %q; its separator seems to be another: --sep %q", s.at(s.top), printable.Cell(s.header[0]), sep)
	}
	if len(row) != len(s.header) {
		hint := "a missing cell still needs its separator"
		if len(row) > len(s.header) {
			hint = "look for a decimal comma, a text with a separator that is not in quotation marks, or row names without a header"
		}
		return fmt.Errorf("%s: expected %d cells as in the header, found %d; %s", s.at(line), len(s.header), len(row), hint)
	}
	s.size += rowBytes + cellBytes*float64(len(row))
	for _, cell := range row {
		s.size += float64(len(cell))
	}
	if err := memory.Fits(s.size, s.limit, fewerCells, "%s, read up to line %d,", s.file, line); err != nil {
		return err
	}
	s.rows, s.lines = append(s.rows, row), append(s.lines, line)
	return nil
}

// Memory of a row beside its text: its place in the lists, which are copied as they grow, a
// string for each cell, and its numbers.
const (
	rowBytes  = 3 * (24 + 8)
	cellBytes = 16 + 9
)

// cellError tells where cell (i, j) is, what it holds, the problem and the advice.
func (s *sheet) cellError(i, j int, problem error, advice string) error {
	return fmt.Errorf("%s: column %q: %q %w; %s", s.at(s.lines[i]), printable.Cell(s.header[j]), printable.Cell(s.rows[i][j]), problem, advice)
}

// readError says in plain words why a file cannot be read; comma is its separator.
func readError(err error, file string, comma rune) error {
	var quote *csv.ParseError
	var unfit textError
	var system *fs.PathError
	switch {
	case errors.As(err, &quote):
		return fmt.Errorf("%s:%d: %w; a cell with a quotation mark is written in quotation marks with that mark twice: \"5\"\" pipe\"", file, quote.StartLine, quote.Err)
	case errors.As(err, &unfit):
		return unfit
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fileError{file + ": cannot be read: it ends too early", err}
	case errors.As(err, &system):
		return fileError{fmt.Sprintf("%s: cannot be read: %v", file, system.Err), err}
	}
	return fileError{fmt.Sprintf("%s: the separator %q cannot be used", file, comma), err}
}

// fileError is an error in plain words with what it was.
type fileError struct {
	text  string
	cause error
}

func (e fileError) Error() string { return e.text }
func (e fileError) Unwrap() error { return e.cause }

// otherSeparator finds what both lines hold, if the header came out as one cell.
func otherSeparator(header, row []string) (rune, bool) {
	for _, sep := range []rune{';', '\t', '|', ',', ' '} {
		if len(header) == 1 && strings.ContainsRune(header[0], sep) && strings.ContainsRune(strings.Join(row, ""), sep) {
			return sep, true
		}
	}
	return 0, false
}
