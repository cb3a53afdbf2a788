// Package arrow reads and writes tables in Apache Arrow IPC files (Feather 2), and reads IPC
// streams. Nulls are missing cells.
//
//	import _ "missingscore/data/arrow"
package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"

	"missingscore/data/format"
	"missingscore/internal/memory"
)

func init() {
	format.Register(&format.Format{
		Name:    "an Arrow file",
		Endings: []string{".arrow", ".feather", ".ipc", ".arrows"},
		Begins: func(first []byte) bool {
			return bytes.HasPrefix(first, fileMark) || bytes.HasPrefix(first, []byte{0xff, 0xff, 0xff, 0xff})
		},
		Open:  open,
		Write: write,
	})
}

var fileMark = []byte("ARROW1")

type reader struct {
	next  func() (arrow.RecordBatch, error) // io.EOF after the last
	all   []format.Column
	batch arrow.RecordBatch
	at    int // rows of it already read
	row   int // of the file
	end   func() error
}

// fileReader reads the record batches of a file, from any row.
type fileReader struct {
	*reader
	file   *ipc.FileReader
	number int // of the next record batch
}

// boundedAllocator panics with a *memory.Error above its bound: a damaged file may request any
// amount.
type boundedAllocator struct {
	arrowmemory.Allocator
	most float64
}

func (a boundedAllocator) check(size int) {
	if size < 0 || float64(size) > a.most {
		panic(&memory.Error{What: "a part of it", Need: float64(size), Limit: a.most, Advice: "write the file with smaller record batches, if it is not damaged"})
	}
}

func (a boundedAllocator) Allocate(size int) []byte {
	a.check(size)
	return a.Allocator.Allocate(size)
}

func (a boundedAllocator) Reallocate(size int, b []byte) []byte {
	a.check(size)
	return a.Allocator.Reallocate(size, b)
}

func open(in *format.File) (format.Reader, error) {
	limit, err := memory.Limit()
	if err != nil {
		return nil, err
	}
	most := limit / 2
	if in.Size > 0 { // decompression expands a part at most 1024 times
		most = min(most, max(1<<26, 1024*float64(in.Size)))
	}
	options := []ipc.Option{ipc.WithAllocator(boundedAllocator{arrowmemory.NewGoAllocator(), most})}
	if first, _ := in.Peek(len(fileMark)); !bytes.Equal(first, fileMark) {
		if in.Size > 0 { // no part is larger than the file
			most = min(most, float64(in.Size))
		}
		if in.Size > 0 { // the size of a pipe is unknown
			begin, _ := in.Peek(in.Reader.Size())
			if n := int(min(uint64(len(begin)), 8+uint64(binary.LittleEndian.Uint32(begin[4:])))); n > 8 && n < len(begin) {
				if err := soundSchema(begin[8:n], messageHeader); err != nil {
					return nil, err
				}
			}
		}
		options = append(options, ipc.WithBodySizeLimit(int64(most)), ipc.WithMetadataSizeLimit(int64(min(most, mostSchema))))
		stream, err := ipc.NewReaderFromMessageReader(ipc.NewMessageReader(in, options...), options...) // NewReader forgets the limits
		if err != nil {
			return nil, err
		}
		r := &reader{next: stream.Read, end: func() error { stream.Release(); return nil }}
		return r, r.name(stream.Schema())
	}
	content, size, err := in.Content()
	if err != nil {
		return nil, err
	}
	if err := soundFooter(content, size); err != nil {
		return nil, err
	}
	file, err := ipc.NewFileReader(io.NewSectionReader(content, 0, size), append(options, ipc.WithBodySizeLimit(size), ipc.WithMetadataSizeLimit(size))...)
	if err != nil {
		return nil, err
	}
	r := &fileReader{file: file}
	r.reader = &reader{end: file.Close, next: func() (arrow.RecordBatch, error) {
		if r.number == file.NumRecords() {
			return nil, io.EOF
		}
		r.number++
		return file.RecordBatchAt(r.number - 1)
	}}
	return r, r.name(file.Schema())
}

// mostSchema is the maximum size of a stream's schema in bytes.
const mostSchema = 64 << 20

// Index implements format.Seeker: the number of rows before each record batch, and in total.
func (r *fileReader) Index(int) (int, any, error) {
	starts := []int{0}
	for i := range r.file.NumRecords() {
		batch, err := r.file.RecordBatchAt(i)
		if err != nil {
			return 0, nil, err
		}
		starts = append(starts, starts[i]+int(batch.NumRows()))
		batch.Release()
	}
	return starts[len(starts)-1], starts, nil
}

