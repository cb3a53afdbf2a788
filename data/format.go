package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"missingscore/internal/memory"
	"missingscore/internal/panics"
	"missingscore/internal/plainwords"
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
	asText    kind = iota
	asNumbers      // numbers
	asWhole        // whole numbers
	asBoolean      // 1 and 0
	asNothing      // lists, structures: nothing that is read
)

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

// cells of a column in a part: numbers, or text with "" for a missing cell. A missing number
// is one that is not present.
type cells struct {
	numbers []float64
	present []bool
	text    []string
}

// A rowWriter writes a table row by row; a cell that is no number is missing in a column of
// numbers.
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

// columnar opens the input as of a format.
func (in *input) columnar(f *fileFormat, o ReadOptions) (*columnarFile, error) {
	c := &columnarFile{in: in, format: f, options: o}
	limit, err := memory.Limit()
	if err != nil {
		return nil, err
	}
	if err := c.guarded(func() (err error) { c.reader, err = f.open(in, o); return err }); err != nil {
		return nil, err
	}
	all, row := c.reader.columns()
	c.all = all
	c.sheet = &sheet{dialect: dialect{',', '.'}, file: in.name, top: row, limit: limit, rowwise: row == 0}
	for _, column := range all {
		c.header = append(c.header, column.name)
	}
	if len(all) == 0 {
		c.reader.Close()
		return nil, fmt.Errorf("%s: the table has no columns", in.name)
	}
	return c, nil
}

// columnarFile is an open file of a format.
type columnarFile struct {
	*sheet  // its header, without rows
	in      *input
	format  *fileFormat
	options ReadOptions
	reader  columnReader
	all     []column
}

// guarded has a library do something with the file. Whatever goes wrong is the file's fault.
func (c *columnarFile) guarded(do func() error) error {
	err := panics.Caught(do)
	var panicked *panics.Error
	var plain fileError
	var full *memory.Error
	switch {
	case err == nil || errors.As(err, &plain) || errors.As(err, &full):
		return err
	case errors.As(err, &panicked):
		if full, ok := panicked.Value.(*memory.Error); ok {
			full.What = c.in.name + ", " + full.What
			return full
		}
		err = fmt.Errorf("%v", panicked.Value)
	}
	return fileError{fmt.Sprintf("%s: cannot be read as %s: it is damaged or cut%s; write it again, or save the table as CSV", c.in.name, c.format.name, inWords(err)), err}
}

// inWords is what a library says of a file, in brackets; nothing where that is of its program: who
// has a file learns nothing by it.
func inWords(err error) string {
	line := firstLine(err)
	if plainwords.Unknown(line) != "" {
		return ""
	}
	return " (" + line + ")"
}

// firstLine is an error on one line, cut where it is long.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if words := []rune(line); len(words) > 120 {
		line = string(words[:120]) + "…"
	}
	return strings.ToValidUTF8(line, "?")
}

// next reads some rows; after the last, the error is io.EOF.
func (c *columnarFile) next(chosen []int, texts bool) (p *part, err error) {
	ended := false
	err = c.guarded(func() (err error) {
		p, err = c.reader.read(chosen, texts)
		if ended = err == io.EOF; ended {
			return nil
		}
		return err
	})
	if ended {
		return nil, io.EOF
	}
	return p, err
}

// whole is the file as text.
func (c *columnarFile) whole() (*sheet, error) {
	s := &sheet{dialect: c.dialect, file: c.file, header: c.header, top: c.top, limit: c.limit, rowwise: c.rowwise, format: c.format, kinds: c.all}
	every := make([]int, len(c.all))
	for j := range every {
		every[j] = j
	}
	for {
		p, err := c.next(every, true)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, line := range p.rows {
			row := make([]string, len(every))
			for j := range row {
				row[j] = strings.TrimSpace(p.cells[j].text[i])
			}
			if err := s.add(row, line); err != nil {
				return nil, err
			}
		}
	}
	if len(s.rows) == 0 {
		return nil, fmt.Errorf("%s: a header but no rows", c.file)
	}
	return s, nil
}

// blocks visits the chosen columns as numbers, some rows at a time.
func (c *columnarFile) blocks(visit func(*block, []string) error) error {
	p, err := newLineParser(c.sheet, c.options)
	if err != nil {
		return err
	}
	chosen, err := c.columns(c.options)
	if err != nil {
		return err
	}
	marks := c.options.numericMarks()
	found := false
	for {
		rows, err := c.next(chosen, false)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		found = found || len(rows.rows) > 0
		b, err := c.numbersOf(rows, chosen, marks)
		if err != nil {
			return err
		}
		b.taken = c.in.taken.Load()
		if r, ok := c.reader.(rowSeeker); ok { // it is not read from its beginning to its end
			b.taken = int64(r.done() * float64(c.in.size))
		}
		if err := visit(b, p.names); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s: a header but no rows", c.file)
	}
	return nil
}

