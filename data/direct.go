package data

import (
	"bytes"
	"io"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"missingscore/internal/memory"
	"missingscore/internal/panics"
)

// lineParser understands the lines of a text as numbers and gaps.
type lineParser struct {
	*sheet  // its header, without rows
	options ReadOptions
	names   []string // of the table's columns
	place   []int    // of each cell of a line among them, -1 for none
	likely  bool     // a mark of a missing cell has only what numbers are written with
	numeric bool     // one is a number
}

// newLineParser is for the chosen columns of a header.
func newLineParser(s *sheet, o ReadOptions) (*lineParser, error) {
	p := &lineParser{sheet: s, options: o}
	columns, err := s.columns(o)
	if err != nil {
		return nil, err
	}
	p.place = slices.Repeat([]int{-1}, len(s.header))
	for k, j := range columns {
		p.names, p.place[j] = append(p.names, s.header[j]), k
	}
	for _, mark := range o.marks() {
		p.likely = p.likely || plausible([]byte(mark), byte(p.decimal))
		_, err := p.number(mark)
		p.numeric = p.numeric || err == nil
	}
	return p, nil
}

// block is some whole lines, and what they hold.
type block struct {
	text  []byte
	first int   // line
	taken int64 // bytes of the file read when it was

	values   []float64
	observed []bool
	lines    []int
	dropped  int
	written  written

	done chan error // why it cannot be understood
}

// parse fills in what the lines hold. Lines that are no plain numbers are for the sheet to
// understand, or to say what they are.
func (p *lineParser) parse(b *block) error {
	b.values, b.observed, b.lines, b.dropped = b.values[:0], b.observed[:0], b.lines[:0], 0
	b.written = written{grouped: make([]grouped, len(p.names))}
	line := b.first
	for rest := b.text; len(rest) > 0; {
		var text []byte
		height := 1
		text, rest, height = cutRecord(rest)
		text = bytes.TrimSuffix(text, []byte{'\r'})
		if !p.blank(text) && !p.row(text, line, b) {
			return p.understand(b)
		}
		line += height
	}
	return nil
}

// blank tells whether a line is no row. One of tabs is where these separate cells.
func (p *lineParser) blank(text []byte) bool {
	return len(bytes.TrimSpace(text)) == 0 && !bytes.ContainsRune(text, p.comma)
}

// cutRecord takes the first row off a text: a line, or several where a cell in quotation marks
// goes on. height is how many.
func cutRecord(text []byte) (record, rest []byte, height int) {
	end, quotes := 0, 0
	for height = 1; ; height++ {
		k := bytes.IndexByte(text[end:], '\n')
		if k < 0 {
			return text, nil, height
		}
		quotes += bytes.Count(text[end:end+k], []byte{'"'})
		end += k
		if quotes%2 == 0 {
			return text[:end], text[end+1:], height
		}
		end++
	}
}

// row adds a row to a block, unless it has no value. It is false where this is not a row of
// numbers.
func (p *lineParser) row(text []byte, line int, b *block) bool {
	start, d := len(b.values), len(p.names)
	for range d {
		b.values, b.observed = append(b.values, 0), append(b.observed, false)
	}
	values, observed := b.values[start:], b.observed[start:]
	if bytes.IndexByte(text, '"') >= 0 || p.comma >= 0x80 {
		rows := &sheet{dialect: p.dialect, limit: p.limit, header: p.header}
		if err := rows.fill(bytes.NewReader(text), 0); err != nil || len(rows.rows) != 1 {
			return false
		}
		for j, cell := range rows.rows[0] {
			if !p.cell(j, []byte(cell), line, b, values, observed) {
				return false
			}
		}
	} else {
		last := len(p.place) - 1
		for j := range p.place {
			cell, rest, more := bytes.Cut(text, []byte{byte(p.comma)})
			if more == (j == last) || !p.cell(j, cell, line, b, values, observed) {
				return false
			}
			text = rest
		}
	}
	if slices.Contains(observed, true) {
		b.lines = append(b.lines, line)
		return true
	}
	b.values, b.observed = b.values[:start], b.observed[:start]
	b.dropped++
	return true
}

