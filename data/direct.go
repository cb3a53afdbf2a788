package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"missingscore/internal/memory"
	"missingscore/internal/panics"
)

// readDirectly reads a file whose chosen columns are all as they should be: numbers go to the
// table line by line, parts of the text at a time in parallel, and no text is held. found is
// false where anything is in the way, or where the file cannot be read twice: then the sheet,
// which holds the text, tells what it is.
func readDirectly(path string, o ReadOptions) (t *Table, found bool, err error) {
	about, err := os.Stat(path)
	if err != nil || !about.Mode().IsRegular() {
		return nil, false, nil
	}
	f, err := openText(path)
	if err != nil {
		return nil, false, nil
	}
	defer f.Close()
	text, err := newTextReader(f, path)
	if err != nil {
		return nil, false, err
	}
	g := &gatherer{limit: text.limit}
	text.limit = math.Inf(1) // the numbers are held, not the text
	if !strings.HasSuffix(path, ".gz") {
		g.size = float64(about.Size())
	}
	in := bufio.NewReaderSize(text, blockBytes)
	p, line, err := newLineParser(in, path, o)
	if err != nil {
		return nil, false, nil
	}
	g.table = blank(p.names, 0)
	err = g.gather(in, p, line)
	t = g.table
	var full *memory.Error
	switch {
	case errors.As(err, &full):
		full.What = path + ", " + full.What
		return nil, false, full
	case err != nil || t.N < 2 || t.refusal(path) != nil:
		return nil, false, nil
	}
	return t, true, nil
}

// errUnusual says that a line is for the sheet to understand.
var errUnusual = errors.New("not a line of numbers")

// lineParser understands lines of numbers and gaps.
type lineParser struct {
	options ReadOptions
	comma   rune
	names   []string // of the table's columns
	place   []int    // of each cell of a line among them, -1 for none
	numeric bool     // a mark of a missing cell looks like a number
}

// newLineParser reads the first line that is not blank, which names the columns. line is its number.
func newLineParser(in *bufio.Reader, path string, o ReadOptions) (p *lineParser, line int, err error) {
	p = &lineParser{options: o, comma: ','}
	if o.Comma != 0 {
		p.comma = o.Comma
	}
	var text []byte
	for len(bytes.TrimSpace(text)) == 0 {
		line++
		if text, err = in.ReadBytes('\n'); err != nil {
			return nil, line, err
		}
	}
	cells, err := p.split(text)
	if err != nil || len(cells) == 1 { // of one column the separator may be another
		return nil, line, errUnusual
	}
	s := &sheet{file: path, header: cells, top: line}
	columns, err := s.columns(o)
	if err != nil {
		return nil, line, err
	}
	p.place = make([]int, len(cells))
	for j := range p.place {
		p.place[j] = -1
	}
	for k, j := range columns {
		p.names, p.place[j] = append(p.names, cells[j]), k
	}
	for _, mark := range o.marks() {
		p.numeric = p.numeric || plausible([]byte(mark))
	}
	return p, line, nil
}

// split is a line's cells, by the rules of the sheet.
func (p *lineParser) split(text []byte) ([]string, error) {
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma, in.TrimLeadingSpace = p.comma, !isSpace(p.comma)
	cells, err := in.Read()
	for j, cell := range cells {
		cells[j] = strings.TrimSpace(cell)
	}
	return cells, err
}

// block is some whole lines, and what they hold.
type block struct {
	text  []byte
	first int // line

	values   []float64
	observed []bool
	lines    []int
	dropped  int
}

// parse fills in what the lines hold.
func (p *lineParser) parse(b *block) error {
	b.values, b.observed, b.lines, b.dropped = b.values[:0], b.observed[:0], b.lines[:0], 0
	line := b.first
	for rest := b.text; len(rest) > 0; line++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte{'\n'})
		text = bytes.TrimSuffix(text, []byte{'\r'})
		if len(bytes.TrimSpace(text)) == 0 && !bytes.ContainsRune(text, p.comma) { // not a row of tabs
			continue
		}
		if err := p.row(text, line, b); err != nil {
			return err
		}
	}
	return nil
}

// row adds a line to a block, unless it has no value.
func (p *lineParser) row(text []byte, line int, b *block) error {
	start, d := len(b.values), len(p.names)
	for range d {
		b.values, b.observed = append(b.values, 0), append(b.observed, false)
	}
	values, observed := b.values[start:], b.observed[start:]
	if bytes.IndexByte(text, '"') >= 0 || p.comma >= 0x80 {
		cells, err := p.split(text)
		if err != nil || len(cells) != len(p.place) {
			return errUnusual
		}
		for j, cell := range cells {
			if err := p.cell(j, []byte(cell), values, observed); err != nil {
				return err
			}
		}
	} else {
		last := len(p.place) - 1
		for j := range p.place {
			cell, rest, more := bytes.Cut(text, []byte{byte(p.comma)})
			if more == (j == last) {
				return errUnusual
			}
			if err := p.cell(j, bytes.TrimSpace(cell), values, observed); err != nil {
				return err
			}
			text = rest
		}
	}
	for _, seen := range observed {
		if seen {
			b.lines = append(b.lines, line)
			return nil
		}
	}
	b.values, b.observed = b.values[:start], b.observed[:start]
	b.dropped++
	return nil
}

