package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A fileFormat is a kind of file, other than text, that a table comes in: a file of this package
// and a line in fileFormats.
type fileFormat struct {
	name    string // with its article, in messages
	endings []string
	begins  func(first []byte) bool                                 // tells by the first bytes of a file
	open    func(in *input, o ReadOptions) (columnReader, error)    // panics are its errors
	write   func(to io.Writer, columns []column) (rowWriter, error) // panics are its errors, too
}

// fileFormats are those known beside text.
var fileFormats = []*fileFormat{&excel, &parquetFile, &arrowFile}

// firstBytes are looked at to tell a format.
const firstBytes = 128

// kind is what a column of a file holds.
type kind int

const (
	asText     kind = iota
	asNumbers       // numbers
	asWhole         // whole numbers, of 64 bits
	asUnsigned      // whole numbers from 0 on, of 64 bits
	asBoolean       // 1 and 0
	asDate          // 2013-02-08
	asStamp         // 2013-02-08T12:30:00, to the microsecond, in no time zone
	asInstant       // the same in UTC, with a Z behind it
	asMixed         // each cell has a type of its own
	asNothing       // lists, structures: nothing that is read
)

// numeric says whether cells of the kind are numbers.
func (k kind) numeric() bool { return k >= asNumbers && k <= asBoolean }

// writtenNumber is a number as programs write it; 007 and 1e5 may be codes.
var writtenNumber = regexp.MustCompile(`^-?((?:0|[1-9]\d*)?(?:\.\d+)?)(?:[eE][-+]\d+)?$|^-?(\d\.\d+)[eE]\d+$`)

// keeps says whether a cell can be had again from a value of the kind. A number may lose zeros behind
// its decimals.
func (k kind) keeps(cell string) bool {
	switch k {
	case asWhole:
		x, err := strconv.ParseInt(cell, 10, 64)
		return err == nil && strconv.FormatInt(x, 10) == cell
	case asUnsigned:
		x, err := strconv.ParseUint(cell, 10, 64)
		return err == nil && strconv.FormatUint(x, 10) == cell
	case asBoolean:
		return cell == "0" || cell == "1"
	case asNumbers:
		return keepsNumber(cell)
	case asDate:
		at, err := time.Parse(time.DateOnly, cell)
		return err == nil && at.Format(time.DateOnly) == cell
	case asStamp, asInstant:
		micros, ok := microseconds(k, cell)
		return ok && stamp(micros, 1000)+k.zone() == cell
	}
	return true
}

// keepsNumber says whether a float64 has all the digits of a cell, which is written as numbers are.
func keepsNumber(cell string) bool {
	if cell == "NaN" || cell == "Inf" || cell == "-Inf" {
		return true
	}
	parts := writtenNumber.FindStringSubmatch(cell)
	x, err := strconv.ParseFloat(cell, 64)
	if parts == nil || err != nil {
		return false
	}
	digits := strings.Trim(strings.Replace(parts[1]+parts[2], ".", "", 1), "0")
	if digits == "" {
		return true // 0
	}
	kept, _, _ := strings.Cut(strings.Replace(strconv.FormatFloat(math.Abs(x), 'e', len(digits)-1, 64), ".", "", 1), "e")
	return len(digits) <= 17 && kept == digits
}

// zone is behind the times of a kind.
func (k kind) zone() string {
	if k == asInstant {
		return "Z"
	}
	return ""
}

// microseconds of a time since 1970.
func microseconds(k kind, cell string) (int64, bool) {
	at, err := time.Parse(stampLayout+k.zone(), cell)
	return at.UnixMicro(), err == nil
}

// days of a date since 1970.
func daysSince1970(cell string) (int32, bool) {
	at, err := time.Parse(time.DateOnly, cell)
	return int32(at.Unix() / 86400), err == nil
}

// nestedCell stands for a cell that is not read.
const nestedCell = "(nested)"

// column of a file.
type column struct {
	name string
	kind kind
}

// A columnReader reads the rows of a file one part after another.
type columnReader interface {
	// columns are those of the file, in its order. row is where they are named, 0 for nowhere.
	columns() (all []column, row int)
	// read gives the next rows of some columns, and io.EOF after the last. What it gives is
	// good until the next call. texts asks for the text of numbers, too, as the file has them.
	read(chosen []int, texts bool) (*part, error)
	Close() error
}

// part is some rows.
type part struct {
	rows  []int // where each stands in the file, from 1
	cells []cells
}

// next makes the part one of so many rows of some columns, the first after the row before, in the
// room that it has.
func (p *part) next(before, rows, columns int) {
	p.rows = slices.Grow(p.rows[:0], rows)[:rows]
	for i := range p.rows {
		p.rows[i] = before + i + 1
	}
	p.cells = slices.Grow(p.cells[:0], columns)[:columns]
}

// cells of a column in a part: numbers, or text with "" for a missing cell. A missing number
// is one that is not present.
type cells struct {
	numbers []float64
	present []bool
	text    []string
}

// asNumbers makes room for so many numbers, none yet.
func (c *cells) asNumbers(rows int) {
	c.text, c.numbers, c.present = nil, slices.Grow(c.numbers[:0], rows), slices.Grow(c.present[:0], rows)
}

// asText makes room for so many texts, none yet.
func (c *cells) asText(rows int) { c.text = make([]string, 0, rows) }

// A rowWriter writes a table row by row. An empty cell is missing, and others are of their column's
// kind.
type rowWriter interface {
	write(row []string) error
	close() error
}

// byEnding is the format that a file's name says, nil for none. An ending of compression behind
// it does not count.
func byEnding(path string) *fileFormat {
	for _, f := range fileFormats {
		if slices.Contains(f.endings, ending(path)) {
			return f
		}
	}
	return nil
}

// ending is that of a file's name, without one that is for compression.
func ending(path string) string { return strings.ToLower(filepath.Ext(uncompressed(path))) }

// Stem is the name of a table's file without its folder, its ending and one for compression:
// "t" of x/t.csv.zst.
func Stem(path string) string {
	name := uncompressed(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// uncompressed is a file's name without its folder and an ending for compression.
func uncompressed(path string) string {
	name := filepath.Base(path)
	for _, by := range []string{".gz", ".zst"} {
		if rest := len(name) - len(by); rest >= 0 && strings.EqualFold(name[rest:], by) {
			name = name[:rest]
		}
	}
	return name
}

// format is the input's, by its first bytes; nil is text. A file that its name says is of a
// format, and that is not, is refused, and so are files of programs that must convert them.
func (in *input) format() (*fileFormat, error) {
	first, err := in.Peek(firstBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(err, in.name, ',')
	}
	if err := foreignFile(in.path, in.name, first); err != nil {
		return nil, err
	}
	for _, f := range fileFormats {
		if f.begins(first) {
			return f, nil
		}
	}
	named := byEnding(in.path)
	switch {
	case named == nil:
		return nil, nil
	case len(first) == 0:
		return nil, fmt.Errorf("%s: the file is empty", in.name)
	}
	return nil, fmt.Errorf("%s: it is named like %s, and does not begin like one: it is damaged, or of another kind and needs another name", in.name, named.name)
}

// content is the whole input, to be read at any place.
func (in *input) content() (io.ReaderAt, int64, error) {
	if file, ok := in.file.(io.ReaderAt); ok && !in.compressed {
		return file, in.size, nil
	}
	held, err := holdAll(in, in.name)
	return bytes.NewReader(held), int64(len(held)), err
}
