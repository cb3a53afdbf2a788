package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"missingscore/internal/memory"
)

// parquetFile is a file of Apache Parquet. Columns of its first level that hold one value a row
// are read; nulls are missing cells.
var parquetFile = fileFormat{
	name:    "a Parquet file",
	endings: []string{".parquet", ".pq"},
	begins:  func(first []byte) bool { return bytes.HasPrefix(first, []byte("PAR1")) },
	open:    openParquet,
	write:   writeParquet,
}

// parquetReader reads a file row group by row group.
type parquetReader struct {
	file     *parquet.File
	all      []column
	leaves   []*parquet.Column
	meanings []parquetMeaning
	group    int              // the next
	left     int64            // rows of the present one
	row      int              // of the file, the last that was read
	cursors  []*parquetCursor // of the chosen columns in the present row group
	part     part             // that was read last
}

func openParquet(in *input, _ ReadOptions) (columnReader, error) {
	content, size, err := in.content()
	if err != nil {
		return nil, err
	}
	var foot [8]byte
	if _, err := content.ReadAt(foot[:], size-8); size < 12 || err != nil && err != io.EOF || string(foot[4:]) != "PAR1" {
		return nil, fmt.Errorf("it does not end as one")
	}
	n := int64(binary.LittleEndian.Uint32(foot[:]))
	if n > size-12 {
		return nil, fmt.Errorf("its footer would be longer than the file")
	}
	if err := soundParquetFooter(content, size-8-n, n); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(content, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	r := &parquetReader{file: f}
	for _, c := range f.Root().Columns() {
		m := meaningOf(c)
		r.all, r.leaves, r.meanings = append(r.all, column{c.Name(), m.kind}), append(r.leaves, c), append(r.meanings, m)
	}
	return r, r.bounded(content, size)
}

// bounded refuses a file whose pages would need more memory than there is, or claim what cannot be.
func (r *parquetReader) bounded(content io.ReaderAt, size int64) error {
	limit, err := memory.Limit()
	if err != nil {
		return err
	}
	for _, g := range r.file.Metadata().RowGroups {
		if g.NumRows < 0 {
			return fmt.Errorf("a row group has %d rows", g.NumRows)
		}
		for _, c := range g.Columns {
			if need := float64(c.MetaData.TotalUncompressedSize); need > limit {
				return &memory.Error{What: "a column of a row group", Need: need, Limit: limit, Advice: "write the file with smaller row groups"}
			}
		}
	}
	most := unpacked(size, limit/2)
	if err := soundFrames(content, size, most); err != nil {
		return err
	}
	return r.sound(content, size, most)
}

// parquetMeaning is what the values of a column stand for: of each its number, where the column
// has numbers, and its text.
type parquetMeaning struct {
	kind   kind
	number func(v parquet.Value) float64
	text   func(v parquet.Value) string
}

// meaningOf a column, by its logical type or else its physical one.
func meaningOf(c *parquet.Column) parquetMeaning {
	nothing := parquetMeaning{kind: asNothing}
	if !c.Leaf() || c.Repeated() {
		return nothing
	}
	if logical := c.Type().LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *parquetformat.DecimalType:
			return decimalMeaning(c.Type().Kind(), l.Scale)
		case *parquetformat.DateType:
			return parquetMeaning{asDate, nil, func(v parquet.Value) string {
				return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
			}}
		case *parquetformat.TimestampType:
			nanos, kind := nanosOf(l.Unit), asStamp
			if l.IsAdjustedToUTC {
				kind = asInstant
			}
			return parquetMeaning{kind, nil, func(v parquet.Value) string { return stamp(v.Int64(), nanos) + kind.zone() }}
		case *parquetformat.TimeType:
			nanos := nanosOf(l.Unit)
			return parquetMeaning{asText, nil, func(v parquet.Value) string {
				return time.Unix(0, 0).UTC().Add(time.Duration(parquetInteger(v) * nanos)).Format("15:04:05.999999999")
			}}
		case *parquetformat.Float16Type:
			return parquetMeaning{asNumbers, halfFloat, func(v parquet.Value) string { return formatAny(halfFloat(v)) }}
		case *parquetformat.IntType:
			if !l.IsSigned {
				return parquetMeaning{asUnsigned, func(v parquet.Value) float64 { return float64(parquetUnsigned(v)) },
					func(v parquet.Value) string { return strconv.FormatUint(parquetUnsigned(v), 10) }}
			}
		case *parquetformat.ListType, *parquetformat.MapType, *parquetformat.VariantType, *parquetformat.BsonType, *parquetformat.GeometryType, *parquetformat.GeographyType:
			return nothing
		}
	}
	return physicalMeaning(c.Type().Kind())
}

