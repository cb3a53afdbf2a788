package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// RowFile is a table's file that is read a block of rows at a time, in any order and as often as
// is wanted: nothing of it is held but where its blocks begin. Block k is of the file's rows
// from k·BlockRows on, counting from 0 those below the header that are not blank, so that blocks
// are the same whatever the format. Columns, marks of missing cells, the order of columns and
// errors are those of Blocks. Its methods may be called side by side.
type RowFile struct {
	Path      string
	Names     []string
	Rows      int // of the file, those without any value included
	BlockRows int // of a block; the last has fewer

	options ReadOptions
	in      rowBlocks
	begun   fs.FileInfo // the file as it was opened

	mu      sync.Mutex
	written written // of the blocks read
}

// rowBlocks are the blocks of a file of one kind.
type rowBlocks interface {
	// read gives the rows from first on, before last.
	read(first, last int) (*block, error)
	Close() error
}

const (
	blockCells    = 1 << 18 // of a block of a RowFile: 2.4 MB of numbers and marks
	mostBlockRows = 1 << 16
)

// rowsOfBlock is how many rows a block has of a table of d columns: the largest power of two of
// which blockCells cells are not exceeded, mostBlockRows at most.
func rowsOfBlock(d int) int {
	rows := 1
	for 2*rows <= mostBlockRows && 2*rows*d <= blockCells {
		rows *= 2
	}
	return rows
}