func (r *fileReader) Seek(index any, row int, _ []int) error {
	starts := index.([]int)
	r.release()
	r.row = row
	for r.number = 0; r.number+1 < len(starts) && row >= starts[r.number+1]; r.number++ {
	}
	batch, err := r.next()
	if err != nil {
		return err
	}
	r.batch, r.at = batch, row-starts[r.number-1]
	return nil
}

func (r *reader) name(schema *arrow.Schema) error {
	for _, f := range schema.Fields() {
		if scale := decimals(f.Type); scale < -mostDecimals || scale > mostDecimals {
			return format.Damaged("a column has numbers with %d decimals", scale)
		}
		dictionary, _ := f.Type.(*arrow.DictionaryType)
		r.all = append(r.all, format.Column{Name: f.Name, Kind: kindOf(f.Type), Ordered: dictionary != nil && dictionary.Ordered})
	}
	return nil
}

// mostDecimals bounds the length of a number's text.
const mostDecimals = 100

// decimals returns the scale of a decimal type; 0 for other types.
func decimals(t arrow.DataType) int32 {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return decimals(t.ValueType)
	case arrow.ExtensionType:
		return decimals(t.StorageType())
	case arrow.DecimalType:
		return t.GetScale()
	}
	return 0
}

func kindOf(t arrow.DataType) format.Kind {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return kindOf(t.ValueType)
	case arrow.ExtensionType:
		return kindOf(t.StorageType())
	case arrow.NestedType:
		return format.Nothing
	}
	switch id := t.ID(); {
	case id == arrow.BOOL:
		return format.Boolean
	case arrow.IsUnsignedInteger(id):
		return format.Unsigned
	case arrow.IsInteger(id):
		return format.Whole
	case arrow.IsFloating(id), arrow.IsDecimal(id), id == arrow.NULL:
		return format.Numbers
	case id == arrow.DATE32, id == arrow.DATE64:
		return format.Date
	case id == arrow.TIMESTAMP && t.(*arrow.TimestampType).TimeZone != "":
		return format.Instant
	case id == arrow.TIMESTAMP:
		return format.Stamp
	}
	return format.Text
}

func (r *reader) Columns() ([]format.Column, int) { return r.all, 0 }

func (r *reader) Read(chosen []int, texts bool) (*format.Block, error) {
	for r.batch == nil || r.at == int(r.batch.NumRows()) {
		r.release()
		batch, err := r.next()
		if err != nil {
			return nil, err
		}
		if int(batch.NumCols()) != len(r.all) {
			return nil, format.Damaged("a record batch has %d columns instead of %d", batch.NumCols(), len(r.all))
		}
		r.batch, r.at = batch, 0
	}
	n := min(format.BlockRows, int(r.batch.NumRows())-r.at)
	b := format.NewBlock(r.row, n, len(chosen))
	for k, j := range chosen {
		values := r.batch.Column(j)
		if values.Len() < r.at+n {
			return nil, format.Damaged("column %q has %d rows instead of %d", r.all[j].Name, values.Len(), r.batch.NumRows())
		}
		c := &b.Cells[k]
		number := numbersOf(values)
		if texts || number == nil {
			show := textOf(values)
			c.Text, c.Levels = make([]string, n), levelsOf(values)
			for i := range n {
				if values.IsValid(r.at + i) {
					c.Text[i] = show(r.at + i)
				}
			}
			continue
		}
		c.Numbers, c.Present = make([]float64, n), make([]bool, n)
		for i := range n {
			if values.IsValid(r.at + i) {
				c.Numbers[i], c.Present[i] = number(r.at+i), true
			}
		}
	}
	r.row, r.at = r.row+n, r.at+n
	return b, nil
}

func converted[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32](a interface{ Value(int) T }) func(int) float64 {
	return func(i int) float64 { return float64(a.Value(i)) }
}

func numbersOf(values arrow.Array) func(i int) float64 {
	switch a := values.(type) {
	case *array.Float64:
		return a.Value
	case *array.Float32:
		return converted(a)
	case *array.Float16:
		return func(i int) float64 { return float64(a.Value(i).Float32()) }
	case *array.Int8:
		return converted(a)
	case *array.Int16:
		return converted(a)
	case *array.Int32:
		return converted(a)
	case *array.Int64:
		return converted(a)
	case *array.Uint8:
		return converted(a)
	case *array.Uint16:
		return converted(a)
	case *array.Uint32:
		return converted(a)
	case *array.Uint64:
		return converted(a)
	case *array.Boolean:
		return func(i int) float64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	}
	return nil // also decimals: written as text
}

