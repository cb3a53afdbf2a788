// Package parquet reads and writes tables in Apache Parquet files. It reads top-level columns with
// one value per row; nulls are missing cells.
//
//	import _ "missingscore/data/parquet"
package parquet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"

	"missingscore/data/format"
	"missingscore/internal/memory"
)

func init() {
	format.Register(&format.Format{
		Name:    "a Parquet file",
		Endings: []string{".parquet", ".pq"},
		Begins:  func(first []byte) bool { return bytes.HasPrefix(first, []byte("PAR1")) },
		Open:    open,
		Write:   write,
	})
}

type reader struct {
	file     *parquet.File
	all      []format.Column
	leaves   []*parquet.Column
	meanings []meaning
	factors  map[string]bool
	group    int       // the next row group
	left     int64     // rows left in the present one
	row      int       // of the file, the last row read
	cursors  []*cursor // of the chosen columns in the present row group
}

func open(in *format.File) (format.Reader, error) {
	content, size, err := in.Content()
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(content, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			if need := float64(c.MetaData.TotalUncompressedSize); need > in.Limit {
				return nil, &memory.Error{What: "a column of a row group", Need: need, Limit: in.Limit, Advice: "write the file with smaller row groups"}
			}
		}
	}
	r := &reader{file: f, factors: factors(f)}
	for _, c := range f.Root().Columns() {
		m := meaningOf(c)
		r.all = append(r.all, format.Column{Name: c.Name(), Kind: m.kind, Ordered: r.factors[c.Name()]})
		r.leaves, r.meanings = append(r.leaves, c), append(r.meanings, m)
	}
	return r, nil
}

type meaning struct {
	kind   format.Kind
	number func(v parquet.Value) float64
	text   func(v parquet.Value) string
}

// The logical type goes before the physical type.
func meaningOf(c *parquet.Column) meaning {
	nothing := meaning{kind: format.Nothing}
	if !c.Leaf() || c.Repeated() {
		return nothing
	}
	if logical := c.Type().LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *pqformat.DecimalType:
			return decimals(l.Scale)
		case *pqformat.DateType:
			return integers(format.Date)
		case *pqformat.TimestampType:
			nanos, kind := nanosOf(l.Unit), format.Stamp
			if l.IsAdjustedToUTC {
				kind = format.Instant
			}
			return meaning{kind, nil, func(v parquet.Value) string { return format.Time(v.Int64(), nanos) + kind.Zone() }}
		case *pqformat.TimeType:
			nanos := nanosOf(l.Unit)
			return meaning{format.Text, nil, func(v parquet.Value) string {
				return time.Unix(0, integer(v)*nanos).UTC().Format("15:04:05.999999999")
			}}
		case *pqformat.Float16Type:
			return numbers(func(v parquet.Value) float64 { return float64(float16.FromLEBytes(v.ByteArray()).Float32()) })
		case *pqformat.IntType:
			if !l.IsSigned {
				return integers(format.Unsigned)
			}
		case *pqformat.ListType, *pqformat.MapType, *pqformat.VariantType, *pqformat.BsonType, *pqformat.GeometryType, *pqformat.GeographyType:
			return nothing
		}
	}
	switch c.Type().Kind() {
	case parquet.Boolean:
		return integers(format.Boolean)
	case parquet.Int32, parquet.Int64:
		return integers(format.Whole)
	case parquet.Float:
		return numbers(func(v parquet.Value) float64 { return float64(v.Float()) })
	case parquet.Double:
		return numbers(parquet.Value.Double)
	case parquet.Int96: // nanoseconds and Julian day
		return meaning{format.Stamp, nil, func(v parquet.Value) string {
			parts := v.Int96()
			nanos := int64(parts[0]) | int64(parts[1])<<32
			return time.Unix((int64(parts[2])-2440588)*86400, nanos).UTC().Format(format.TimeLayout)
		}}
	}
	return meaning{format.Text, nil, func(v parquet.Value) string {
		if text := v.ByteArray(); utf8.Valid(text) {
			return string(text)
		}
		return fmt.Sprintf("0x%x", v.ByteArray())
	}}
}

func numbers(value func(v parquet.Value) float64) meaning {
	return meaning{format.Numbers, value, func(v parquet.Value) string { return format.Number(value(v)) }}
}

