package data

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"

	"missingscore/internal/memory"
)

// arrowFile is a file of Apache Arrow's interprocess format, which Feather 2 is, or a stream of it.
// Nulls are missing cells.
var arrowFile = fileFormat{
	name:    "an Arrow file",
	endings: []string{".arrow", ".feather", ".ipc", ".arrows"},
	begins: func(first []byte) bool {
		return bytes.HasPrefix(first, []byte("ARROW1")) || bytes.HasPrefix(first, []byte{0xff, 0xff, 0xff, 0xff})
	},
	open:  openArrow,
	write: writeArrow,
}

// arrowReader reads record batches one after another.
type arrowReader struct {
	next  func() (arrow.RecordBatch, error) // io.EOF after the last
	all   []column
	batch arrow.RecordBatch
	at    int  // rows of it that were read
	row   int  // of the file
	part  part // that was read last
	end   func() error
}

// arrowFileReader reads the record batches of a file, from any row on.
type arrowFileReader struct {
	*arrowReader
	file   *ipc.FileReader
	number int   // of the next record batch
	starts []int // rows before each of them, and before the end; nil until they are counted
	bytes  int64 // of the file
}

// boundedAllocator gives no more than it may: a damaged file may ask for any amount.
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

// A buffer that is stored compressed says how long it is decompressed, and so does a page of
// Parquet. More than mostUnpacked times the whole file is not believed, but for leastUnpacked bytes.
const (
	mostUnpacked  = 1024
	leastUnpacked = 1 << 26
)

// unpacked is how many bytes a part of a file of this size may have when it is decompressed.
func unpacked(size int64, most float64) float64 {
	return math.Min(most, math.Max(leastUnpacked, mostUnpacked*float64(size)))
}

// unpackedWithin bounds what is allocated by that.
func unpackedWithin(size int64, most float64) []ipc.Option {
	return []ipc.Option{ipc.WithAllocator(boundedAllocator{arrowmemory.NewGoAllocator(), unpacked(size, most)})}
}

func openArrow(in *input, _ ReadOptions) (columnReader, error) {
	limit, err := memory.Limit()
	if err != nil {
		return nil, err
	}
	first, err := in.Peek(6)
	if err != nil {
		return nil, err
	}
	most := limit / 2
	if string(first) != "ARROW1" {
		return openArrowStream(in, most)
	}
	content, size, err := in.content()
	if err != nil {
		return nil, err
	}
	if err := soundFooter(content, size); err != nil {
		return nil, err
	}
	if err := soundFrames(content, size, unpacked(size, most)); err != nil {
		return nil, err
	}
	file, err := ipc.NewFileReader(io.NewSectionReader(content, 0, size), append(unpackedWithin(size, most), ipc.WithBodySizeLimit(min(size, int64(most))), ipc.WithMetadataSizeLimit(size))...)
	if err != nil {
		return nil, err
	}
	r := &arrowFileReader{file: file, bytes: size}
	r.arrowReader = &arrowReader{end: file.Close, next: func() (arrow.RecordBatch, error) {
		if r.number == file.NumRecords() {
			return nil, io.EOF
		}
		r.number++
		return file.RecordBatchAt(r.number - 1)
	}}
	return r, r.name(file.Schema())
}

// done implements rowSeeker.
func (r *arrowFileReader) done() float64 {
	within := 0.0
	if r.batch != nil && r.batch.NumRows() > 0 {
		within = 1 - float64(r.at)/float64(r.batch.NumRows())
	}
	return (float64(r.number) - within) / float64(max(1, r.file.NumRecords()))
}

// openArrowStream opens record batches that follow each other without a list of them.
func openArrowStream(in *input, most float64) (columnReader, error) {
	options := []ipc.Option{ipc.WithAllocator(boundedAllocator{arrowmemory.NewGoAllocator(), most})}
	if in.size > 0 && !in.compressed { // no part is larger than the file
		options = unpackedWithin(in.size, most)
		if file, ok := in.file.(io.ReaderAt); ok {
			if err := soundFrames(file, in.size, unpacked(in.size, most)); err != nil {
				return nil, err
			}
		}
		most = math.Min(most, float64(in.size))
	}
	begin := func(n int) ([]byte, error) {
		if float64(n) > most {
			return nil, io.ErrUnexpectedEOF
		}
		if n > in.Size() {
			in.Reader = bufio.NewReaderSize(in.Reader, n)
		}
		return in.Peek(n)
	}
	if err := soundMessage(begin); err != nil {
		return nil, err
	}
	options = append(options, ipc.WithBodySizeLimit(int64(most)), ipc.WithMetadataSizeLimit(int64(math.Min(most, longestLine))))
	stream, err := ipc.NewReaderFromMessageReader(ipc.NewMessageReader(in, options...), options...) // NewReader forgets the limits
	if err != nil {
		return nil, err
	}
	r := &arrowReader{next: stream.Read, end: func() error { stream.Release(); return nil }}
	return r, r.name(stream.Schema())
}