// levelsOf returns the dictionary of a column in order; nil without a dictionary, or if it is too
// long for levels.
func levelsOf(values arrow.Array) (levels []string) {
	const most = 1000
	a, ok := values.(*array.Dictionary)
	if !ok || a.Dictionary().Len() > most || kindOf(a.Dictionary().DataType()) != format.Text {
		return nil
	}
	show := textOf(a.Dictionary())
	for k := range a.Dictionary().Len() {
		if a.Dictionary().IsValid(k) {
			levels = append(levels, show(k))
		}
	}
	return levels
}

func textOf(values arrow.Array) func(i int) string {
	switch a := values.(type) {
	case *array.Dictionary:
		show := textOf(a.Dictionary())
		return func(i int) string {
			if k := a.GetValueIndex(i); k >= 0 && k < a.Dictionary().Len() && a.Dictionary().IsValid(k) {
				return show(k)
			}
			return ""
		}
	case array.ExtensionArray:
		return textOf(a.Storage())
	case *array.Null:
		return func(int) string { return "" }
	case *array.Float64, *array.Float32, *array.Float16:
		number := numbersOf(a)
		return func(i int) string { return format.Number(number(i)) }
	case *array.Boolean:
		return func(i int) string {
			if a.Value(i) {
				return "1"
			}
			return "0"
		}
	case *array.Timestamp:
		nanos := int64(a.DataType().(*arrow.TimestampType).Unit.Multiplier())
		zone := kindOf(a.DataType()).Zone()
		return func(i int) string { return format.Time(int64(a.Value(i)), nanos) + zone }
	case *array.String:
		return func(i int) string { return strings.Clone(a.Value(i)) }
	case *array.LargeString:
		return func(i int) string { return strings.Clone(a.Value(i)) }
	}
	if kindOf(values.DataType()) == format.Nothing {
		return func(int) string { return format.NestedCell }
	}
	return func(i int) string { return strings.Clone(values.ValueStr(i)) }
}

func (r *reader) release() {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
}

func (r *reader) Close() error {
	r.release()
	return r.end()
}

// writer writes record batches of at most 16·format.BlockRows rows.
type writer struct {
	out     *ipc.FileWriter
	builder *array.RecordBuilder
	columns []format.Column
	rows    int
}

func write(to io.Writer, columns []format.Column) (format.Writer, error) {
	fields := make([]arrow.Field, len(columns))
	for j, c := range columns {
		var t arrow.DataType = arrow.BinaryTypes.String
		switch c.Kind {
		case format.Numbers:
			t = arrow.PrimitiveTypes.Float64
		case format.Whole:
			t = arrow.PrimitiveTypes.Int64
		case format.Unsigned:
			t = arrow.PrimitiveTypes.Uint64
		case format.Boolean:
			t = arrow.FixedWidthTypes.Boolean
		case format.Date:
			t = arrow.FixedWidthTypes.Date32
		case format.Stamp:
			t = &arrow.TimestampType{Unit: arrow.Microsecond}
		case format.Instant:
			t = arrow.FixedWidthTypes.Timestamp_us // in UTC
		}
		fields[j] = arrow.Field{Name: c.Name, Type: t, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	out, err := ipc.NewFileWriter(to, ipc.WithSchema(schema), ipc.WithLZ4())
	if err != nil {
		return nil, err
	}
	return &writer{out: out, builder: array.NewRecordBuilder(arrowmemory.NewGoAllocator(), schema), columns: columns}, nil
}

func (w *writer) Write(row []string) error {
	for j, cell := range row {
		if !appendCell(w.builder.Field(j), w.columns[j].Kind, cell) {
			return fmt.Errorf("column %q: %.60q does not fit the column's type", w.columns[j].Name, cell)
		}
	}
	if w.rows++; w.rows < 16*format.BlockRows {
		return nil
	}
	return w.flush()
}

// appendCell appends a cell to a column, null if missing; false if the cell is not of kind k.
func appendCell(to array.Builder, k format.Kind, cell string) bool {
	if cell == "" {
		to.AppendNull()
		return true
	}
	switch b := to.(type) {
	case *array.StringBuilder:
		b.Append(cell)
		return true
	case *array.TimestampBuilder:
		micros, ok := format.Microseconds(k, cell)
		b.Append(arrow.Timestamp(micros))
		return ok
	}
	return to.AppendValueFromString(cell) == nil
}

func (w *writer) flush() error {
	batch := w.builder.NewRecordBatch()
	defer batch.Release()
	w.rows = 0
	return w.out.Write(batch)
}

func (w *writer) Close() error {
	defer w.builder.Release()
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.out.Close()
}
