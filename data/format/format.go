// Package format is the interface between tables and their file formats. A format's package
// registers itself on import, as image/png does:
//
//	import _ "missingscore/data/parquet"
//
// Package data itself handles delimited text.
package format

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Format is a file format of tables. All fields but Lines are needed.
type Format struct {
	Name    string                  // with its article, for messages: "a Parquet file"
	Endings []string                // of file names; the first is written
	Begins  func(first []byte) bool // by the first FirstBytes bytes; not by {, which begins a model
	Lines   bool                    // messages count rows by their number in the file, including the header, as lines of a text
	Open    func(*File) (Reader, error)
	Write   func(to io.Writer, columns []Column) (Writer, error)
}

// FirstBytes is the number of bytes that Begins receives.
const FirstBytes = 128

var registered []*Format

// Register registers a format. Call it from init functions only.
func Register(f *Format) { registered = append(registered, f) }

// ByContent returns the format with these first bytes; nil for text and unregistered formats.
func ByContent(first []byte) *Format {
	for _, f := range registered {
		if f.Begins(first) {
			return f
		}
	}
	return nil
}

// ByName returns the format with the ending of path; nil for text.
func ByName(path string) *Format {
	for _, f := range registered {
		if slices.Contains(f.Endings, Ending(path)) {
			return f
		}
	}
	return nil
}

// Ending is the ending of a file's name in lower case, ignoring compression: ".csv" of t.CSV.gz.
func Ending(path string) string { return strings.ToLower(filepath.Ext(Uncompressed(path))) }

// Uncompressed is a file's name without folder and compression ending.
func Uncompressed(path string) string {
	name := filepath.Base(path)
	for _, by := range []string{".gz", ".zst"} {
		if rest := len(name) - len(by); rest >= 0 && strings.EqualFold(name[rest:], by) {
			name = name[:rest]
		}
	}
	return name
}

// File is an open file, read from its beginning and decompressed.
type File struct {
	*bufio.Reader
	Name    string                             // for messages
	Sheet   string                             // requested sheet of a workbook
	Size    int64                              // of the content in bytes; 0 if unknown
	Limit   float64                            // bytes of memory allowed
	Content func() (io.ReaderAt, int64, error) // the whole content with random access
}

type Column struct {
	Name    string
	Kind    Kind
	Ordered bool // the levels of its Cells are ordered
}

// Reader reads the rows of a file in order. It need not be safe for concurrent use.
type Reader interface {
	// row is the row of the header, 0 if none. Kinds may be known only after the last row.
	Columns() (all []Column, row int)
	// Read returns the next rows of the chosen columns, and io.EOF after the last. The caller owns
	// the result. texts also requests the text of numbers.
	Read(chosen []int, texts bool) (*Block, error)
	Close() error
}

// Counter is a Reader that knows its number of rows.
type Counter interface{ Rows() int }

// Seeker is a Reader with random access to rows.
type Seeker interface {
	Reader
	// Index counts the rows. index holds the data for Seek to rows 0, every, 2·every, …; readers of
	// the same file may share it.
	Index(every int) (rows int, index any, err error)
	// Seek moves to one of these rows: the next Read begins there.
	Seek(index any, row int, chosen []int) error
}

// Block is a run of rows of some columns.
type Block struct {
	Rows  []int // row number of each row in the file, from 1
	Cells []Cells
	// Parse, if not nil, fills in the rest. It may run concurrently with later calls of Read.
	Parse func(*Block) error
}

// Cells are the cells of a column in a block: numbers, or text with "" for a missing cell.
type Cells struct {
	Numbers []float64
	Present []bool // of Numbers
	Text    []string
	Levels  []string // the column's dictionary in order; else nil
}

// BlockRows is the maximum number of rows of a block in the formats here.
const BlockRows = 4096

// NewBlock returns a block for rows of some columns, the first after the row `before`.
func NewBlock(before, rows, columns int) *Block {
	b := &Block{Rows: make([]int, rows), Cells: make([]Cells, columns)}
	for i := range b.Rows {
		b.Rows[i] = before + i + 1
	}
	return b
}

func (b *Block) Cut(most int) {
	b.Rows = b.Rows[:min(most, len(b.Rows))]
	for k := range b.Cells {
		c := &b.Cells[k]
		c.Text = c.Text[:min(most, len(c.Text))]
		c.Numbers, c.Present = c.Numbers[:min(most, len(c.Numbers))], c.Present[:min(most, len(c.Present))]
	}
}

// Writer writes a table row by row. An empty cell is missing.
type Writer interface {
	Write(row []string) error
	Close() error
}

// Error is a complete message with its cause.
type Error struct {
	Text  string
	Cause error // may be nil
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Cause }

// Damage describes in plain words what is wrong inside a file. Errors of libraries are not shown.
type Damage struct{ What string }

func (e *Damage) Error() string { return e.What }

func Damaged(what string, args ...any) error { return &Damage{fmt.Sprintf(what, args...)} }