// cell understands cell j of a row.
func (p *lineParser) cell(j int, cell []byte, line int, b *block, values []float64, observed []bool) bool {
	k := p.place[j]
	if k < 0 {
		return true
	}
	if !p.numeric {
		if x, ok := simpleNumber(cell, byte(p.decimal)); ok {
			values[k], observed[k] = x, true
			if g := &b.written.grouped[k]; !g.no && !(len(cell) < 4 && x == math.Trunc(x) && (g.hundreds || math.Abs(x) < 100)) {
				b.written.see(k, p.names[k], cell, p.decimal, line, x)
			}
			return true
		}
	}
	cell = bytes.TrimSpace(cell)
	looks := plausible(cell, byte(p.decimal))
	if (!looks || p.likely) && p.options.missing(string(cell)) {
		return true
	}
	if !looks {
		return false
	}
	x, err := p.number(string(cell))
	if err != nil {
		return false
	}
	values[k], observed[k] = x, true
	b.written.see(k, p.names[k], cell, p.decimal, line, x)
	return true
}

// plausible tells whether a cell has only what numbers are written with.
func plausible[T string | []byte](cell T, decimal byte) bool {
	for i := range len(cell) {
		c := cell[i]
		if (c < '0' || c > '9') && c != decimal && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return len(cell) > 0
}

// powers of ten that are float64 exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// simpleNumber reads a number without an exponent whose digits make a whole number of at most 2⁵³.
// That and the power of ten are float64 exactly, so that the quotient is rounded once: the nearest
// float64, as strconv has it (Clinger 1990, "How to read floating point numbers accurately").
func simpleNumber(cell []byte, decimal byte) (x float64, ok bool) {
	digits, negative := cell, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, negative = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	var mantissa uint64
	point := -1
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			mantissa = 10*mantissa + uint64(c-'0')
		case c == decimal && point < 0:
			point = i
		default:
			return 0, false
		}
	}
	if mantissa > 1<<53 || point >= 0 && len(digits) == 1 {
		return 0, false
	}
	if x = float64(mantissa); point >= 0 {
		x /= powers[len(digits)-1-point]
	}
	if negative {
		x = -x
	}
	return x, true
}

// understand fills a block in by way of the sheet, whose errors name the cell.
func (p *lineParser) understand(b *block) error {
	s := &sheet{dialect: p.dialect, file: p.file, header: p.header, top: p.top, limit: p.limit}
	if err := s.fill(bytes.NewReader(b.text), b.first-1); err != nil {
		return err
	}
	t, w, err := s.numbers(p.options)
	if err != nil {
		return err
	}
	b.values, b.observed, b.lines, b.dropped, b.written = t.Values, t.Observed, t.Lines, t.Dropped, w
	return nil
}

// blockBytes of text are understood at a time.
const blockBytes = 1 << 20

// textBlocks are the blocks of a text behind its header.
type textBlocks struct {
	in      *input
	parser  *lineParser
	text    io.Reader
	header  int64   // its bytes
	written written // of the blocks visited
	line    int     // the last that was read
	left    []byte  // of a line that goes on
}

// each understands blocks side by side, in as many goroutines as there are processors, and has
// them visited one after another in their order. It is the first error of these.
func (r *textBlocks) each(visit func(*block) error) error {
	workers := runtime.GOMAXPROCS(0)
	free, work, ordered := make(chan *block, 2*workers), make(chan *block, 2*workers), make(chan *block, 2*workers)
	for range 2 * workers {
		free <- &block{done: make(chan error, 1)}
	}
	var pool errgroup.Group
	var unread error // why the text ends early; known when ordered is closed
	quit := make(chan struct{})
	pool.Go(func() error {
		defer close(ordered)
		defer close(work)
		unread = panics.Caught(func() error { return r.read(free, work, ordered, quit) })
		return nil
	})
	for range workers {
		pool.Go(func() error {
			for b := range work {
				b.done <- panics.Caught(func() error { return r.parser.parse(b) })
			}
			return nil
		})
	}
	var err error
	for b := range ordered {
		if failed := <-b.done; err == nil {
			err = failed
		}
		if err == nil {
			r.written.add(b.written)
			err = visit(b)
		}
		if err != nil {
			break
		}
		free <- b
	}
	close(quit)
	for range ordered { // let go of what was read since
	}
	_ = pool.Wait()
	if err == nil {
		err = unread
	}
	if err == nil {
		err = r.written.ask(r.in.name, r.parser.names, r.parser.options)
	}
	return err
}

