package data

import (
	"compress/flate"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"missingscore/internal/memory"
)

// sheet is a separated text file with a header, before any cell is understood.
type sheet struct {
	file   string
	header []string
	top    int        // line of the header
	rows   [][]string // each as long as the header, cells trimmed
	lines  []int      // where each row starts in the file, from 1

	size, limit float64 // bytes that the rows take, and may take
}

// openSheet reads a file, decompressing it if its name ends in .gz.
func openSheet(path string, comma rune) (*sheet, error) {
	f, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSheet(f, path, comma)
}

// openText opens a file, decompressing it if its name ends in .gz.
func openText(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, readError(err, path, 0)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// readSheet refuses what is no UTF-8 text, no header with rows below, or has a
// row of another length than the header. Blank lines are no rows.
func readSheet(r io.Reader, file string, comma rune) (*sheet, error) {
	if comma == 0 {
		comma = ','
	}
	text, err := newTextReader(r, file)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(text)
	in.Comma = comma
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = !isSpace(comma)
	s := &sheet{file: file, limit: text.limit}
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, readError(err, file, comma)
		}
		for j, cell := range row {
			row[j] = strings.TrimSpace(cell)
		}
		if len(row) == 1 && row[0] == "" {
			continue
		}
		line, _ := in.FieldPos(0)
		if s.header == nil {
			s.header, s.top = row, line
			continue
		}
		if err := s.add(row, line); err != nil {
			return nil, err
		}
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

// isSpace tells whether cells are separated by a space or tab: then an empty cell would be
// skipped together with it if space before cells were.
func isSpace(comma rune) bool { return unicode.IsSpace(comma) }

func (s *sheet) add(row []string, line int) error {
	if sep, found := otherSeparator(s.header, row); found && len(s.rows) == 0 {
		return fmt.Errorf("%s:%d: only one column found, named %q; its separator seems to be another: --sep %q", s.file, s.top, s.header[0], sep)
	}
	if len(row) != len(s.header) {
		hint := "a missing cell still needs its separator"
		if len(row) > len(s.header) {
			hint = "look for a decimal comma, a text with a separator that is not in quotation marks, or row names without a header"
		}
		return fmt.Errorf("%s:%d: expected %d cells as in the header, found %d; %s", s.file, line, len(s.header), len(row), hint)
	}
	s.size += rowBytes + cellBytes*float64(len(row))
	for _, cell := range row {
		s.size += float64(len(cell))
	}
	if s.size > s.limit {
		return &memory.Error{What: fmt.Sprintf("%s, read up to line %d,", s.file, line), Need: s.size, Limit: s.limit, Advice: fewerCells}
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
	return fmt.Errorf("%s:%d: column %q: %q %w; %s", s.file, s.lines[i], s.header[j], s.rows[i][j], problem, advice)
}

// readError says in plain words why a file cannot be read; comma is its separator.
func readError(err error, file string, comma rune) error {
	var quote *csv.ParseError
	var unfit textError
	var corrupt flate.CorruptInputError
	var system *fs.PathError
	switch {
	case errors.As(err, &quote):
		return fmt.Errorf("%s:%d: %w; a cell with a quotation mark is written in quotation marks with that mark twice: \"5\"\" pipe\"", file, quote.StartLine, quote.Err)
	case errors.As(err, &unfit):
		return unfit
	case errors.As(err, &corrupt) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF):
		return fileError{file + ": cannot be decompressed: it is damaged, or not compressed by gzip", err}
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
