package data

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sheet is a separated text file with a header, before any cell is understood.
type sheet struct {
	file   string
	header []string
	top    int        // line of the header
	rows   [][]string // each as long as the header, cells trimmed
	lines  []int      // where each row starts in the file, from 1
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
		return nil, fmt.Errorf("%s: cannot be decompressed: %w", path, err)
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
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", file, err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := checkText(text, file); err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma = comma
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = !unicode.IsSpace(comma) // else an empty cell is skipped together with its tab
	s := &sheet{file: file}
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
	if len(s.rows) == 0 && !bytes.Contains(text, []byte("\n")) && bytes.Contains(text, []byte("\r")) {
		return nil, fmt.Errorf("%s: its lines end with a carriage return alone; save it with line feeds (Unix or Windows line ends)", file)
	}
	if len(s.rows) == 0 {
		return nil, fmt.Errorf("%s: a header but no rows", file)
	}
	return s, nil
}

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
	s.rows, s.lines = append(s.rows, row), append(s.lines, line)
	return nil
}

// cellError tells where cell (i, j) is, what it holds, the problem and the advice.
func (s *sheet) cellError(i, j int, problem error, advice string) error {
	return fmt.Errorf("%s:%d: column %q: %q %w; %s", s.file, s.lines[i], s.header[j], s.rows[i][j], problem, advice)
}

func checkText(text []byte, file string) error {
	if utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return nil
	}
	at := bytes.IndexFunc(text, func(r rune) bool { return r == 0 || r == utf8.RuneError })
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	return fmt.Errorf("%s:%d: not a text in UTF-8; save the table as \"CSV UTF-8\" (a compressed file needs a name in .gz)", file, line)
}

func readError(err error, file string, comma rune) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("%s: the separator %q cannot be used: %w", file, comma, err)
	}
	return fmt.Errorf("%s:%d: %w; a cell with a quotation mark is written in quotation marks with that mark twice: \"5\"\" pipe\"", file, p.StartLine, p.Err)
}

// otherSeparator finds what both lines hold, if the header came out as one cell.
func otherSeparator(header, row []string) (rune, bool) {
	for _, sep := range []rune{';', '\t', '|', ',', ' '} {
		if len(header) == 1 && strings.ContainsRune(header[0], sep) && strings.ContainsRune(strings.Join(row, ""), sep) {
			return sep, true
		}
	}
	return 0, false
}
