// Package arrow reads and writes tables in Apache Arrow IPC files (Feather 2). Nulls are missing
// cells.
//
//	import _ "missingscore/data/arrow"
package arrow

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"

	"missingscore/data/format"
)

func init() {
	format.Register(&format.Format{
		Name:    "an Arrow file",
		Endings: []string{".arrow", ".feather", ".ipc"},
		Begins:  func(first []byte) bool { return bytes.HasPrefix(first, []byte("ARROW1")) },
		Open:    open,
		Write:   write,
	})
}

type reader struct {
	file   *ipc.FileReader
	all    []format.Column
	number int // of the next record batch
	batch  arrow.RecordBatch
	at     int // rows of it already read
	row    int // of the file
}

// boundedAllocator panics above its bound: a damaged file may request any amount.
type boundedAllocator struct {
	arrowmemory.Allocator
	most int64
}

func (a boundedAllocator) Allocate(size int) []byte {
	if int64(size) > a.most {
		panic(format.Damaged("a part of %d bytes", size))
	}
	return a.Allocator.Allocate(size)
}

func open(in *format.File) (format.Reader, error) {
	content, size, err := in.Content()
	if err != nil {
		return nil, err
	}
	if err := soundFooter(content, size); err != nil {
		return nil, err
	}
	bounded := boundedAllocator{arrowmemory.NewGoAllocator(), max(1<<26, 1024*size)} // decompression expands a part at most 1024 times
	file, err := ipc.NewFileReader(io.NewSectionReader(content, 0, size), ipc.WithAllocator(bounded), ipc.WithBodySizeLimit(size), ipc.WithMetadataSizeLimit(size))
	if err != nil {
		return nil, err
	}
	r := &reader{file: file}
	for _, f := range file.Schema().Fields() {
		dictionary, _ := f.Type.(*arrow.DictionaryType)
		r.all = append(r.all, format.Column{Name: f.Name, Kind: kindOf(f.Type), Ordered: dictionary != nil && dictionary.Ordered})
	}
	return r, nil
}

func (r *reader) next() (arrow.RecordBatch, error) {
	if r.number == r.file.NumRecords() {
		return nil, io.EOF
	}
	r.number++
	return r.file.RecordBatchAt(r.number - 1)
}

// Index implements format.Seeker.
func (r *reader) Index(int) (int, any, error) {
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

func (r *reader) Seek(index any, row int, _ []int) error {
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

func kindOf(t arrow.DataType) format.Kind {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return kindOf(t.ValueType)
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

// numbersOf returns nil for columns that are read as text, among them decimals.
func numbersOf(values arrow.Array) func(i int) float64 {
	switch a := values.(type) {
	case *array.Float64:
		return a.Value
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float16:
		return func(i int) float64 { return float64(a.Value(i).Float32()) }
	case *array.Int64:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Boolean:
		return func(i int) float64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	}
	if arrow.IsInteger(values.DataType().ID()) {
		return func(i int) float64 {
			x, _ := strconv.ParseFloat(values.ValueStr(i), 64) // an integer's text
			return x
		}
	}
	return nil
}

// levelsOf returns the column's dictionary, nil if there is none or it has too many levels.
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
	case *array.Null:
		return func(int) string { return "" }
	case *array.Float64, *array.Float32, *array.Float16, *array.Boolean:
		number := numbersOf(a)
		return func(i int) string { return format.Number(number(i)) }
	case *array.Timestamp:
		nanos := int64(a.DataType().(*arrow.TimestampType).Unit.Multiplier())
		zone := kindOf(a.DataType()).Zone()
		return func(i int) string { return format.Time(int64(a.Value(i)), nanos) + zone }
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
	return r.file.Close()
}

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

// appendCell reports false if the cell is not of kind k. A missing cell becomes null.
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
		micros, ok := k.Integer(cell)
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
