package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"missingscore/data/format"
	"missingscore/internal/memory"
	"missingscore/internal/printable"
)

const (
	// longestLine is the maximum length of a line in bytes; a million columns take far less.
	longestLine = 64 << 20
	mostCells   = 1 << 22 // of a row
	blockBytes  = 1 << 20 // bytes of text parsed at a time

	lineFactor    = 8  // bytes of memory for each byte of a line, which is copied while read
	rowTextFactor = 6  // the same for each byte of a row while its cells are made
	rowCellBytes  = 34 // and for each of its cells

	onlyRows   = "a table has a line for each row"
	fewerCells = "take fewer rows, or leave columns out of the file"

	byteOrderMark = "\ufeff"
)

type textFile struct {
	dialect
	in     *input
	from   io.Reader
	header []string
	top    int    // line of the header
	line   int    // the last line read
	left   []byte // read but incomplete
	ended  bool
	begun  bool  // rows were read
	start  int64 // byte offset of the first row
}

func openText(in *input, o ReadOptions) (*textFile, error) {
	t := &textFile{in: in, start: in.skipMark()}
	buffered := bufio.NewReaderSize(in, headBytes)
	head, err := buffered.Peek(headBytes)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, readError(err, in.name)
	}
	t.dialect, t.from = o.dialect(head, err == io.EOF), buffered
	for t.header == nil {
		if t.ended {
			return nil, fmt.Errorf("%s: the file is empty; it needs a first line of column names and a line for each row", in.name)
		}
		text, first, err := t.fill()
		if err != nil {
			return nil, err
		}
		err = t.records(text, first, func(cells []string, line int, ends int64) error {
			t.header, t.top = slices.Clone(cells), line
			for j, name := range cells {
				t.header[j] = strings.TrimSpace(name)
			}
			t.left = append(bytes.Clone(text[ends:]), t.left...)
			t.line = first - 1 + bytes.Count(text[:ends], []byte{'\n'})
			t.start += ends
			if t.ended && len(t.left) == 0 && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
				return refuse("%s: its lines end with carriage returns; save it with Unix or Windows line ends", in.name)
			}
			return errStop
		})
		if err == nil {
			if t.start += int64(len(text)); t.start > longestLine {
				return nil, refuse("%s: it begins with more than %s of blank lines", in.name, memory.Size(longestLine))
			}
		} else if err != errStop {
			return nil, err
		}
	}
	return t, nil
}

var errStop = errors.New("no more is wanted")

// records visits the rows of a text that begins at line first. ends is the offset behind a row.
func (t *textFile) records(text []byte, first int, visit func(cells []string, line int, ends int64) error) error {
	if len(text) > 2*blockBytes { // a row may be as long
		cells := bytes.Count(text, []byte(string(t.comma)))
		if cells > mostCells {
			return refuse("%s:%d: the row has more than %d million cells: %s", t.in.name, first, mostCells>>20, onlyRows)
		}
		if err := memory.Fits(rowTextFactor*float64(len(text))+rowCellBytes*float64(cells), t.in.limit, fewerCells, "%s, read up to line %d,", t.in.name, first); err != nil {
			return err
		}
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = t.comma, -1, true
	in.TrimLeadingSpace = !unicode.IsSpace(t.comma) && bytes.IndexByte(text, '"') >= 0 // of a tab, an empty cell would go with it; cells without quotation marks are trimmed later
	for {
		cells, err := in.Read()
		if err == io.EOF {
			return nil
		}
		var wrong *csv.ParseError
		switch {
		case errors.As(err, &wrong):
			return refuse("%s:%d: %w; quote a cell that has a quotation mark, and double the mark: \"5\"\" pipe\"", t.in.name, wrong.StartLine+first-1, wrong.Err)
		case err != nil:
			return refuse("%s: the separator %q cannot be used", t.in.name, t.comma)
		}
		if len(cells) == 1 && strings.TrimSpace(cells[0]) == "" {
			continue
		}
		line, _ := in.FieldPos(0)
		if err := visit(cells, line+first-1, in.InputOffset()); err != nil {
			return err
		}
	}
}

func (t *textFile) fill() (text []byte, first int, err error) {
	first = t.line + 1
	text = t.left
	for {
		start, n := len(text), 0
		text = slices.Grow(text, blockBytes)[:start+blockBytes]
		for err == nil && start+n < len(text) { // io.ReadFull would not distinguish the end from a truncated file
			var some int
			some, err = t.from.Read(text[start+n:])
			n += some
		}
		text = text[:start+n]
		if err == io.EOF {
			t.left, t.ended = nil, true
			return text, first, t.valid(text, first)
		}
		if err != nil {
			return nil, first, readError(err, t.in.name)
		}
		if end := lastRow(text); end > 0 {
			t.left = bytes.Clone(text[end:])
			t.line += bytes.Count(text[:end], []byte{'\n'})
			return text[:end], first, t.valid(text[:end], first)
		}
		switch need, lines := lineFactor*float64(len(text)), bytes.Count(text, []byte{'\n'}); {
		case lines > 0:
			err = memory.Fits(need, t.in.limit, "look for an unclosed quotation mark", "%s, a row from line %d on,", t.in.name, first)
		case bytes.IndexByte(text, 0) >= 0:
			err = t.valid(text, first)
		case len(text) > longestLine:
			err = refuse("%s:%d: the line is longer than %s: %s", t.in.name, first, memory.Size(longestLine), onlyRows)
		default:
			err = memory.Fits(need, t.in.limit, onlyRows, "%s, line %d,", t.in.name, first)
		}
		if err != nil {
			return nil, first, err
		}
	}
}

// valid fails if rows that begin at line first are not UTF-8.
func (t *textFile) valid(text []byte, first int) error {
	if utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return nil
	}
	at := bytes.IndexFunc(text, func(c rune) bool { return c == 0 || c == utf8.RuneError })
	return refuse("%s:%d: not a text in UTF-8; save the table as \"CSV UTF-8\"", t.in.name, first+bytes.Count(text[:at], []byte{'\n'}))
}