// read reads blocks until the text ends.
func (r *textBlocks) read(free, work, ordered chan *block, quit chan struct{}) error {
	for ended := false; !ended; {
		var b *block
		select {
		case b = <-free:
		case <-quit:
			return nil
		}
		var err error
		if ended, err = r.fill(b); err != nil {
			return err
		}
		work <- b
		ordered <- b
	}
	return nil
}

// fill reads whole rows behind what is left of the block before. ended is true after the last,
// which need not have a line's end.
func (r *textBlocks) fill(b *block) (ended bool, err error) {
	b.first = r.line + 1
	b.text = append(b.text[:0], r.left...)
	for {
		start := len(b.text)
		b.text = slices.Grow(b.text, blockBytes)[:start+blockBytes]
		n := 0
		for err == nil && start+n < len(b.text) { // io.ReadFull does not tell the end from a cut file's
			var some int
			some, err = r.text.Read(b.text[start+n:])
			n += some
		}
		b.text, b.taken = b.text[:start+n], r.in.taken.Load()
		if err == io.EOF {
			r.left = nil
			return true, nil
		}
		if err != nil {
			return true, readError(err, r.in.name, r.parser.comma)
		}
		if end := lastRow(b.text); end > 0 {
			r.left = append(r.left[:0], b.text[end:]...)
			b.text = b.text[:end]
			r.line += bytes.Count(b.text, []byte{'\n'})
			return false, nil
		}
		if err := memory.Fits(lineFactor*float64(len(b.text)), r.parser.limit, "look for a quotation mark without its other one", "%s, a row from line %d on,", r.in.name, b.first); err != nil {
			return true, err
		}
	}
}

// lastRow is where the last row of a text that is whole ends, 0 if none is. A line's end between
// quotation marks ends no row.
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

// gatherer puts blocks together to a table.
type gatherer struct {
	name    string  // of the file
	limit   float64 // bytes of memory
	size    float64 // of the file, 0 if it is not known
	table   *Table
	written written
}

// add appends what a block holds to the table.
func (g *gatherer) add(b *block) error {
	t := g.table
	t.Dropped += b.dropped
	g.written.add(b.written)
	t.N += len(b.lines)
	if t.N > cap(t.Lines) {
		if err := g.grow(b); err != nil {
			return err
		}
	}
	t.Values = append(t.Values, b.values...)
	t.Observed = append(t.Observed, b.observed...)
	t.Lines = append(t.Lines, b.lines...)
	return nil
}

// grow makes room for more rows: first for as many as the file seems to have, if its size is
// known, then for a quarter more than there are.
func (g *gatherer) grow(b *block) error {
	t := g.table
	rows := t.N + t.N/4
	if g.size > 0 && b.taken > 0 && cap(t.Lines) == 0 {
		rows = max(t.N, int(math.Min(1.02*float64(t.N)*g.size/float64(b.taken), 1e15)))
	}
	need := float64(rows+cap(t.Lines)) * float64(9*t.D+8) // with what is copied
	if err := memory.Fits(need, g.limit, fewerCells, "%s, read up to line %d,", g.name, b.first); err != nil {
		return err
	}
	values, observed, lines := make([]float64, len(t.Values), rows*t.D), make([]bool, len(t.Observed), rows*t.D), make([]int, len(t.Lines), rows)
	copy(values, t.Values)
	copy(observed, t.Observed)
	copy(lines, t.Lines)
	t.Values, t.Observed, t.Lines = values, observed, lines
	return nil
}