func integers(k format.Kind) meaning {
	m := meaning{k, func(v parquet.Value) float64 { return float64(integer(v)) }, func(v parquet.Value) string { return k.Text(integer(v)) }}
	switch k {
	case format.Date:
		m.number = nil
	case format.Unsigned:
		m.number = func(v parquet.Value) float64 { return float64(unsigned(v)) }
		m.text = func(v parquet.Value) string { return k.Text(int64(unsigned(v))) }
	}
	return m
}

func decimals(scale int32) meaning {
	text := func(v parquet.Value) string {
		var digits big.Int
		switch v.Kind() {
		case parquet.Int32, parquet.Int64:
			digits.SetInt64(integer(v))
		default: // big-endian two's complement
			digits.SetBytes(v.ByteArray())
			if b := v.ByteArray(); len(b) > 0 && b[0] >= 0x80 {
				digits.Sub(&digits, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		return decimal256.FromBigInt(&digits).ToString(scale)
	}
	return meaning{format.Numbers, func(v parquet.Value) float64 {
		x, _ := strconv.ParseFloat(text(v), 64) // of digits: infinite at the worst
		return x
	}, text}
}

// integer extends a value to 64 bits with its sign, unsigned without one.
func integer(v parquet.Value) int64 {
	switch v.Kind() {
	case parquet.Int32:
		return int64(v.Int32())
	case parquet.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	}
	return v.Int64()
}

func unsigned(v parquet.Value) uint64 {
	if v.Kind() == parquet.Int32 {
		return uint64(v.Uint32())
	}
	return v.Uint64()
}

func nanosOf(u pqformat.TimeUnit) int64 {
	switch u.Value.(type) {
	case *pqformat.MilliSeconds:
		return 1e6
	case *pqformat.MicroSeconds:
		return 1e3
	}
	return 1
}

func (r *reader) Columns() ([]format.Column, int) { return r.all, 0 }

func (r *reader) Read(chosen []int, texts bool) (*format.Block, error) {
	groups := r.file.RowGroups()
	for r.left == 0 {
		if r.group == len(groups) {
			return nil, io.EOF
		}
		if err := r.enter(groups[r.group], chosen); err != nil {
			return nil, err
		}
		r.group++
	}
	rows := int(min(format.BlockRows, r.left))
	b := format.NewBlock(r.row, rows, len(chosen))
	r.row, r.left = r.row+rows, r.left-int64(rows)
	for k := range chosen {
		if err := r.cursors[k].read(&b.Cells[k], rows, texts); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (r *reader) enter(g parquet.RowGroup, chosen []int) error {
	if err := r.Close(); err != nil {
		return err
	}
	chunks := g.ColumnChunks()
	for _, j := range chosen {
		c := &cursor{meaning: r.meanings[j]}
		if c.kind != format.Nothing {
			chunk := chunks[r.leaves[j].Index()]
			c.values = parquet.NewColumnChunkValueReader(chunk)
			if _, factor := r.factors[r.all[j].Name]; factor && c.kind == format.Text {
				c.levels = levelsOf(chunk, c.text)
			}
		}
		r.cursors = append(r.cursors, c)
	}
	r.left = g.NumRows()
	return nil
}

func (r *reader) Rows() int { return int(r.file.NumRows()) }

func (r *reader) Index(int) (rows int, index any, err error) { return r.Rows(), nil, nil }

// Seek implements format.Seeker. It skips pages by the file's page index if there is one.
func (r *reader) Seek(_ any, row int, chosen []int) error {
	groups := r.file.RowGroups()
	r.row, r.left = row, 0
	for r.group = 0; r.group < len(groups) && int64(row) >= groups[r.group].NumRows(); r.group++ {
		row -= int(groups[r.group].NumRows())
	}
	if r.group == len(groups) {
		return io.ErrUnexpectedEOF
	}
	g := groups[r.group]
	r.group++
	for _, chunk := range g.ColumnChunks() {
		if _, err := chunk.OffsetIndex(); err != nil && !errors.Is(err, parquet.ErrMissingOffsetIndex) {
			return err
		}
	}
	if err := r.enter(g, chosen); err != nil {
		return err
	}
	for _, c := range r.cursors {
		if c.values == nil {
			continue
		}
		if err := c.values.SeekToRow(int64(row)); err != nil {
			return err
		}
	}
	r.left -= int64(row)
	return nil
}

func (r *reader) Close() (err error) {
	for _, c := range r.cursors {
		if c.values != nil {
			err = cmp.Or(err, c.values.Close())
		}
	}
	r.cursors = nil
	return err
}

type cursor struct {
	meaning
	values parquet.ColumnChunkValueReader // nil if nothing is read
	levels []string
	buffer [512]parquet.Value
}

func (c *cursor) read(to *format.Cells, rows int, texts bool) error {
	if c.values == nil {
		to.Text = slices.Repeat([]string{format.NestedCell}, rows)
		return nil
	}
	if texts = texts || c.number == nil; texts {
		to.Text, to.Levels = make([]string, rows), c.levels
	} else {
		to.Numbers, to.Present = make([]float64, rows), make([]bool, rows)
	}
	for done := 0; done < rows; {
		n, err := c.values.ReadValues(c.buffer[:min(rows-done, len(c.buffer))])
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		for _, v := range c.buffer[:n] {
			switch {
			case v.IsNull():
			case texts:
				to.Text[done] = c.text(v)
			default:
				to.Numbers[done], to.Present[done] = c.number(v), true
			}
			done++
		}
	}
	return nil
}

type schema struct {
	parquet.Group
	fields []parquet.Field
}

func (s schema) Fields() []parquet.Field { return s.fields }

type field struct {
	parquet.Node
	name string
}

func (f field) Name() string                      { return f.name }
func (f field) Value(reflect.Value) reflect.Value { return reflect.Value{} }

type writer struct {
	out     *parquet.GenericWriter[any]
	columns []format.Column
	rows    []parquet.Row
	written int
}

const groupRows = 1 << 17

func write(to io.Writer, columns []format.Column) (format.Writer, error) {
	s := schema{Group: parquet.Group{}}
	for _, c := range columns {
		node := parquet.String()
		switch c.Kind {
		case format.Numbers:
			node = parquet.Leaf(parquet.DoubleType)
		case format.Whole:
			node = parquet.Leaf(parquet.Int64Type)
		case format.Unsigned:
			node = parquet.Uint(64)
		case format.Boolean:
			node = parquet.Leaf(parquet.BooleanType)
		case format.Date:
			node = parquet.Date()
		case format.Stamp, format.Instant:
			node = parquet.TimestampAdjusted(parquet.Microsecond, c.Kind == format.Instant)
		}
		node = parquet.Compressed(parquet.Optional(node), &parquet.Snappy)
		s.Group[c.Name] = node
		s.fields = append(s.fields, field{node, c.Name})
	}
	return &writer{out: parquet.NewGenericWriter[any](to, parquet.NewSchema("table", s)), columns: columns}, nil
}

func (w *writer) Write(row []string) error {
	values := make(parquet.Row, len(row))
	for j, cell := range row {
		value, ok := valueOf(w.columns[j].Kind, cell)
		if !ok {
			return fmt.Errorf("column %q: %.60q does not fit the column's type", w.columns[j].Name, cell)
		}
		level := 1
		if value.IsNull() {
			level = 0
		}
		values[j] = value.Level(0, level, j)
	}
	if w.rows = append(w.rows, values); len(w.rows) < format.BlockRows {
		return nil
	}
	return w.flush()
}

// valueOf returns null for a missing cell; ok is false if the cell is not of kind k.
func valueOf(k format.Kind, cell string) (v parquet.Value, ok bool) {
	switch {
	case cell == "":
		return parquet.NullValue(), true
	case k == format.Text || k == format.Mixed:
		return parquet.ByteArrayValue([]byte(cell)), true
	case k == format.Numbers:
		x, err := strconv.ParseFloat(cell, 64)
		return parquet.DoubleValue(x), err == nil
	}
	x, ok := k.Integer(cell)
	switch k {
	case format.Boolean:
		return parquet.BooleanValue(x == 1), ok
	case format.Date:
		return parquet.Int32Value(int32(x)), ok
	}
	return parquet.Int64Value(x), ok
}

func (w *writer) flush() error {
	if _, err := w.out.WriteRows(w.rows); err != nil {
		return err
	}
	w.written += len(w.rows)
	w.rows = w.rows[:0]
	if w.written < groupRows {
		return nil
	}
	w.written = 0
	return w.out.Flush()
}

func (w *writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.out.Close()
}