// lastRow returns the end of the last complete row. Line ends inside quotation marks end no row.
func lastRow(text []byte) int {
	if bytes.IndexByte(text, '"') < 0 {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	last, open := 0, false
	for i, c := range text {
		switch {
		case c == '"':
			open = !open
		case c == '\n' && !open:
			last = i + 1
		}
	}
	return last
}

func (t *textFile) Columns() ([]format.Column, int) {
	columns := make([]format.Column, len(t.header))
	for j, name := range t.header {
		columns[j] = format.Column{Name: name, Kind: format.Mixed}
	}
	return columns, t.top
}

func (t *textFile) Read(chosen []int, _ bool) (*format.Block, error) {
	if t.ended && len(t.left) == 0 {
		return nil, io.EOF
	}
	top := !t.begun
	t.begun = true
	text, first, err := t.fill()
	if err != nil {
		return nil, err
	}
	return &format.Block{Cells: make([]format.Cells, len(chosen)), Parse: func(b *format.Block) error {
		most := bytes.Count(text, []byte{'\n'}) + 1
		b.Rows = make([]int, 0, most)
		for k := range chosen {
			b.Cells[k].Text = make([]string, 0, most)
		}
		return t.records(text, first, func(cells []string, line int, _ int64) error {
			if top && len(b.Rows) == 0 {
				if sep, found := otherSeparator(t.header, cells); found {
					return refuse("%s:%d: only one column found, named %q; try ReadOptions.Comma %q", t.in.name, t.top, printable.Cell(t.header[0]), sep)
				}
			}
			if len(cells) != len(t.header) {
				hint := "a missing cell still needs its separator"
				if len(cells) > len(t.header) {
					hint = "look for a decimal comma, an unquoted separator in a text, or row names without a header"
				}
				return refuse("%s:%d: expected %d cells as in the header, found %d; %s", t.in.name, line, len(t.header), len(cells), hint)
			}
			b.Rows = append(b.Rows, line)
			for k, j := range chosen {
				b.Cells[k].Text = append(b.Cells[k].Text, strings.TrimSpace(cells[j]))
			}
			return nil
		})
	}}, nil
}

func otherSeparator(header, row []string) (rune, bool) {
	for _, sep := range []rune{';', '\t', '|', ',', ' '} {
		if len(header) == 1 && strings.ContainsRune(header[0], sep) && strings.ContainsRune(strings.Join(row, ""), sep) {
			return sep, true
		}
	}
	return 0, false
}

type textIndex struct {
	every  int
	starts []int64
	lines  []int // lines before it
}

func (t *textFile) Index(every int) (rows int, index any, err error) {
	x := &textIndex{every: every}
	at := t.start
	for !t.ended || len(t.left) > 0 {
		text, first, err := t.fill()
		if err != nil {
			return 0, nil, err
		}
		from, line := int64(0), first-1
		err = t.records(text, first, func(_ []string, _ int, ends int64) error {
			if rows%every == 0 {
				x.starts, x.lines = append(x.starts, at+from), append(x.lines, line)
			}
			rows++
			line += bytes.Count(text[from:ends], []byte{'\n'})
			from = ends
			return nil
		})
		if err != nil {
			return 0, nil, err
		}
		at += int64(len(text))
		t.in.tell(t.in.taken.Load())
	}
	x.starts = append(x.starts, at)
	return rows, x, nil
}

func (t *textFile) Seek(index any, row int, _ []int) error {
	x := index.(*textIndex)
	k := row / x.every
	if _, err := t.in.file.Seek(x.starts[k], io.SeekStart); err != nil {
		return readError(err, t.in.name)
	}
	t.from, t.line, t.left, t.ended = io.LimitReader(t.in.file, x.starts[k+1]-x.starts[k]), x.lines[k], nil, false
	return nil
}

func (t *textFile) Close() error { return nil }

func refuse(what string, args ...any) error {
	err := fmt.Errorf(what, args...)
	return &format.Error{Text: err.Error(), Cause: errors.Unwrap(err)}
}

func readError(err error, file string) error {
	var ready *format.Error
	var full *memory.Error
	var system *fs.PathError
	switch {
	case errors.As(err, &ready), errors.As(err, &full):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &format.Error{Text: file + ": cannot be read: it ends too early", Cause: err}
	case errors.As(err, &system):
		return &format.Error{Text: fmt.Sprintf("%s: cannot be read: %v", file, system.Err), Cause: err}
	}
	return &format.Error{Text: file + ": cannot be read", Cause: err}
}