// numericMarks are the marks of missing cells that are numbers.
func (o ReadOptions) numericMarks() (marks []float64) {
	for _, mark := range o.marks() {
		if x, err := number(mark); err == nil {
			marks = append(marks, x)
		}
	}
	return marks
}

// numbersOf understands a part, by the rules for cells of text: NaN is missing where it is such
// a mark there.
func (c *columnarFile) numbersOf(p *part, chosen []int, marks []float64) (*block, error) {
	d := len(chosen)
	values, observed := make([]float64, len(p.rows)*d), make([]bool, len(p.rows)*d)
	for k, j := range chosen {
		cells := p.cells[k]
		for i := range p.rows {
			x, seen, text, err := c.options.cell(cells, i, marks)
			if err != nil {
				one := &sheet{dialect: c.dialect, file: c.file, header: c.header, rowwise: c.rowwise, lines: p.rows[i : i+1], rows: [][]string{make([]string, len(c.header))}}
				one.rows[0][j] = text
				return nil, one.cellError(0, j, err, one.advice(c.options, text, err))
			}
			if seen {
				values[i*d+k], observed[i*d+k] = x, true
			}
		}
	}
	b := &block{}
	if len(p.rows) > 0 {
		b.first = p.rows[0]
	}
	for i, row := range p.rows {
		if seen := observed[i*d : (i+1)*d]; slices.Contains(seen, true) {
			b.values, b.observed, b.lines = append(b.values, values[i*d:(i+1)*d]...), append(b.observed, seen...), append(b.lines, row)
		} else {
			b.dropped++
		}
	}
	return b, nil
}

// cell is the number in row i of some cells, if there is one; text is what cannot be one.
func (o ReadOptions) cell(c cells, i int, marks []float64) (x float64, seen bool, text string, err error) {
	if c.text != nil {
		if text = strings.TrimSpace(c.text[i]); o.missing(text) {
			return 0, false, text, nil
		}
		x, err = number(text)
		return x, true, text, err
	}
	x = c.numbers[i]
	switch {
	case !c.present[i], slices.Contains(marks, x):
		return 0, false, "", nil
	case math.Abs(x) <= largest:
		return x, true, "", nil
	}
	if text = formatAny(x); o.missing(text) { // not a number, infinite or too large
		return 0, false, text, nil
	}
	_, err = number(text)
	return x, true, text, err
}

// table reads the file as a table; what is wrong with it, text says.
func (c *columnarFile) table() (*Table, error) {
	g := &gatherer{limit: c.limit, size: float64(c.in.size)}
	err := c.blocks(func(b *block, names []string) error {
		if g.table == nil {
			g.table = blank(names, 0)
		}
		c.in.tell(c.options, b.taken)
		return g.add(b)
	})
	if err == nil {
		err = g.table.acceptable(c.file)
	}
	var full *memory.Error
	var broken fileError
	switch {
	case err == nil:
		return g.table, nil
	case errors.As(err, &full):
		full.What = c.file + ", " + strings.TrimPrefix(full.What, c.file+", ")
		return nil, full
	case errors.As(err, &broken):
		return nil, err
	}
	if worse := c.again(); worse != nil {
		return nil, worse
	}
	s, whole := c.whole()
	var t *Table
	if whole == nil {
		t, whole = s.table(c.options)
	}
	if errors.As(whole, &full) {
		return nil, err
	}
	return t, whole
}

// again opens the file once more.
func (c *columnarFile) again() error {
	c.reader.Close()
	if err := c.in.rewind(); err != nil {
		return err
	}
	return c.guarded(func() (err error) { c.reader, err = c.format.open(c.in, c.options); return err })
}

// formatAny is format for what a table does not hold, too.
func formatAny(x float64) string {
	switch {
	case x != x:
		return "NaN"
	case math.IsInf(x, 1):
		return "Inf"
	case math.IsInf(x, -1):
		return "-Inf"
	}
	return format(x)
}

// ReadFile reads a table from a file, by its first bytes an Excel workbook, a Parquet or an Arrow
// (Feather) file, or text as ReadCSV reads it, each plain or compressed by gzip or Zstandard; the
// path "-" is the standard input.
//
// A file that is no text is read as if its cells were text: a null is an empty cell, a NaN the
// cell "NaN", a number its shortest decimal, true and false 1 and 0, a date its text. So the
// rules of ParseCSV and its errors are those of these files, but where a file has no lines
// they count rows, the first below the names being row 1.
func ReadFile(path string, o ReadOptions) (*Table, error) {
	in, err := openInput(path, true)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.table(o)
}

// table reads a file of any format.
func (in *input) table(o ReadOptions) (*Table, error) {
	f, err := in.format()
	if err != nil {
		return nil, err
	}
	if f == nil {
		return in.csv(o)
	}
	c, err := in.columnar(f, o)
	if err != nil {
		return nil, err
	}
	defer func() { c.reader.Close() }()
	return c.table()
}
