package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"missingscore/internal/memory"
)

// Blocks reads a table some rows at a time, for what does not fit into memory or need not be
// held: sums, mini-batches. The blocks are the rows of the file in their order, each a Table of
// the same columns with its own memory, and no more than a few of them are held. Columns, marks
// of missing cells, the order of columns and errors are those of ReadFile; rows without a value
// are left out of a block and counted in its Dropped, so that it may have no row. What only a
// whole table can be asked is not checked: a column may be constant or empty in a block, or in
// all of them.
//
// Where blocks end depends on the file alone, not on the number of processors. The standard
// input and pipes are read as their rows come. After an error there is no further block; the
// file is closed when the loop ends, by its end or by a break.
//
//	for block, err := range data.Blocks("readings.csv", data.ReadOptions{Columns: names}) {
//		if err != nil {
//			return err
//		}
//		sums.Add(block)
//	}
func Blocks(path string, o ReadOptions) iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		in, err := openInput(path, false)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close()
		err = in.blocks(o, func(b *block, names []string) error {
			in.tell(o, b.taken)
			t := &Table{Names: names, N: len(b.lines), D: len(names), Values: b.values, Observed: b.observed, Lines: b.lines, Dropped: b.dropped}
			b.values, b.observed, b.lines = nil, nil, nil
			if !yield(t, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// errStop ends a reading whose caller has enough.
var errStop = errors.New("no more blocks are wanted")

// blocks visits the blocks of a file of any format.
func (in *input) blocks(o ReadOptions, visit func(*block, []string) error) error {
	f, err := in.format()
	if err != nil {
		return err
	}
	if f != nil {
		c, err := in.columnar(f, o)
		if err != nil {
			return err
		}
		defer c.reader.Close()
		return c.blocks(visit)
	}
	r, err := in.textBlocks(o)
	if err != nil {
		return err
	}
	rows := 0
	err = r.each(func(b *block) error {
		rows += len(b.lines) + b.dropped
		return visit(b, r.parser.names)
	})
	if err == nil && rows == 0 {
		err = fmt.Errorf("%s: a header but no rows", in.name)
	}
	return err
}

// tell says how far the reading is.
func (in *input) tell(o ReadOptions, taken int64) {
	if o.Progress != nil {
		o.Progress(taken, in.size)
	}
}

// csv reads a table of text: block by block, holding nothing but its numbers. A text that
// cannot be read so is read as a whole, to say what is wrong with it.
func (in *input) csv(o ReadOptions) (*Table, error) {
	t, err := in.gathered(o)
	if err == nil {
		err = t.acceptable(in.name)
	}
	var full *memory.Error
	var asked *thousandsError
	switch {
	case err == nil:
		return t, nil
	case errors.As(err, &full), errors.As(err, &asked):
		return nil, err
	}
	if begun := in.rewind(); begun != nil {
		return nil, begun
	}
	s, whole := in.sheet(o)
	if whole == nil {
		t, whole = s.table(o)
	}
	if errors.As(whole, &full) {
		return nil, err
	}
	return t, whole
}

// gathered is the table of all blocks.
func (in *input) gathered(o ReadOptions) (*Table, error) {
	r, err := in.textBlocks(o)
	if err != nil {
		return nil, err
	}
	g := &gatherer{name: in.name, limit: r.parser.limit, table: blank(r.parser.names, 0)}
	g.size = float64(in.size)
	err = r.each(func(b *block) error {
		in.tell(o, b.taken)
		return g.add(b)
	})
	g.table.Rounded = g.written.texts()
	return g.table, err
}

// textBlocks reads the header of a text.
func (in *input) textBlocks(o ReadOptions) (*textBlocks, error) {
	text, err := newTextReader(in, in.name)
	if err != nil {
		return nil, err
	}
	text.stream = true
	buffered, l, err := text.begin(o)
	if err != nil {
		return nil, readError(err, in.name, l.comma)
	}
	s := &sheet{dialect: l, file: in.name, limit: text.limit}
	r := &textBlocks{in: in, text: buffered}
	for s.header == nil {
		record, height, err := readRecord(buffered, memory.Room(text.limit)/lineFactor)
		if err != nil && err != io.EOF {
			return nil, readError(err, in.name, l.comma)
		}
		if wrong := s.fill(bytes.NewReader(record), r.line); wrong != nil {
			return nil, wrong
		}
		r.line += height
		r.header += int64(len(record))
		switch {
		case s.header != nil:
		case err == io.EOF:
			return nil, fmt.Errorf("%s: the file is empty; it needs a first line of column names and a line for each row", in.name)
		}
	}
	r.parser, err = newLineParser(s, o)
	if err == nil {
		return r, nil
	}
	r.parser = &lineParser{sheet: s}
	b := &block{}
	if _, unread := r.fill(b); unread == nil && s.fill(bytes.NewReader(b.text), b.first-1) == nil { // rows tell which columns can be used
		if _, better := s.columns(o); better != nil {
			err = better
		}
	}
	return nil, err
}

// readRecord reads a row: a line, or several where a cell in quotation marks goes on. height is
// how many. A row of more than most bytes is cut.
func readRecord(in *bufio.Reader, most float64) (record []byte, height int, err error) {
	for quotes := 0; err == nil && float64(len(record)) < min(most, longestLine); {
		var line []byte
		line, err = in.ReadBytes('\n')
		record, height = append(record, line...), height+1
		if quotes += bytes.Count(line, []byte{'"'}); quotes%2 == 0 {
			break
		}
	}
	return record, height, err
}
