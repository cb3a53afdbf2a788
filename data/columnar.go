package data

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"missingscore/internal/memory"
)

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

	values   []float64 // of the part that is read, row by row
	observed []bool
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

// spacedBytes are taken by a cell with space around it, beside its text.
const spacedBytes = 80

// whole is the file as text.
func (c *columnarFile) whole() (*sheet, error) {
	s := &sheet{dialect: c.dialect, file: c.file, header: c.header, top: c.top, limit: c.limit, rowwise: c.rowwise, format: c.format, spaced: map[[2]int]string{}}
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
				cell := p.cells[j].text[i]
				if row[j] = strings.TrimSpace(cell); row[j] != cell && row[j] != "" {
					s.spaced[[2]int{len(s.rows), j}] = cell
					s.size += spacedBytes + float64(len(cell))
				}
			}
			if err := s.add(row, line); err != nil {
				return nil, err
			}
		}
	}
	if len(s.rows) == 0 {
		return nil, fmt.Errorf("%s: a header but no rows", c.file)
	}
	s.kinds, _ = c.reader.columns()
	return s, nil
}

// blocks visits the chosen columns as numbers, some rows at a time, in blocks of their own.
func (c *columnarFile) blocks(visit func(*block, []string) error) error {
	return c.each(func() *block { return &block{} }, visit)
}

// each is blocks, in blocks that room gives.
func (c *columnarFile) each(room func() *block, visit func(*block, []string) error) error {
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
		b := room()
		if err := c.numbersOf(b, rows, chosen, marks); err != nil {
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

// numbersOf sets b to what a part says, by the rules for cells of text: NaN is missing where it is
// such a mark there.
func (c *columnarFile) numbersOf(b *block, p *part, chosen []int, marks []float64) error {
	d := len(chosen)
	c.values, c.observed = slices.Grow(c.values[:0], len(p.rows)*d), slices.Grow(c.observed[:0], len(p.rows)*d)
	values, observed, w := c.values[:len(p.rows)*d], c.observed[:len(p.rows)*d], written{}
	for k, j := range chosen {
		cells := p.cells[k]
		for i := range p.rows {
			x, seen, text, err := c.options.cell(cells, i, marks)
			if err != nil {
				one := &sheet{dialect: c.dialect, file: c.file, header: c.header, rowwise: c.rowwise, lines: p.rows[i : i+1], rows: [][]string{make([]string, len(c.header))}}
				one.rows[0][j] = text
				return one.cellError(0, j, err, one.advice(c.options, text, err))
			}
			values[i*d+k], observed[i*d+k] = x, seen
			switch {
			case !seen || math.Abs(x) < 1<<53:
			case text != "":
				w.round(c.header[j], cellOf{text, p.rows[i]}, x)
			case c.all[j].kind == asWhole: // as read, so that it may be rounded already
				w.note(c.header[j], cellOf{format(x), p.rows[i]})
			}
		}
	}
	*b = block{values: b.values[:0], observed: b.observed[:0], lines: b.lines[:0], written: w}
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
	return nil
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
	g := &gatherer{name: c.file, limit: c.limit, size: float64(c.in.size)}
	one := &block{} // what it holds is copied
	err := c.each(func() *block { return one }, func(b *block, names []string) error {
		if g.table == nil {
			g.table = blank(names, 0)
		}
		c.in.tell(c.options, b.taken)
		return g.add(b)
	})
	if err == nil {
		g.table.Rounded = g.written.texts()
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