// count implements rowSeeker. It reads every record batch.
func (r *arrowFileReader) count() (int, error) {
	limit, err := memory.Limit()
	if err != nil {
		return 0, err
	}
	if n := r.file.NumRecords(); n > 0 {
		if each := 4 * float64(r.bytes) / float64(n); each > limit {
			return 0, &memory.Error{What: "a record batch", Need: each, Limit: limit, Advice: "write the file with smaller record batches"}
		}
	}
	r.starts = []int{0}
	for i := range r.file.NumRecords() {
		batch, err := r.file.RecordBatchAt(i)
		if err != nil {
			return 0, err
		}
		r.starts = append(r.starts, r.starts[i]+int(batch.NumRows()))
		batch.Release()
	}
	return r.starts[len(r.starts)-1], nil
}

// seek implements rowSeeker.
func (r *arrowFileReader) seek(row int, _ []int) error {
	if r.starts == nil {
		if _, err := r.count(); err != nil {
			return err
		}
	}
	r.release()
	r.row = row
	for r.number = 0; r.number+1 < len(r.starts) && row >= r.starts[r.number+1]; r.number++ {
	}
	batch, err := r.next()
	if err != nil {
		return err
	}
	r.batch, r.at = batch, row-r.starts[r.number-1]
	return nil
}

// name notes the columns.
func (r *arrowReader) name(schema *arrow.Schema) error {
	for _, f := range schema.Fields() {
		if scale := decimals(f.Type); scale < -mostDecimals || scale > mostDecimals {
			return fmt.Errorf("a column has numbers with %d decimals", scale)
		}
		r.all = append(r.all, column{f.Name, arrowKind(f.Type)})
	}
	return nil
}

// mostDecimals are of numbers that have a text of a sensible length.
const mostDecimals = 100

// decimals of a type of decimal numbers; 0 of others.
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

func arrowKind(t arrow.DataType) kind {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return arrowKind(t.ValueType)
	case arrow.ExtensionType:
		return arrowKind(t.StorageType())
	case arrow.NestedType:
		return asNothing
	}
	switch id := t.ID(); {
	case id == arrow.BOOL:
		return asBoolean
	case arrow.IsUnsignedInteger(id):
		return asUnsigned
	case arrow.IsInteger(id):
		return asWhole
	case arrow.IsFloating(id), arrow.IsDecimal(id), id == arrow.NULL:
		return asNumbers
	case id == arrow.DATE32, id == arrow.DATE64:
		return asDate
	case id == arrow.TIMESTAMP && t.(*arrow.TimestampType).TimeZone != "":
		return asInstant
	case id == arrow.TIMESTAMP:
		return asStamp
	}
	return asText
}

func (r *arrowReader) columns() ([]column, int) { return r.all, 0 }

func (r *arrowReader) read(chosen []int, texts bool) (*part, error) {
	for r.batch == nil || r.at == int(r.batch.NumRows()) {
		r.release()
		batch, err := r.next()
		if err != nil {
			return nil, err
		}
		if int(batch.NumCols()) != len(r.all) {
			return nil, fmt.Errorf("a record batch has %d columns instead of %d", batch.NumCols(), len(r.all))
		}
		r.batch, r.at = batch, 0
	}
	n := min(partRows, int(r.batch.NumRows())-r.at)
	p := &r.part
	p.next(r.row, n, len(chosen))
	r.row += n
	for k, j := range chosen {
		values := r.batch.Column(j)
		if values.Len() < r.at+n {
			return nil, fmt.Errorf("column %q has %d rows instead of %d", r.all[j].name, values.Len(), r.batch.NumRows())
		}
		if number := arrowNumber(values); number != nil && !texts {
			p.cells[k].asNumbers(n)
			for i := range n {
				x, present := 0., values.IsValid(r.at+i)
				if present {
					x = number(r.at + i)
				}
				p.cells[k].numbers, p.cells[k].present = append(p.cells[k].numbers, x), append(p.cells[k].present, present)
			}
			continue
		}
		show := arrowText(values)
		p.cells[k].text = make([]string, n)
		for i := range n {
			if values.IsValid(r.at + i) {
				p.cells[k].text[i] = show(r.at + i)
			}
		}
	}
	r.at += n
	return p, nil
}

// arrowNumber gives the numbers of a column, nil where it has none.
func arrowNumber(values arrow.Array) func(i int) float64 {
	switch a := values.(type) {
	case *array.Float64:
		return a.Value
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float16:
		return func(i int) float64 { return float64(a.Value(i).Float32()) }
	case *array.Int8:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int16:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int64:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint8:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint16:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint64:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Boolean:
		return func(i int) float64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	}
	return nil // decimals among them: by their text
}