func physicalMeaning(physical parquet.Kind) parquetMeaning {
	switch physical {
	case parquet.Boolean:
		number := func(v parquet.Value) float64 {
			if v.Boolean() {
				return 1
			}
			return 0
		}
		return parquetMeaning{asBoolean, number, func(v parquet.Value) string { return format(number(v)) }}
	case parquet.Int32, parquet.Int64:
		return parquetMeaning{asWhole, func(v parquet.Value) float64 { return float64(parquetInteger(v)) },
			func(v parquet.Value) string { return strconv.FormatInt(parquetInteger(v), 10) }}
	case parquet.Float:
		number := func(v parquet.Value) float64 { return float64(v.Float()) }
		return parquetMeaning{asNumbers, number, func(v parquet.Value) string { return formatAny(number(v)) }}
	case parquet.Double:
		return parquetMeaning{asNumbers, parquet.Value.Double, func(v parquet.Value) string { return formatAny(v.Double()) }}
	case parquet.Int96: // nanoseconds of a Julian day
		return parquetMeaning{asStamp, nil, func(v parquet.Value) string {
			parts := v.Int96()
			nanos := int64(parts[0]) | int64(parts[1])<<32
			return time.Unix((int64(parts[2])-2440588)*86400, nanos).UTC().Format(stampLayout)
		}}
	}
	return parquetMeaning{asText, nil, func(v parquet.Value) string {
		if text := v.ByteArray(); utf8.Valid(text) {
			return string(text)
		}
		return fmt.Sprintf("0x%x", v.ByteArray())
	}}
}