// OpenRows looks through a file for where its blocks begin. blockRows is the number of rows in
// one; 0: by the number of columns, so that a block has up to a quarter of a million cells. It refuses what
// cannot be read from any place: the standard input and pipes, compressed text, Excel workbooks
// and streams of Arrow. Options' Progress is told of this first reading of a text, and of no later one.
func OpenRows(path string, o ReadOptions, blockRows int) (*RowFile, error) {
	about, err := regular(path)
	if err != nil {
		return nil, err
	}
	in, err := openInput(path, false)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := in.format()
	if err != nil {
		return nil, err
	}
	if in.compressed {
		return nil, sequential(path, "it is compressed: decompress it (gunzip, unzstd) first, or write it as Parquet")
	}
	r := &RowFile{Path: path, options: o, begun: about, BlockRows: blockRows}
	if f == nil {
		err = r.openText(in, o)
	} else {
		err = r.openColumnar(in, f, o)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// regular refuses what can be read once only.
func regular(path string) (fs.FileInfo, error) {
	if path == Stdin {
		return nil, sequential("standard input", "write it to a file first")
	}
	about, err := os.Stat(path)
	var system *fs.PathError
	switch {
	case errors.As(err, &system):
		return nil, fileError{fmt.Sprintf("%s: %v", path, system.Err), err}
	case err != nil:
		return nil, err
	case !about.Mode().IsRegular() && !about.IsDir():
		return nil, sequential(path, "it is no file but a pipe or a device: write what comes from it to a file first")
	}
	return about, nil
}

// SequentialError says that a table can be read from its beginning only.
type SequentialError struct{ Path, Why string }

func (e *SequentialError) Error() string {
	return fmt.Sprintf("%s: mini-batches straight from a file need rows from any place of it, again and again: %s", e.Path, e.Why)
}

func sequential(path, why string) error { return &SequentialError{path, why} }

// Blocks is how many blocks there are.
func (r *RowFile) Blocks() int { return (r.Rows + r.BlockRows - 1) / r.BlockRows }

// Block reads block k. It fails if the file has changed since it was opened.
func (r *RowFile) Block(k int) (*Table, error) {
	first := k * r.BlockRows
	if k < 0 || first >= r.Rows {
		return nil, fmt.Errorf("%s: there is no block %d among %d", r.Path, k+1, r.Blocks())
	}
	now, err := os.Stat(r.Path)
	if err != nil || !os.SameFile(now, r.begun) || now.Size() != r.begun.Size() || !now.ModTime().Equal(r.begun.ModTime()) {
		return nil, fmt.Errorf("%s: the file has been changed or replaced since it was opened: leave it as it is, and begin again", r.Path)
	}
	b, err := r.in.read(first, min(first+r.BlockRows, r.Rows))
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.written.add(b.written)
	r.mu.Unlock()
	return &Table{Names: r.Names, N: len(b.lines), D: len(r.Names), Values: b.values, Observed: b.observed, Lines: b.lines, Dropped: b.dropped}, nil
}

// Size is that of the file in bytes.
func (r *RowFile) Size() int64 { return r.begun.Size() }

// Close lets go of the file.
func (r *RowFile) Close() error { return r.in.Close() }

// textRows are the blocks of a text.
type textRows struct {
	file   *os.File
	parser *lineParser
	rows   int     // of a block
	starts []int64 // where each block begins, and the end
	lines  []int   // in which line
}

const byteOrderMark = "\ufeff"

// openText notes where the blocks of a text begin.
func (r *RowFile) openText(in *input, o ReadOptions) error {
	at := int64(0)
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		at = int64(len(mark))
	}
	text, err := in.textBlocks(o)
	if err != nil {
		return err
	}
	r.Names = text.parser.names
	if r.BlockRows == 0 {
		r.BlockRows = rowsOfBlock(len(r.Names))
	}
	t := &textRows{parser: text.parser, rows: r.BlockRows}
	at += text.header
	for ended := false; !ended; {
		b := &block{}
		if ended, err = text.fill(b); err != nil {
			return err
		}
		in.tell(o, b.taken)
		line := b.first
		for rest := b.text; len(rest) > 0; {
			record, next, height := cutRecord(rest)
			if !text.parser.blank(record) {
				if r.Rows%t.rows == 0 {
					t.starts, t.lines = append(t.starts, at), append(t.lines, line)
				}
				r.Rows++
			}
			at, line, rest = at+int64(len(rest)-len(next)), line+height, next
		}
	}
	if r.Rows == 0 {
		return fmt.Errorf("%s: a header but no rows", in.name)
	}
	t.starts = append(t.starts, at)
	t.file, err = os.Open(r.Path)
	r.in = t
	return err
}

func (t *textRows) read(first, _ int) (*block, error) {
	k := first / t.rows
	b := &block{text: make([]byte, t.starts[k+1]-t.starts[k]), first: t.lines[k]}
	if _, err := t.file.ReadAt(b.text, t.starts[k]); err != nil && err != io.EOF {
		return nil, readError(err, t.parser.file, t.parser.comma)
	}
	return b, t.parser.parse(b)
}

func (t *textRows) Close() error { return t.file.Close() }

// rowSeeker is a columnReader that can go to any row.
type rowSeeker interface {
	columnReader
	// done is the share of the file's rows that were read, about.
	done() float64
	// count is how many rows the file has.
	count() (int, error)
	// seek goes to a row, from 0, of some columns: the next read begins with it.
	seek(row int, chosen []int) error
}

// columnarRows are the blocks of another file. Each reading has a reader of its own, which is kept
// for the next.
type columnarRows struct {
	path    string
	options ReadOptions
	chosen  []int
	marks   []float64

	mu   sync.Mutex
	free []*columnarFile
	all  []*columnarFile
}

// openColumnar counts the rows of a file of another format.
func (r *RowFile) openColumnar(in *input, f *fileFormat, o ReadOptions) error {
	o.Progress = nil
	c := &columnarRows{path: r.Path, options: o, marks: o.numericMarks()}
	first, err := c.take()
	if err != nil {
		return err
	}
	defer c.give(first)
	seeker, ok := first.reader.(rowSeeker)
	if !ok {
		c.Close()
		return sequential(r.Path, "it is "+f.name+", which is held as a whole: write it as CSV or Parquet")
	}
	p, err := newLineParser(first.sheet, o)
	if err == nil {
		r.Names = p.names
		c.chosen, err = first.columns(o)
	}
	if err == nil {
		err = first.guarded(func() (err error) { r.Rows, err = seeker.count(); return err })
	}
	if err == nil && r.Rows == 0 {
		err = fmt.Errorf("%s: a header but no rows", in.name)
	}
	if err != nil {
		c.Close()
		return err
	}
	if r.BlockRows == 0 {
		r.BlockRows = rowsOfBlock(len(r.Names))
	}
	r.in = c
	return nil
}

// take gives a reader that nobody else has.
func (c *columnarRows) take() (*columnarFile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		f := c.free[n-1]
		c.free = c.free[:n-1]
		return f, nil
	}
	in, err := openInput(c.path, false)
	if err != nil {
		return nil, err
	}
	f, err := in.format()
	if err == nil && f == nil {
		err = fmt.Errorf("%s: the file has been replaced since it was opened", c.path)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	file, err := in.columnar(f, c.options)
	if err != nil {
		in.Close()
		return nil, err
	}
	c.all = append(c.all, file)
	return file, nil
}

func (c *columnarRows) give(f *columnarFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = append(c.free, f)
}

func (c *columnarRows) read(first, last int) (*block, error) {
	f, err := c.take()
	if err != nil {
		return nil, err
	}
	defer c.give(f)
	if err := f.guarded(func() error { return f.reader.(rowSeeker).seek(first, c.chosen) }); err != nil {
		return nil, err
	}
	all, b := &block{}, &block{}
	for at := first; at < last; {
		p, err := f.next(c.chosen, false)
		if err == io.EOF {
			return nil, fileError{fmt.Sprintf("%s: it ends before its row %d", c.path, at+1), io.ErrUnexpectedEOF}
		}
		if err != nil {
			return nil, err
		}
		p.cut(last - at)
		at += len(p.rows)
		if err := f.numbersOf(b, p, c.chosen, c.marks); err != nil {
			return nil, err
		}
		all.values, all.observed, all.lines = append(all.values, b.values...), append(all.observed, b.observed...), append(all.lines, b.lines...)
		all.dropped += b.dropped
		all.written.add(b.written)
	}
	return all, nil
}

// cut leaves so many rows at most.
func (p *part) cut(most int) {
	if len(p.rows) <= most {
		return
	}
	p.rows = p.rows[:most]
	for k, c := range p.cells {
		if c.text != nil {
			p.cells[k].text = c.text[:most]
			continue
		}
		p.cells[k].numbers, p.cells[k].present = c.numbers[:most], c.present[:most]
	}
}

func (c *columnarRows) Close() (first error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.all {
		for _, end := range []func() error{f.reader.Close, f.in.Close} {
			if err := end(); first == nil {
				first = err
			}
		}
	}
	c.all, c.free = nil, nil
	return first
}