// cell understands cell j of a line.
func (p *lineParser) cell(j int, cell []byte, values []float64, observed []bool) error {
	k := p.place[j]
	if k < 0 {
		return nil
	}
	looks := plausible(cell)
	if (!looks || p.numeric) && p.options.missing(string(cell)) {
		return nil
	}
	if !looks {
		return errUnusual
	}
	x, err := strconv.ParseFloat(string(cell), 64)
	if err != nil || math.Abs(x) > largest {
		return errUnusual
	}
	values[k], observed[k] = x, true
	return nil
}

// plausible tells whether a cell has only what numbers are written with.
func plausible(cell []byte) bool {
	for _, c := range cell {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return len(cell) > 0
}

// gatherer puts blocks together in their order.
type gatherer struct {
	limit float64 // bytes of memory
	size  float64 // of the file, 0 if it is not known
	taken float64 // of that
	table *Table
}

// blockBytes of text are understood at a time, one part by each processor.
const blockBytes = 1 << 20

// gather reads blocks and has them parsed, some at a time.
func (g *gatherer) gather(in io.Reader, p *lineParser, line int) error {
	blocks := make([]block, runtime.GOMAXPROCS(0))
	var left []byte // of a line that goes on
	for ended := false; !ended; {
		n := 0
		for ; n < len(blocks) && !ended; n++ {
			b := &blocks[n]
			b.first = line + 1
			var err error
			if left, ended, err = b.fill(in, left); err != nil {
				return err
			}
			line += bytes.Count(b.text, []byte{'\n'})
		}
		var pool errgroup.Group
		for i := range n {
			pool.Go(func() error { return panics.Caught(func() error { return p.parse(&blocks[i]) }) })
		}
		if err := pool.Wait(); err != nil {
			return err
		}
		for i := range n {
			if err := g.add(&blocks[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill reads whole lines behind what is left of the block before, and gives what is left of
// this one. ended is true after the last line, which need not have an end.
func (b *block) fill(in io.Reader, left []byte) (rest []byte, ended bool, err error) {
	b.text = append(b.text[:0], left...)
	for {
		start := len(b.text)
		b.text = append(b.text, make([]byte, blockBytes)...)
		n := 0
		for err == nil && start+n < len(b.text) { // io.ReadFull does not tell the end from a cut file's
			var some int
			some, err = in.Read(b.text[start+n:])
			n += some
		}
		b.text = b.text[:start+n]
		if err == io.EOF {
			return nil, true, nil
		}
		if err != nil {
			return nil, false, err
		}
		if end := bytes.LastIndexByte(b.text, '\n'); end >= 0 {
			rest = bytes.Clone(b.text[end+1:])
			b.text = b.text[:end+1]
			return rest, false, nil
		}
	}
}

// add appends what a block holds to the table.
func (g *gatherer) add(b *block) error {
	t := g.table
	g.taken += float64(len(b.text))
	t.Dropped += b.dropped
	t.N += len(b.lines)
	if t.N > cap(t.Lines) {
		if err := g.grow(b.first); err != nil {
			return err
		}
	}
	t.Values = append(t.Values, b.values...)
	t.Observed = append(t.Observed, b.observed...)
	t.Lines = append(t.Lines, b.lines...)
	return nil
}

// grow makes room for more rows: for as many as the file seems to have, if its size is known,
// otherwise for a quarter more than there are.
func (g *gatherer) grow(line int) error {
	t := g.table
	rows := t.N + t.N/4
	if g.size > 0 {
		rows = max(t.N, int(1.01*float64(t.N)*g.size/g.taken))
	}
	if need := float64(rows) * float64(9*t.D+8); need > g.limit {
		return &memory.Error{What: "read up to line " + strconv.Itoa(line) + ",", Need: need, Limit: g.limit, Advice: fewerCells}
	}
	values, observed, lines := make([]float64, len(t.Values), rows*t.D), make([]bool, len(t.Observed), rows*t.D), make([]int, len(t.Lines), rows)
	copy(values, t.Values)
	copy(observed, t.Observed)
	copy(lines, t.Lines)
	t.Values, t.Observed, t.Lines = values, observed, lines
	return nil
}