// decimalMeaning is of numbers with so many decimals.
func decimalMeaning(physical parquet.Kind, decimals int32) parquetMeaning {
	text := func(v parquet.Value) string {
		var digits big.Int
		switch physical {
		case parquet.Int32, parquet.Int64:
			digits.SetInt64(parquetInteger(v))
		default: // two's complement, the largest byte first
			digits.SetBytes(v.ByteArray())
			if b := v.ByteArray(); len(b) > 0 && b[0] >= 0x80 {
				digits.Sub(&digits, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		return decimalText(&digits, int(decimals))
	}
	return parquetMeaning{asNumbers, func(v parquet.Value) float64 {
		x, err := strconv.ParseFloat(text(v), 64)
		if err != nil && !math.IsInf(x, 0) {
			return math.NaN()
		}
		return x
	}, text}
}

// decimalText is a whole number divided by a power of ten.
func decimalText(digits *big.Int, decimals int) string {
	if decimals <= 0 || decimals > mostDecimals {
		return digits.String()
	}
	sign, text := "", digits.String()
	if digits.Sign() < 0 {
		sign, text = "-", text[1:]
	}
	for len(text) <= decimals {
		text = "0" + text
	}
	return sign + text[:len(text)-decimals] + "." + text[len(text)-decimals:]
}

func parquetInteger(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func parquetUnsigned(v parquet.Value) uint64 {
	if v.Kind() == parquet.Int32 {
		return uint64(v.Uint32())
	}
	return v.Uint64()
}

func nanosOf(u parquetformat.TimeUnit) int64 {
	switch u.Value.(type) {
	case *parquetformat.MilliSeconds:
		return 1e6
	case *parquetformat.MicroSeconds:
		return 1e3
	}
	return 1
}

const stampLayout = "2006-01-02T15:04:05.999999999"

// stamp is a point in time, so many units of nanos nanoseconds after 1970.
func stamp(units, nanos int64) string {
	second := int64(1e9) / nanos
	whole, rest := units/second, units%second
	return time.Unix(whole, rest*nanos).UTC().Format(stampLayout)
}

// halfFloat is a number of two bytes, the smallest first (IEEE 754 binary16).
func halfFloat(v parquet.Value) float64 {
	b := v.ByteArray()
	if len(b) != 2 {
		return math.NaN()
	}
	return float64(float16.FromLEBytes(b).Float32())
}

func (r *parquetReader) columns() ([]column, int) { return r.all, 0 }

func (r *parquetReader) read(chosen []int, texts bool) (*part, error) {
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
	rows := int(min(partRows, r.left))
	r.part.next(r.row, rows, len(chosen))
	r.row, r.left = r.row+rows, r.left-int64(rows)
	for k := range chosen {
		if err := r.cursors[k].read(&r.part.cells[k], rows, texts); err != nil {
			return nil, err
		}
	}
	return &r.part, nil
}

// enter begins a row group.
func (r *parquetReader) enter(g parquet.RowGroup, chosen []int) error {
	if err := r.leave(); err != nil {
		return err
	}
	chunks := g.ColumnChunks()
	for _, j := range chosen {
		c := &parquetCursor{meaning: r.meanings[j]}
		if c.meaning.kind != asNothing {
			c.pages = chunks[r.leaves[j].Index()].Pages()
		}
		r.cursors = append(r.cursors, c)
	}
	r.left = g.NumRows()
	return nil
}

// done implements rowSeeker.
func (r *parquetReader) done() float64 { return float64(r.row) / float64(max(1, r.file.NumRows())) }

// count implements rowSeeker.
func (r *parquetReader) count() (rows int, err error) {
	for _, g := range r.file.RowGroups() {
		rows += int(g.NumRows())
	}
	return rows, nil
}

// seek implements rowSeeker. Pages before the row are passed over by the file's index of them, if
// it has one, and otherwise decompressed.
func (r *parquetReader) seek(row int, chosen []int) error {
	if err := r.leave(); err != nil {
		return err
	}
	r.row, r.left = row, 0
	groups := r.file.RowGroups()
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
		if c.pages == nil {
			continue
		}
		if err := c.pages.SeekToRow(int64(row)); err != nil {
			return err
		}
	}
	r.left -= int64(row)
	return nil
}

// leave ends a row group.
func (r *parquetReader) leave() error {
	for _, c := range r.cursors {
		if err := c.close(); err != nil {
			return err
		}
	}
	r.cursors = nil
	return nil
}

func (r *parquetReader) Close() error { return r.leave() }

// parquetCursor reads a column of a row group page by page.
type parquetCursor struct {
	meaning parquetMeaning
	pages   parquet.Pages // nil where nothing is read
	page    parquet.Page
	values  parquet.ValueReader
	buffer  [512]parquet.Value
}

// read gives the next values.
func (c *parquetCursor) read(to *cells, rows int, texts bool) error {
	texts = texts || c.meaning.number == nil
	if texts {
		to.asText(rows)
	} else {
		to.asNumbers(rows)
	}
	if c.pages == nil {
		for range rows {
			to.text = append(to.text, nestedCell)
		}
		return nil
	}
	for done := 0; done < rows; {
		values, err := c.next(rows - done)
		if err != nil {
			return err
		}
		for _, v := range values {
			switch {
			case texts && v.IsNull():
				to.text = append(to.text, "")
			case texts:
				to.text = append(to.text, c.meaning.text(v))
			case v.IsNull():
				to.numbers, to.present = append(to.numbers, 0), append(to.present, false)
			default:
				to.numbers, to.present = append(to.numbers, c.meaning.number(v)), append(to.present, true)
			}
		}
		done += len(values)
	}
	return nil
}

// next gives some values, one at least and at most so many.
func (c *parquetCursor) next(most int) ([]parquet.Value, error) {
	buffer := c.buffer[:min(most, len(c.buffer))]
	for {
		if c.page == nil {
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return nil, io.ErrUnexpectedEOF
			}
			if err != nil {
				return nil, err
			}
			c.page, c.values = page, page.Values()
		}
		n, err := c.values.ReadValues(buffer)
		if n > 0 {
			return buffer[:n], nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err == nil {
			return nil, io.ErrNoProgress
		}
		parquet.Release(c.page)
		c.page = nil
	}
}

func (c *parquetCursor) close() error {
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages == nil {
		return nil
	}
	return c.pages.Close()
}

// parquetSchema is a group whose columns stay in their order.
type parquetSchema struct {
	parquet.Group
	fields []parquet.Field
}

func (s parquetSchema) Fields() []parquet.Field { return s.fields }

// parquetField is a column of it.
type parquetField struct {
	parquet.Node
	name string
}

func (f parquetField) Name() string                      { return f.name }
func (f parquetField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// parquetWriter writes row groups of at most groupRows.
type parquetWriter struct {
	out     *parquet.GenericWriter[any]
	columns []column
	rows    []parquet.Row
	written int
}

const groupRows = 1 << 17

func writeParquet(to io.Writer, columns []column) (rowWriter, error) {
	schema := parquetSchema{Group: parquet.Group{}}
	for _, c := range columns {
		node := parquet.String()
		switch c.kind {
		case asNumbers:
			node = parquet.Leaf(parquet.DoubleType)
		case asWhole:
			node = parquet.Leaf(parquet.Int64Type)
		case asUnsigned:
			node = parquet.Uint(64)
		case asBoolean:
			node = parquet.Leaf(parquet.BooleanType)
		case asDate:
			node = parquet.Date()
		case asStamp, asInstant:
			node = parquet.TimestampAdjusted(parquet.Microsecond, c.kind == asInstant)
		}
		node = parquet.Compressed(parquet.Optional(node), &parquet.Snappy)
		schema.Group[c.name] = node
		schema.fields = append(schema.fields, parquetField{node, c.name})
	}
	return &parquetWriter{out: parquet.NewGenericWriter[any](to, parquet.NewSchema("table", schema)), columns: columns}, nil
}

func (w *parquetWriter) write(row []string) error {
	values := make(parquet.Row, len(row))
	for j, cell := range row {
		value, ok := w.columns[j].parquetValue(cell)
		if !ok {
			return fmt.Errorf("column %q: %.60q is of another kind", w.columns[j].name, cell)
		}
		level := 1
		if value.IsNull() {
			level = 0
		}
		values[j] = value.Level(0, level, j)
	}
	if w.rows = append(w.rows, values); len(w.rows) < partRows {
		return nil
	}
	return w.flush()
}

// parquetValue is a cell of the column, null where it is missing; ok is false where it is not of the
// column's kind.
func (c column) parquetValue(cell string) (v parquet.Value, ok bool) {
	if cell == "" {
		return parquet.NullValue(), true
	}
	switch c.kind {
	case asWhole:
		x, err := strconv.ParseInt(cell, 10, 64)
		return parquet.Int64Value(x), err == nil
	case asUnsigned:
		x, err := strconv.ParseUint(cell, 10, 64)
		return parquet.Int64Value(int64(x)), err == nil // the same bits
	case asBoolean:
		return parquet.BooleanValue(cell == "1"), cell == "0" || cell == "1"
	case asNumbers:
		x, err := strconv.ParseFloat(cell, 64)
		return parquet.DoubleValue(x), err == nil
	case asDate:
		days, ok := daysSince1970(cell)
		return parquet.Int32Value(days), ok
	case asStamp, asInstant:
		micros, ok := microseconds(c.kind, cell)
		return parquet.Int64Value(micros), ok
	}
	return parquet.ByteArrayValue([]byte(cell)), true
}

func (w *parquetWriter) flush() error {
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

func (w *parquetWriter) close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.out.Close()
}