// arrowText gives the cells of a column as text.
func arrowText(values arrow.Array) func(i int) string {
	switch a := values.(type) {
	case *array.Dictionary:
		show := arrowText(a.Dictionary())
		return func(i int) string {
			if k := a.GetValueIndex(i); k >= 0 && k < a.Dictionary().Len() && a.Dictionary().IsValid(k) {
				return show(k)
			}
			return ""
		}
	case array.ExtensionArray:
		return arrowText(a.Storage())
	case *array.Null:
		return func(int) string { return "" }
	case *array.Float64, *array.Float32, *array.Float16:
		number := arrowNumber(a)
		return func(i int) string { return formatAny(number(i)) }
	case *array.Boolean:
		return func(i int) string {
			if a.Value(i) {
				return "1"
			}
			return "0"
		}
	case *array.Timestamp:
		nanos := int64(a.DataType().(*arrow.TimestampType).Unit.Multiplier())
		zone := arrowKind(a.DataType()).zone()
		return func(i int) string { return stamp(int64(a.Value(i)), nanos) + zone }
	case *array.String:
		return func(i int) string { return strings.Clone(a.Value(i)) }
	case *array.LargeString:
		return func(i int) string { return strings.Clone(a.Value(i)) }
	}
	if arrowKind(values.DataType()) == asNothing {
		return func(int) string { return nestedCell }
	}
	return func(i int) string { return strings.Clone(values.ValueStr(i)) }
}

func (r *arrowReader) release() {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
}

func (r *arrowReader) Close() error {
	r.release()
	return r.end()
}

// arrowWriter writes record batches of at most partRows·16.
type arrowWriter struct {
	out     *ipc.FileWriter
	builder *array.RecordBuilder
	columns []column
	rows    int
}

func writeArrow(to io.Writer, columns []column) (rowWriter, error) {
	fields := make([]arrow.Field, len(columns))
	for j, c := range columns {
		var t arrow.DataType = arrow.BinaryTypes.String
		switch c.kind {
		case asNumbers:
			t = arrow.PrimitiveTypes.Float64
		case asWhole:
			t = arrow.PrimitiveTypes.Int64
		case asUnsigned:
			t = arrow.PrimitiveTypes.Uint64
		case asBoolean:
			t = arrow.FixedWidthTypes.Boolean
		case asDate:
			t = arrow.FixedWidthTypes.Date32
		case asStamp:
			t = &arrow.TimestampType{Unit: arrow.Microsecond}
		case asInstant:
			t = arrow.FixedWidthTypes.Timestamp_us // in UTC
		}
		fields[j] = arrow.Field{Name: c.name, Type: t, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	out, err := ipc.NewFileWriter(to, ipc.WithSchema(schema), ipc.WithLZ4())
	if err != nil {
		return nil, err
	}
	return &arrowWriter{out: out, builder: array.NewRecordBuilder(arrowmemory.NewGoAllocator(), schema), columns: columns}, nil
}

func (w *arrowWriter) write(row []string) error {
	for j, cell := range row {
		if !appendCell(w.builder.Field(j), w.columns[j].kind, cell) {
			return fmt.Errorf("column %q: %.60q is of another kind", w.columns[j].name, cell)
		}
	}
	if w.rows++; w.rows < 16*partRows {
		return nil
	}
	return w.flush()
}

// appendCell adds a cell to a column, null where it is missing; false where it is not of its kind.
func appendCell(to array.Builder, k kind, cell string) (ok bool) {
	if cell == "" {
		to.AppendNull()
		return true
	}
	ok = true
	switch b := to.(type) {
	case *array.StringBuilder:
		b.Append(cell)
	case *array.Int64Builder:
		x, err := strconv.ParseInt(cell, 10, 64)
		b.Append(x)
		ok = err == nil
	case *array.Uint64Builder:
		x, err := strconv.ParseUint(cell, 10, 64)
		b.Append(x)
		ok = err == nil
	case *array.BooleanBuilder:
		b.Append(cell == "1")
		ok = cell == "0" || cell == "1"
	case *array.Float64Builder:
		x, err := strconv.ParseFloat(cell, 64)
		b.Append(x)
		ok = err == nil
	case *array.Date32Builder:
		var days int32
		days, ok = daysSince1970(cell)
		b.Append(arrow.Date32(days))
	case *array.TimestampBuilder:
		var micros int64
		micros, ok = microseconds(k, cell)
		b.Append(arrow.Timestamp(micros))
	}
	return ok
}

func (w *arrowWriter) flush() error {
	batch := w.builder.NewRecordBatch()
	defer batch.Release()
	w.rows = 0
	return w.out.Write(batch)
}

func (w *arrowWriter) close() error {
	defer w.builder.Release()
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.out.Close()
}
