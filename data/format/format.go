// Package format is the interface between tables and the formats of their files. A package of a
// format registers itself when it is imported, as image/png does:
//
//	import _ "missingscore/data/parquet"
//
// Package data has text with separators itself.
package format

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Format is a kind of file that a table comes in.
type Format struct {
	Name    string   // with its article, in messages: "a Parquet file"
	Endings []string // of names; the first is written
	Begins  func(first []byte) bool
	Lines   bool // rows are known by their numbers in the file, header included, as lines of a text are
	// Open and Write report damage as a *Damage, and may panic: both become an error that names the file.
	Open  func(*File) (Reader, error)
	Write func(to io.Writer, columns []Column) (Writer, error)
}

// FirstBytes is how many bytes Begins gets.
const FirstBytes = 128

var registered []*Format

// Register makes a format known. It is called from init functions.
func Register(f *Format) { registered = append(registered, f) }

// others are formats of this module, for the message when their packages are not imported.
var others = []struct{ name, importPath, begins, endings string }{
	{"an Excel workbook", "missingscore/data/excel", "PK\x03\x04", ".xlsx .xlsm"},
	{"a Parquet file", "missingscore/data/parquet", "PAR1", ".parquet .pq"},
	{"an Arrow file", "missingscore/data/arrow", "ARROW1", ".arrow .feather .ipc .arrows"},
}

// ByContent returns the format of a file by its first bytes; nil for text.
func ByContent(first []byte) (*Format, error) {
	for _, f := range registered {
		if f.Begins(first) {
			return f, nil
		}
	}
	for _, o := range others {
		if bytes.HasPrefix(first, []byte(o.begins)) {
			return nil, notImported(o.name, o.importPath)
		}
	}
	return nil, nil
}

// ByName returns the format that a file's name says; nil for text.
func ByName(path string) (*Format, error) {
	ending := Ending(path)
	for _, f := range registered {
		if slices.Contains(f.Endings, ending) {
			return f, nil
		}
	}
	for _, o := range others {
		if slices.Contains(strings.Fields(o.endings), ending) {
			return nil, notImported(o.name, o.importPath)
		}
	}
	return nil, nil
}

func notImported(name, importPath string) error {
	return fmt.Errorf("this program does not read or write %s: import _ %q into it", strings.TrimPrefix(strings.TrimPrefix(name, "an "), "a ")+"s", importPath)
}

// Ending is that of a file's name in lower case, without one for compression: ".csv" of t.CSV.gz.
func Ending(path string) string { return strings.ToLower(filepath.Ext(Uncompressed(path))) }

// Uncompressed is a file's name without its folder and an ending for compression.
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
	Name    string                             // in messages
	Sheet   string                             // asked for, of a workbook
	Size    int64                              // of the content in bytes; 0 if it is not known
	Content func() (io.ReaderAt, int64, error) // all of it, for reading at any place
}

// Column of a file.
type Column struct {
	Name    string
	Kind    Kind
	Ordered bool // the levels of its Cells are in an order
}

// Reader reads the rows of a file from its first to its last. It need not be safe for concurrent use.
type Reader interface {
	// Columns are those of the file in its order. row is the row that names them, 0 for none. Kinds
	// may be known only after the last row.
	Columns() (all []Column, row int)
	// Read gives the next rows of some columns, and io.EOF after the last. The caller keeps the
	// result. texts asks for the text of numbers, too.
	Read(chosen []int, texts bool) (*Block, error)
	Close() error
}

// Counter is a Reader that knows how many rows the file has.
type Counter interface{ Rows() int }

// Seeker is a Reader that can go to any row.
type Seeker interface {
	Reader
	// Index counts the rows of the file. What Seek needs to go to rows 0, every, 2·every, … is index,
	// which readers of the same file share.
	Index(every int) (rows int, index any, err error)
	// Seek goes to a row of those: the next Read begins there.
	Seek(index any, row int, chosen []int) error
}

// Block is some rows of some columns.
type Block struct {
	Rows  []int // the place of each row in the file, from 1
	Cells []Cells
	// Parse, if not nil, fills in the rest. It may run beside later calls of Read.
	Parse func(*Block) error
}

// Cells of a column in a block: numbers, or text with "" for a missing cell.
type Cells struct {
	Numbers []float64
	Present []bool // of Numbers
	Text    []string
	Levels  []string // that texts of a column with a dictionary can have, in its order; else nil
}

// BlockRows is how many rows blocks of the formats here have at most.
const BlockRows = 4096

// NewBlock has room for rows of some columns, the first after the row `before`.
func NewBlock(before, rows, columns int) *Block {
	b := &Block{Rows: make([]int, rows), Cells: make([]Cells, columns)}
	for i := range b.Rows {
		b.Rows[i] = before + i + 1
	}
	return b
}

// Cut keeps at most so many rows.
func (b *Block) Cut(most int) {
	if len(b.Rows) <= most {
		return
	}
	b.Rows = b.Rows[:most]
	for k, c := range b.Cells {
		if c.Text != nil {
			b.Cells[k].Text = c.Text[:most]
		} else {
			b.Cells[k].Numbers, b.Cells[k].Present = c.Numbers[:most], c.Present[:most]
		}
	}
}

// Writer writes a table row by row. An empty cell is missing, others are of their column's kind.
type Writer interface {
	Write(row []string) error
	Close() error
}

// Error is a message that is ready to be shown, with its cause.
type Error struct {
	Text  string
	Cause error // may be nil
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Cause }

// Damage says in plain words what is wrong inside a file. Errors of libraries are none: their words
// are for programmers, and are not shown.
type Damage struct{ What string }

func (e *Damage) Error() string { return e.What }

// Damaged is a *Damage.
func Damaged(what string, args ...any) error { return &Damage{fmt.Sprintf(what, args...)} }
