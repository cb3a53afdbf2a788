package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"missingscore/data/format"
)

// RowFile reads a table's file by blocks of rows in any order. Block k starts at nonblank row
// k·BlockRows. It follows the rules of Blocks. It is safe for concurrent use.
type RowFile struct {
	Path      string
	Names     []string
	LeftOut   []Column // columns that the blocks do not have
	Rows      int      // of the file, including rows without a value
	BlockRows int      // rows of a block; the last has fewer

	options ReadOptions
	begun   fs.FileInfo // the file as it was opened
	index   any         // of format.Seeker

	mu      sync.Mutex
	written written   // of the blocks read
	free    []*source // idle readers
	all     []*source
}

const (
	blockCells    = 1 << 18 // 2.4 MB of numbers and marks
	mostBlockRows = 1 << 16
)

func rowsOfBlock(d int) int {
	rows := 1
	for 2*rows <= mostBlockRows && 2*rows*d <= blockCells {
		rows *= 2
	}
	return rows
}

// OpenRows indexes the blocks of a file; blockRows = 0 gives blocks of up to a quarter of a million
// cells. It fails with ErrSequential for the standard input, pipes, compressed text, Excel
// workbooks and Arrow streams.
func OpenRows(path string, o ReadOptions, blockRows int) (*RowFile, error) {
	if path == Stdin {
		return nil, sequential("standard input", "write it to a file first")
	}
	about, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, noFile(path, err)
	case !about.Mode().IsRegular() && !about.IsDir():
		return nil, sequential(path, "it is a pipe or a device, not a file: write its content to a file first")
	}
	o, leftOut, err := fixedKinds(path, o)
	if err != nil {
		return nil, err
	}
	r := &RowFile{Path: path, LeftOut: leftOut, options: o, begun: about, BlockRows: blockRows}
	s, err := r.take()
	if err == nil && s.ahead != nil { // the reader is no longer at the beginning
		r.options.styles = s.options.styles
		s, err = r.take()
	}
	if err == nil {
		err = r.open(s)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.options.Progress = nil
	r.free = append(r.free, s)
	return r, nil
}

func (r *RowFile) open(s *source) (err error) {
	if s.in.compressed {
		return sequential(r.Path, "it is compressed: decompress it (gunzip, unzstd) first, or write it as Parquet")
	}
	seeker, ok := s.reader.(format.Seeker)
	if !ok {
		return sequential(r.Path, "it is "+s.format.Name+", which must be loaded whole: save it as CSV or Parquet")
	}
	r.Names = s.names
	if r.BlockRows == 0 {
		r.BlockRows = rowsOfBlock(len(r.Names))
	}
	err = s.guarded(func() (err error) { r.Rows, r.index, err = seeker.Index(r.BlockRows); return err })
	if err == nil && r.Rows == 0 {
		err = s.noRows()
	}
	return err
}

// ErrSequential means that a table can only be read from its beginning.
var ErrSequential = errors.New("mini-batches from a file need random access")

func sequential(path, why string) error { return fmt.Errorf("%s: %w: %s", path, ErrSequential, why) }

func (r *RowFile) take() (*source, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free); n > 0 {
		s := r.free[n-1]
		r.free = r.free[:n-1]
		return s, nil
	}
	s, err := openColumns(r.Path, r.options)
	if err != nil {
		return nil, err
	}
	r.all = append(r.all, s)
	return s, nil
}

// Blocks is the number of blocks.
func (r *RowFile) Blocks() int { return (r.Rows + r.BlockRows - 1) / r.BlockRows }

// Block reads block k. It fails if the file changed since it was opened.
func (r *RowFile) Block(k int) (*Table, error) {
	first := k * r.BlockRows
	if k < 0 || first >= r.Rows {
		return nil, fmt.Errorf("%s: there is no block %d among %d", r.Path, k+1, r.Blocks())
	}
	now, err := os.Stat(r.Path)
	if err != nil || !os.SameFile(now, r.begun) || now.Size() != r.begun.Size() || !now.ModTime().Equal(r.begun.ModTime()) {
		return nil, fmt.Errorf("%s: the file changed since it was opened: leave it unchanged, and begin again", r.Path)
	}
	s, err := r.take()
	if err != nil {
		return nil, err
	}
	defer func() {
		r.mu.Lock()
		r.free = append(r.free, s)
		r.mu.Unlock()
	}()
	last := min(first+r.BlockRows, r.Rows)
	if err := s.guarded(func() error { return s.reader.(format.Seeker).Seek(r.index, first, s.chosen) }); err != nil {
		return nil, err
	}
	all := &Table{Names: r.Names, D: len(r.Names)}
	for at := first; at < last; {
		read, _, err := s.block(last-at, true)
		if err == io.EOF {
			return nil, &format.Error{Text: fmt.Sprintf("%s: it ends before its row %d", r.Path, at+1), Cause: io.ErrUnexpectedEOF}
		}
		if err != nil {
			return nil, err
		}
		at += len(read.rows.Rows)
		r.mu.Lock()
		if r.written == nil {
			r.written = make(written, len(r.Names))
		}
		r.written.add(read.written)
		r.mu.Unlock()
		appendTable(all, read.table)
	}
	r.options.setKinds(all, r.LeftOut)
	return all, nil
}

// Size is the size of the file in bytes.
func (r *RowFile) Size() int64 { return r.begun.Size() }

// Refusal returns the first fault of a column or an ambiguity of the cells that the user must
// decide. All blocks must have been read.
func (r *RowFile) Refusal(columns []ColumnSums) error {
	if err := r.written.ask(r.Path, r.Names, r.options); err != nil {
		return err
	}
	return refusal(r.Path, r.Names, columns)
}

// Close closes the file.
func (r *RowFile) Close() (first error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		if err := s.Close(); first == nil {
			first = err
		}
	}
	r.all, r.free = nil, nil
	return first
}
