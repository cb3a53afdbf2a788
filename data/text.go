package data

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"missingscore/internal/memory"
)

// longestLine of a table, in bytes: a million columns are far less. What has longer lines
// is no table, or has no end.
const longestLine = 64 << 20

// textReader hands on text in UTF-8 as it is read and refuses anything else, lines without
// end and more text than there is memory for, before they are held.
type textReader struct {
	in     io.Reader
	file   string
	limit  float64 // bytes of memory
	stream bool    // nobody holds what is handed on
	line   int     // finished ones
	length int     // of the line under way
	total  float64
	begun  []byte // a character whose other bytes come next

	fed, returned bool  // a line feed, a carriage return has been seen
	err           error // that ended it
}

// newTextReader leaves out a byte order mark.
func newTextReader(r io.Reader, file string) (*textReader, error) {
	limit, err := memory.Limit()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		in.Discard(len(mark))
	}
	return &textReader{in: in, file: file, limit: limit}, nil
}

// OpenText opens a text file, decompressing it if it is compressed by gzip or Zstandard and
// leaving out a byte order mark. Reading fails where it is no UTF-8, a line has no end or there is more
// than there is memory for; these errors name file and line.
func OpenText(path string) (io.ReadCloser, error) {
	f, err := openInput(path, false)
	if err != nil {
		return nil, err
	}
	text, err := newTextReader(f, f.name)
	if err != nil {
		f.Close()
		return nil, err
	}
	return plainly{text, f}, nil
}

// plainly is a text whose errors are in plain words.
type plainly struct {
	text *textReader
	io.Closer
}

func (p plainly) Read(to []byte) (n int, err error) {
	if n, err = p.text.Read(to); err != nil && err != io.EOF {
		err = readError(err, p.text.file, ',')
	}
	return n, err
}

// textError is an error of the text, ready to be shown.
type textError struct{ error }

func (e textError) Unwrap() error { return e.error }

// Read implements io.Reader. An error stays.
func (r *textReader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.next(p)
	return n, r.err
}

func (r *textReader) next(p []byte) (n int, err error) {
	n, err = r.in.Read(p)
	text := p[:n]
	if r.total += float64(n); !r.stream {
		if err := memory.Fits(2*r.total, r.limit, fewerCells, "%s, read up to line %d,", r.file, r.line+1); err != nil {
			return 0, textError{err}
		}
	}
	if !r.valid(text, err == io.EOF) {
		return 0, textError{fmt.Errorf("%s:%d: not a text in UTF-8; save the table as \"CSV UTF-8\"", r.file, r.line+1)}
	}
	r.returned = r.returned || bytes.IndexByte(text, '\r') >= 0
	for rest := text; ; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			r.length += len(rest)
			break
		}
		r.fed, r.length, rest = true, 0, rest[end+1:]
		r.line++
	}
	if err := memory.Fits(lineFactor*float64(r.length), r.limit, onlyRows, "%s, line %d,", r.file, r.line+1); err != nil {
		return 0, textError{err}
	}
	if r.length > longestLine {
		return 0, textError{fmt.Errorf("%s:%d: the line is longer than %s: %s", r.file, r.line+1, memory.Size(longestLine), onlyRows)}
	}
	return n, err
}

const (
	lineFactor = 8 // bytes of memory for each of a line, which is copied as it is read
	onlyRows   = "a table has a line for each row"
)

const fewerCells = "take fewer rows, or leave columns out of the file"

// valid checks a part of the text; a character that it cuts is checked with the next part.
// If it is not, line is that of the fault.
func (r *textReader) valid(text []byte, last bool) bool {
	whole := text
	if len(r.begun) > 0 {
		whole = append(r.begun, text...)
	}
	cut := len(whole)
	for k := 1; !last && k < utf8.UTFMax && k <= len(whole); k++ {
		if b := whole[len(whole)-k]; utf8.RuneStart(b) {
			if !utf8.FullRune(whole[len(whole)-k:]) {
				cut = len(whole) - k
			}
			break
		}
	}
	r.begun = append([]byte(nil), whole[cut:]...)
	if whole = whole[:cut]; utf8.Valid(whole) && bytes.IndexByte(whole, 0) < 0 {
		return true
	}
	at := bytes.IndexFunc(whole, func(c rune) bool { return c == 0 || c == utf8.RuneError })
	r.line += bytes.Count(whole[:at], []byte("\n"))
	return false
}
