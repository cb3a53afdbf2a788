package data

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"missingscore/data/format"
	"missingscore/internal/memory"
	"missingscore/internal/panics"
)

// DefaultNA lists the default marks of missing cells.
var DefaultNA = []string{"", "NA", "N/A", "na", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", ".", "?"}

// ReadOptions configures reading. The zero value detects separator and decimal mark.
type ReadOptions struct {
	NA       []string               // marks of a missing cell, compared exactly; nil: DefaultNA. An empty cell is always missing
	Columns  []string               // to read, in this order; nil: all. Other columns are ignored
	Exclude  []string               // columns to leave out; each must exist
	Comma    rune                   // separator of the cells; 0: detected among comma, semicolon, tab and |
	Decimal  rune                   // '.' or ','; 0: detected
	Sheet    string                 // of an Excel workbook, by name or number from 1; "": the first
	Kinds    map[string]Column      // kinds and levels by column name; other columns are detected
	Nominal  []string               // columns of numbers whose values are levels without an order
	Numbers  []string               // columns of text to read as numbers: "12 kg", "45 %", "1 234", "−3"
	Strict   bool                   // an unusable column is an error; else it is left out (Table.LeftOut)
	Coded    bool                   // detects kinds: reads texts as levels, and leaves out unusable columns; else both are errors
	Lenient  bool                   // with Coded, to describe a file: also leaves out faulty columns, and accepts no row or no column
	Progress func(read, size int64) // receives the bytes read; size is 0 if unknown; may be nil

	styles map[string]*numberStyle // of the columns in Numbers; nil: from the first rows
}

func (o ReadOptions) marks() []string {
	if o.NA == nil {
		return DefaultNA
	}
	return o.NA
}

func (o ReadOptions) missing(cell string) bool {
	return cell == "" || slices.Contains(o.marks(), cell)
}

// ReadFile reads a table from a file; the path "-" is the standard input. It detects the format
// from the first bytes: an imported format of package format, or text (ParseCSV), plain or
// compressed by gzip or Zstandard. Typed files follow the rules of ParseCSV: a null is an empty
// cell, true and false are 1 and 0.
func ReadFile(path string, o ReadOptions) (*Table, error) { return tableOf(openSource(path, o, true)) }

// ReadCSV does the work of ReadFile for text, for any file name.
func ReadCSV(path string, o ReadOptions) (*Table, error) {
	in, err := openInput(path, true)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return tableOf(in.text(o))
}

// ParseCSV reads a table from UTF-8 text; name appears in messages. The first line names the
// columns. Blank lines and space around cells are ignored. Rows without a value in the chosen
// columns are counted in Dropped. It fails on cells that are not numbers, and where NewTable fails.
func ParseCSV(r io.Reader, name string, o ReadOptions) (*Table, error) {
	in, err := newInput(name, name)
	if err != nil {
		return nil, err
	}
	in.Reader = bufio.NewReaderSize(r, 1<<16)
	return tableOf(in.text(o))
}

func tableOf(s *source, err error) (*Table, error) {
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.choose(); err != nil {
		return nil, err
	}
	t, err := s.gather()
	if err == nil && !s.options.Lenient {
		err = acceptable(t, s.file)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Blocks reads a table in blocks of rows, in file order, each a Table with its own memory. It
// follows the rules of ReadFile, but columns may be constant or empty, and blocks may be empty.
// Block boundaries depend on the file alone. An error ends the sequence.
//
// With o.Coded the first rows determine the kinds of columns, nominal columns are left out, and a
// later text that is not a level of its column is an error. Kinds are not detected on pipes.
//
//	for block, err := range data.Blocks("readings.csv", data.ReadOptions{Columns: names}) {
//		if err != nil {
//			return err
//		}
//		sums.Add(block)
//	}
func Blocks(path string, o ReadOptions) iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		o, leftOut, err := fixedKinds(path, o)
		var s *source
		if err == nil {
			s, err = openColumns(path, o)
		}
		if err == nil {
			defer s.Close()
			_, err = s.tables(func(b readBlock, _ int64) error {
				if err := s.code(make([]*texts, b.table.D), &Table{}, b); err != nil {
					return err
				}
				o.setKinds(b.table, leftOut)
				if !yield(b.table, nil) {
					return errStop
				}
				return nil
			})
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// source reads the chosen columns of a file. A row goes from next through parse, code, gather and
// settle into a table.
type source struct {
	*head
	in     *input
	reader format.Reader
	all    []format.Column

	chosen  []int
	names   []string
	options ReadOptions
	ahead   *format.Block // a block read in advance; nil: none
	marks   []float64     // the marks of missing cells that are numbers
	plain   int           // chosen columns from this index on hold numbers, regardless of options; 0: none
	leftOut []Column
}

func openSource(path string, o ReadOptions, again bool) (*source, error) {
	in, err := openInput(path, again)
	if err != nil {
		return nil, err
	}
	s, err := in.source(o)
	if err != nil {
		in.Close()
		return nil, err
	}
	return s, nil
}

// openColumns opens a file that is read once, and chooses its columns.
func openColumns(path string, o ReadOptions) (*source, error) {
	s, err := openSource(path, o, false)
	if err != nil {
		return nil, err
	}
	if err := s.choose(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (in *input) source(o ReadOptions) (*source, error) {
	f, err := in.format()
	if err != nil {
		return nil, err
	}
	if f == nil {
		return in.text(o)
	}
	s := &source{head: &head{dialect: dialect{',', '.'}, file: in.name, format: f, rowwise: !f.Lines}, in: in}
	file := &format.File{Reader: in.Reader, Name: in.name, Sheet: o.Sheet, Limit: in.limit, Content: in.content}
	if !in.compressed {
		file.Size = in.size
	}
	err = s.guarded(func() (err error) {
		if s.reader, err = f.Open(file); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, s.begin(o)
}

func (in *input) text(o ReadOptions) (*source, error) {
	t, err := openText(in, o)
	if err != nil {
		return nil, err
	}
	s := &source{head: &head{dialect: t.dialect, file: in.name}, in: in, reader: t}
	return s, s.begin(o)
}

func (s *source) begin(o ReadOptions) error {
	s.in.progress, s.options, s.limit = o.Progress, o, s.in.limit
	s.all, s.top = s.reader.Columns()
	for _, c := range s.all {
		s.header = append(s.header, c.Name)
	}
	if len(s.all) == 0 {
		s.reader.Close()
		return fmt.Errorf("%s: the table has no columns", s.file)
	}
	for _, mark := range o.marks() {
		if x, err := s.number(mark); err == nil {
			s.marks = append(s.marks, x)
		}
	}
	return nil
}

func (s *source) Close() error { return cmp.Or(s.reader.Close(), s.in.Close()) }

// guarded turns errors and panics of a format's library into messages about the file.
func (s *source) guarded(do func() error) error {
	if s.format == nil {
		return do()
	}
	err := panics.Caught(do)
	var panicked *panics.Error
	var ready *format.Error
	var full *memory.Error
	var damage *format.Damage
	if errors.As(err, &panicked) {
		if e, ok := panicked.Value.(error); ok {
			err = e
		}
	}
	switch {
	case err == nil || err == io.EOF || errors.As(err, &ready):
		return err
	case errors.As(err, &full):
		if !strings.HasPrefix(full.What, s.file+", ") {
			full.What = s.file + ", " + full.What
		}
		return full
	}
	what := ""
	if errors.As(err, &damage) {
		what = " (" + damage.What + ")"
	}
	return &format.Error{Text: fmt.Sprintf("%s: cannot be read as %s: it is damaged or truncated%s; write it again, or save the table as CSV", s.file, s.format.Name, what), Cause: err}
}

// next reads a block, perhaps without its cells (complete); io.EOF after the last.
func (s *source) next(chosen []int, texts bool) (b *format.Block, err error) {
	if b, s.ahead = s.ahead, nil; b != nil {
		return b, nil
	}
	err = s.guarded(func() (err error) {
		b, err = s.reader.Read(chosen, texts)
		return err
	})
	return b, err
}

func complete(b *format.Block) error {
	if b.Parse == nil {
		return nil
	}
	parse := b.Parse
	b.Parse = nil
	return parse(b)
}

// nextRows reads a complete block of the chosen columns.
func (s *source) nextRows() (*format.Block, error) {
	b, err := s.next(s.chosen, false)
	if err == nil {
		err = complete(b)
	}
	return b, err
}

// readBlock is a block and, unless texts were requested, its table.
type readBlock struct {
	rows    *format.Block
	table   *Table
	written written
	texts   []*blockTexts // by column; nil for columns of numbers
}

// each parses blocks in parallel and visits them in file order.
func (s *source) each(chosen []int, texts bool, visit func(b readBlock, taken int64) error) error {
	type parsed struct {
		readBlock
		taken int64
		err   error
	}
	ordered, quit, ended := make(chan chan parsed, runtime.GOMAXPROCS(0)), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(ordered)
		for {
			var rows *format.Block
			err := panics.Caught(func() (err error) {
				rows, err = s.next(chosen, texts)
				return err
			})
			if err == io.EOF {
				return
			}
			one, taken := make(chan parsed, 1), s.in.taken.Load()
			select {
			case ordered <- one:
			case <-quit:
				return
			}
			if err != nil {
				one <- parsed{err: err}
				return
			}
			go func() {
				b := parsed{taken: taken, readBlock: readBlock{rows: rows}}
				b.err = panics.Caught(func() error {
					if err := complete(rows); err != nil || texts {
						return err
					}
					return s.parse(&b.readBlock, true)
				})
				one <- b
			}()
		}
	}()
	var err error
	rows := 0
	for one := range ordered {
		b := <-one
		if err = b.err; err == nil {
			rows += len(b.rows.Rows)
			err = visit(b.readBlock, b.taken)
		}
		if err != nil {
			break
		}
	}
	close(quit)
	<-ended
	if err == nil && rows == 0 {
		err = s.noRows()
	}
	return err
}

func (h *head) noRows() error { return fmt.Errorf("%s: a header but no rows", h.file) }

func (s *source) tables(visit func(b readBlock, taken int64) error) (all written, err error) {
	all = make(written, len(s.names))
	err = s.each(s.chosen, false, func(b readBlock, taken int64) error {
		s.in.tell(taken)
		all.add(b.written)
		return visit(b, taken)
	})
	if err == nil && !s.options.Lenient {
		err = all.ask(s.file, s.names, s.options)
	}
	return all, err
}

// gather reads all rows, and settles the kinds of columns if the options ask for kinds.
func (s *source) gather() (*Table, error) {
	t, found := blank(s.names, 0), make([]*texts, len(s.names))
	all, err := s.tables(func(b readBlock, taken int64) error {
		if err := s.code(found, t, b); err != nil {
			return err
		}
		return s.grow(t, b.table, taken)
	})
	if o := s.options; err == nil && (o.Coded || len(o.Kinds) > 0 || len(o.Nominal) > 0) {
		err = s.settle(t, found, all)
	}
	return t, err
}

// grow appends a block. It reserves the estimated number of rows, or at least a quarter more.
func (s *source) grow(t, b *Table, taken int64) error {
	if n := t.N + b.N; n > cap(t.Lines) {
		rows, line := n+n/4, 0
		if b.N > 0 {
			line = b.Lines[0]
		}
		fits := func(rows int) error {
			need := float64(rows+cap(t.Lines)) * float64(9*t.D+8) // including the copy
			return memory.Fits(need, s.limit, fewerCells, "%s, read up to line %d,", s.file, line)
		}
		if c, ok := s.reader.(format.Counter); ok && cap(t.Lines) == 0 {
			rows = max(n, c.Rows())
		} else if s.in.size > 0 && taken > 0 {
			likely := max(n, int(math.Min(1.02*float64(n)*float64(s.in.size)/float64(taken), 1e15)))
			fit := fits(likely)
			if cap(t.Lines) == 0 || likely > rows && fit == nil { // a compressed file is read ahead at first
				rows = likely
			} else if fit != nil && 20*taken > s.in.size {
				return fit
			}
		}
		if err := fits(rows); err != nil {
			return err
		}
		t.Values = append(make([]float64, 0, rows*t.D), t.Values...)
		t.Observed = append(make([]bool, 0, rows*t.D), t.Observed...)
		t.Lines = append(make([]int, 0, rows), t.Lines...)
	}
	appendTable(t, b)
	return nil
}

// parse fills in the block's table, without empty rows if drop. A column of texts holds indices of
// blockTexts until code.
func (s *source) parse(r *readBlock, drop bool) (err error) {
	b := r.rows
	t := blank(s.names, len(b.Rows))
	r.table, r.written, r.texts = t, make(written, t.D), make([]*blockTexts, t.D)
	for k := range b.Cells {
		if r.texts[k], err = s.column(t, &r.written[k], b, k); err != nil {
			return err
		}
	}
	t.Lines = b.Rows
	if kept := withValues(t, nil); drop && len(kept) < t.N {
		r.table = only(t, kept)
		r.table.Dropped = t.N - len(kept)
	}
	return nil
}

// block reads the next rows, at most most, as a table of their own.
func (s *source) block(most int, drop bool) (b readBlock, found []*texts, err error) {
	if b.rows, err = s.nextRows(); err != nil {
		return b, nil, err
	}
	b.rows.Cut(most)
	if err = s.parse(&b, drop); err != nil {
		return b, nil, err
	}
	found = make([]*texts, len(s.names))
	return b, found, s.code(found, &Table{}, b)
}

// column reads column k of a block: as numbers, else as texts if the options allow texts.
func (s *source) column(t *Table, w *grouped, b *format.Block, k int) (*blockTexts, error) {
	c, name, plain := b.Cells[k], s.names[k], s.plain > 0 && k >= s.plain
	if !plain && s.options.declared(name).hasLevels() {
		return s.texts(t, b, k), nil
	}
	decimal, style := s.decimal, s.options.styles[name]
	if c.Text == nil {
		style = nil
	}
	if style != nil {
		decimal = style.decimal
	}
	for i, line := range b.Rows {
		x, seen, digits, err := s.cell(c, i, style)
		switch {
		case err != nil && (plain || style != nil || !s.options.Coded):
			return nil, s.faulty(b, i, k, err)
		case err != nil:
			w.no = true
			found, why := s.texts(t, b, k), err
			found.fault = func() error { return s.faulty(b, i, k, why) }
			return found, nil
		case seen:
			if t.set(i, k, x); s.format == nil || style != nil {
				w.see(digits, decimal, line, x)
			}
		}
	}
	return nil, nil
}

func (s *source) faulty(b *format.Block, i, k int, why error) error {
	part, err := s.part(b)
	switch {
	case err != nil:
		return err
	case s.plain > 0 && k >= s.plain:
		return part.cellError(i, k, why, "weights are numbers, 0 or more")
	}
	return part.cellError(i, k, why, part.columnAdvice(s.options, i, k, why))
}

// part is a sheet of the block's rows and chosen columns.
func (s *source) part(b *format.Block) (*sheet, error) {
	part := &sheet{head: new(head)}
	*part.head = *s.head
	part.header = s.names
	return part, part.take(b)
}

// cell returns the number of a cell, and its text: digits and marks if it was text or is at fault.
func (s *source) cell(c format.Cells, i int, style *numberStyle) (x float64, seen bool, text string, err error) {
	if c.Text == nil {
		x = c.Numbers[i]
		switch {
		case !c.Present[i], slices.Contains(s.marks, x):
			return 0, false, "", nil
		case math.Abs(x) <= LargestValue:
			return x, true, "", nil
		}
		text = format.Number(x) // not finite or too large
	} else {
		if text = c.Text[i]; s.format != nil {
			text = strings.TrimSpace(text)
		}
		if text == "" {
			return 0, false, "", nil
		}
		if s.marks == nil && style == nil {
			if x, err = s.number(text); err == nil {
				return x, true, text, nil
			}
		}
	}
	switch {
	case s.options.missing(text):
		return 0, false, "", nil
	case style != nil:
		x, text, err = style.number(text)
	default:
		x, err = s.number(text)
	}
	return x, true, text, err
}

var (
	errNotNumber = errors.New("is not a number")
	errInfinite  = errors.New("is infinite")
	errTooLarge  = errors.New("is too large, its square overflows")
)

// number parses a plain decimal number. It excludes strconv's hexadecimal, underscores and NaN.
func number(cell string) (float64, error) {
	for i := range len(cell) {
		if c := cell[i]; (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			if word := strings.ToLower(strings.TrimLeft(cell, "+-")); word == "inf" || word == "infinity" {
				return 0, errInfinite
			}
			return 0, errNotNumber
		}
	}
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, errNotNumber
	case math.IsInf(x, 0):
		return 0, errInfinite
	case math.Abs(x) > LargestValue:
		return 0, errTooLarge
	}
	return x, nil
}

// FormatNumber returns the shortest text that reads back as x, and "" for NaN.
func FormatNumber(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
