package data

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/stretchr/testify/require"

	_ "missingscore/data/arrow" // formats that tests read
	_ "missingscore/data/excel"
	"missingscore/data/format"
	_ "missingscore/data/parquet"
	"missingscore/internal/atomicfile"
	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

func numbersOnly(n int) (columns []format.Column, rows [][]string) {
	rng := stream.New(8, 1)
	columns = []format.Column{{Name: "a", Kind: format.Numbers}, {Name: "b, c", Kind: format.Numbers}, {Name: "k", Kind: format.Whole}}
	for i := range n {
		row := []string{format.Number(rng.NormFloat64()), format.Number(rng.NormFloat64() * 1e-9), strconv.Itoa(i*i - 50)}
		if j := rng.IntN(9); j < 3 {
			row[j] = ""
		}
		rows = append(rows, row)
	}
	return columns, rows
}

func writeTo(t testing.TB, path string, columns []format.Column, rows [][]string) {
	require.NoError(t, writeRows(atomicfile.Write, path, nil, columns, func(write func([]string) error) error {
		for _, row := range rows {
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Every format, plain and compressed, reads the same table as CSV, whole and in blocks.
func TestFormatsReadTheSame(t *testing.T) {
	dir := t.TempDir()
	columns, rows := numbersOnly(10000)
	plain := filepath.Join(dir, "t.csv")
	writeTo(t, plain, columns, rows)
	for _, o := range []ReadOptions{{}, {Columns: []string{"k", "a"}}, {Exclude: []string{"a"}, NA: []string{"50", "-50"}}} {
		want, err := ReadCSV(plain, o)
		require.NoError(t, err)
		for _, end := range []string{".csv", ".tsv", ".csv.gz", ".csv.zst", ".xlsx", ".parquet", ".parquet.gz", ".feather", ".arrow.zst"} {
			path := filepath.Join(dir, "t"+end)
			if o.Columns == nil && o.Exclude == nil && end != ".csv" {
				writeTo(t, path, columns, rows)
			}
			got, err := ReadFile(path, o)
			require.NoError(t, err, end)
			if !slices.Contains([]string{".csv", ".tsv", ".csv.gz", ".csv.zst", ".xlsx"}, end) { // typed files have rows instead of lines
				for i, line := range got.Lines {
					require.Equal(t, want.Lines[i], line+1)
				}
				got.Lines = want.Lines
			}
			require.Equal(t, want, got, end)
			all, err := joined(path, o)
			require.NoError(t, err)
			all.Lines = want.Lines
			require.Equal(t, want, all, end)
		}
	}
}

type record struct {
	Flag   *bool     `parquet:"flag,optional"`
	Small  int32     `parquet:"small"`
	Big    *int64    `parquet:"big,optional"`
	Count  uint64    `parquet:"count"`
	Single float32   `parquet:"single"`
	Number *float64  `parquet:"number,optional"`
	Price  int64     `parquet:"price,decimal(2:18)"`
	Name   string    `parquet:"name,dict"`
	Day    int32     `parquet:"day,date"`
	At     time.Time `parquet:"at,timestamp(microsecond)"`
	List   []float64 `parquet:"list,list"`
}

func parquetOfAll(t testing.TB, path string, rows int, group int64) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[record](&b, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(group),
		parquet.PageBufferSize(1024))
	for i := range rows {
		r := record{Small: int32(-i), Count: uint64(i), Single: 0.5 * float32(i), Price: int64(-5 + 100*i), Name: []string{"m", "f"}[i%2], Day: int32(i),
			At: time.Date(2020, 1, 2, 3, 4, 5+i, 600e6, time.UTC), List: []float64{1, 2}}
		if i%3 != 0 {
			yes, big, x := i%2 == 0, int64(1)<<62+int64(i)<<20, math.Sqrt(float64(i))
			if i == 4 {
				x = math.NaN()
			}
			r.Flag, r.Big, r.Number = &yes, &big, &x
		}
		_, err := w.Write([]record{r})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
}

// noNumbers checks the refusal of columns with these first cells.
func noNumbers(t *testing.T, path string, cells map[string]string) {
	for column, cell := range cells {
		_, err := ReadFile(path, ReadOptions{Columns: []string{column}})
		require.EqualError(t, err, fmt.Sprintf("%s, row 1: column %q: %q is not a number; the column has no numbers: "+
			"leave it out with ReadOptions.Exclude %[2]s", path, column, cell))
	}
}

func TestParquetTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	parquetOfAll(t, path, 20, 7)
	s, err := openSheet(path, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"flag", "small", "big", "count", "single", "number", "price", "name", "day", "at", "list"}, s.header)
	require.Equal(t, []string{"", "0", "", "0", "0", "", "-0.05", "m", "1970-01-01", "2020-01-02T03:04:05.6Z", "(nested)"}, s.rows[0])
	require.Equal(t, []string{"0", "-1", "4611686018428436480", "1", "0.5", "1", "0.95", "f", "1970-01-02", "2020-01-02T03:04:06.6Z", "(nested)"}, s.rows[1])
	require.Equal(t, "NaN", s.rows[4][5])

	table, err := ReadFile(path, ReadOptions{Exclude: []string{"name", "day", "at", "list"}})
	require.NoError(t, err)
	require.Equal(t, []float64{1, -4, 1<<62 + 4<<20, 4, 2, 0, 3.95}, table.Values[4*7:5*7])
	require.Equal(t, []bool{true, true, true, true, true, false, true}, table.Observed[4*7:5*7]) // NaN
	require.Equal(t, []bool{false, true, false, true, true, false, true}, table.Observed[0:7])

	const at = "2020-01-02T03:04:05.6Z"
	noNumbers(t, path, map[string]string{"name": "m", "day": "1970-01-01", "at": at, "list": "(nested)"})
	_, err = ReadFile(path, ReadOptions{Columns: []string{"small", "number"}, NA: []string{"-3"}})
	require.EqualError(t, err, path+`, row 5: column "number": "NaN" is not a number; if it marks a missing cell: ReadOptions.NA -3,NaN`)
	groups, _, err := ReadGroups(path, "name", nil, ReadOptions{Columns: []string{"small", "single"}})
	require.NoError(t, err)
	require.Equal(t, 10, groups[0].Table.N)
}

func TestRareParquetTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	require.NoError(t, parquet.WriteFile(path, []struct {
		Count uint32           `parquet:"count"`
		Price [9]byte          `parquet:"price,decimal(4:20)"` // two's complement
		Time  int64            `parquet:"time,time(microsecond)"`
		Local int64            `parquet:"local,timestamp(millisecond:local)"`
		Old   deprecated.Int96 `parquet:"old"` // nanoseconds of the Julian day
		Raw   []byte           `parquet:"raw"`
	}{{1<<32 - 1, [9]byte{255, 255, 255, 255, 255, 255, 255, 255, 254}, 3723000005, -1500, deprecated.Int96{7, 1, 2440589}, []byte{200, 1}}}))
	s, err := openSheet(path, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, [][]string{{"4294967295", "-0.0002", "01:02:03.000005", "1969-12-31T23:59:58.5", "1970-01-02T00:00:04.294967303", "0xc801"}}, s.rows)
	require.Equal(t, []format.Kind{format.Unsigned, format.Numbers, format.Text, format.Stamp, format.Stamp, format.Text}, kindsOf(s))
}

// writeArrow writes rows of JSON in batches of three; factors have these levels first.
func writeArrow(t testing.TB, path string, fields []arrow.Field, levels []string, rows ...string) {
	for j := range fields {
		fields[j].Nullable = true
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(arrowmemory.NewGoAllocator(), schema)
	var file bytes.Buffer
	w, err := ipc.NewFileWriter(&file, ipc.WithSchema(schema), ipc.WithZstd())
	require.NoError(t, err)
	dictionary := array.NewStringBuilder(arrowmemory.NewGoAllocator())
	for batch := range slices.Chunk(rows, 3) {
		for _, field := range b.Fields() {
			if factor, ok := field.(*array.BinaryDictionaryBuilder); ok {
				dictionary.AppendValues(levels, nil)
				require.NoError(t, factor.InsertStringDictValues(dictionary.NewStringArray()))
			}
		}
		for _, row := range batch {
			require.NoError(t, b.UnmarshalJSON([]byte(row)))
		}
		require.NoError(t, w.Write(b.NewRecordBatch()))
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
}

func arrowOfAll(t *testing.T, path string) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	numbers := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Float64}
	fields := []arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float32}, {Name: "n", Type: arrow.PrimitiveTypes.Uint16},
		{Name: "yes", Type: arrow.FixedWidthTypes.Boolean}, {Name: "sex", Type: dictionary},
		{Name: "level", Type: numbers}, {Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "cost", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}, {Name: "none", Type: arrow.Null},
	}
	rows := []string{
		`{"x":0.5,"n":7,"yes":true,"sex":"m","level":2.5,"day":"2013-02-08","at":"2013-02-08T01:02:03.500Z","cost":"-0.05","list":[1]}`,
		`{}`,
		`{"x":2,"n":9,"yes":false,"sex":"f","level":1,"day":"1969-12-31","at":"2013-02-08T00:00:00Z","cost":"3.10","list":[]}`,
	}
	writeArrow(t, path, fields, nil, append(rows, rows...)...)
}

func TestArrowTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.feather")
	arrowOfAll(t, path)
	s, err := openSheet(path, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "n", "yes", "sex", "level", "day", "at", "cost", "list", "none"}, s.header)
	require.Equal(t, []string{"0.5", "7", "1", "m", "2.5", "2013-02-08", "2013-02-08T01:02:03.5Z", "-0.05", "(nested)", ""}, s.rows[0])
	require.Equal(t, make([]string, 10), s.rows[1])
	require.Equal(t, []string{"2", "9", "0", "f", "1", "1969-12-31", "2013-02-08T00:00:00Z", "3.1", "(nested)", ""}, s.rows[5])
	table, err := ReadFile(path, ReadOptions{Columns: []string{"x", "n", "yes", "level", "cost"}})
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 7, 1, 2.5, -0.05, 2, 9, 0, 1, 3.1, 0.5, 7, 1, 2.5, -0.05, 2, 9, 0, 1, 3.1}, table.Values)
	require.Equal(t, 2, table.Dropped)
	require.Equal(t, []int{1, 3, 4, 6}, table.Lines)
	noNumbers(t, path, map[string]string{"sex": "m", "day": "2013-02-08", "list": "(nested)"})
}

func compressedBy(by string, content []byte) []byte {
	var b bytes.Buffer
	var z io.WriteCloser = gzip.NewWriter(&b)
	if by == "zst" {
		z, _ = zstd.NewWriter(&b)
	}
	_, _ = z.Write(content)
	_ = z.Close()
	return b.Bytes()
}

func TestBrokenFiles(t *testing.T) {
	dir := t.TempDir()
	columns, rows := numbersOnly(3000)
	t.Setenv(memory.Variable, "500MB")
	for _, end := range []string{".xlsx", ".parquet", ".feather", ".csv.gz", ".csv.zst"} {
		path := filepath.Join(dir, "t"+end)
		writeTo(t, path, columns, rows)
		w, err := os.ReadFile(path)
		require.NoError(t, err)
		n := len(w)
		middle := slices.Clone(w[n/3 : 2*n/3])
		for i := range middle {
			middle[i] ^= 0x5a
		}
		broken := map[string][]byte{
			"empty": {}, "begin only": w[:4], "half": w[:n/2], "without its end": w[:n-3],
			"text": []byte("a,b\n1,2\n3,4\n"), "twice cut": slices.Concat(w[:n/3], w[n/2:]),
			"wrong begin": slices.Concat([]byte("XXXXXXXX"), w[8:]), "wrong end": slices.Concat(w[:n-8], []byte("XXXXXXXX")),
			"huge sizes": slices.Concat(w[:n-12], []byte("\x7f\x7f\x7f\x7f\x7f\x7f"), w[n-6:]),
			"middle":     slices.Concat(w[:n/3], middle, w[2*n/3:]),
		}
		if by, compressed := strings.CutPrefix(end, ".csv."); compressed {
			for name, text := range map[string]string{
				"of nothing": "", "of a header": "a,b\n", "of zeros": string(make([]byte, 1<<20)), "of one row": "a,b\n1,2\n",
			} {
				broken[name] = compressedBy(by, []byte(text))
			}
		}
		for name, content := range broken {
			require.NoError(t, os.WriteFile(path, content, 0o600))
			_, err := ReadFile(path, ReadOptions{})
			require.ErrorContains(t, err, path, name)
			require.NotContains(t, err.Error(), "internal error")
			require.NotContains(t, err.Error(), "\n")
			switch {
			case name == "without its end" && end == ".csv.gz":
				require.EqualError(t, err, path+": cannot be read: it ends too early")
			case name == "text" && end == ".csv.gz":
				_, err := ReadCSV(path, ReadOptions{})
				require.EqualError(t, err, path+": cannot be decompressed: it is damaged, or not compressed by gzip")
			}
		}
	}
}

func TestStem(t *testing.T) {
	for path, want := range map[string]string{"x/women.csv": "women", "men.csv.gz": "men", "t.csv.zst": "t", "T.CSV.ZST": "T", "a.feather": "a", "v1.2.csv": "v1.2", "plain": "plain", "-": "-", ".gz": ""} {
		require.Equal(t, want, Stem(path), path)
	}
}

// A changed byte of an Arrow file gives a message or a table, and no excessive allocation.
func TestChangedBytes(t *testing.T) {
	columns, rows := numbersOnly(10)
	path := filepath.Join(t.TempDir(), "t.feather")
	writeTo(t, path, columns, rows)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= []byte{0x40, 0x80, 0xff}[i%3]
		require.NoError(t, os.WriteFile(path, changed, 0o600))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadFile(path, ReadOptions{})
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20), "byte %d", i)
		require.NotContains(t, fmt.Sprint(err), "internal error")
	}
}

func fuzzedCompressed(f *testing.F, by string, others ...string) {
	const short, gaps = "a,b\n1,2\n3,5\n-1,\n", "x;y\n1,5;\n;2\n3;4\n0;0\n"
	pack := func(text string) string { return string(compressedBy(by, []byte(text))) }
	whole := pack(short)
	fuzztest.Reader[*Table]{
		Read:    fuzztest.InFile(f, "t.csv."+by, func(path string) (*Table, error) { return ReadCSV(path, ReadOptions{}) }),
		Write:   fuzztest.Written(f, "t.csv."+by, WriteCSV),
		Accepts: []string{whole, pack(gaps), pack(short[:8]) + pack(short[8:])}, // the last in two parts, as concatenated files are
		Refuses: []string{"", short, whole[:len(whole)-1], whole[:len(whole)/2], whole + "x", pack(""), pack("a,b\n1,\"2\n")},
		Others:  others,
	}.Fuzz(f)
}

func FuzzReadGzip(f *testing.F) { fuzzedCompressed(f, "gz") }

// A Zstandard frame may request a window, and so memory, of any size.
func FuzzReadZstandard(f *testing.F) {
	const text = "a,b\n1,2\n3,5\n-1,\n"
	frame := func(window byte) string { // one raw block, the last
		return "\x28\xb5\x2f\xfd\x00" + string([]byte{window, byte(len(text)<<3) | 1, byte(len(text) >> 5), 0}) + text
	}
	fuzzedCompressed(f, "zst", frame(0x00), frame(0x50), frame(0x90), frame(0xff))
}

// fuzzed takes a file of numbers, and one with words, which is refused.
func fuzzed(f *testing.F, end string) {
	dir := f.TempDir()
	columns, rows := numbersOnly(40)
	writeTo(f, filepath.Join(dir, "numbers"+end), columns, rows)
	columns[2].Kind = format.Text
	rows[20][2] = "a word"
	writeTo(f, filepath.Join(dir, "words"+end), columns, rows)
	content := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name+end))
		require.NoError(f, err)
		return string(text)
	}
	whole := content("numbers")
	blocks := fuzztest.InFile(f, "t"+end, func(path string) (*Table, error) { return joined(path, ReadOptions{}) })
	fuzztest.Reader[*Table]{
		Read: fuzztest.InFile(f, "t"+end, func(path string) (*Table, error) { return ReadFile(path, ReadOptions{}) }),
		Check: func(t testing.TB, content string, table *Table) {
			all, err := blocks(content)
			require.NoError(t, err)
			require.Equal(t, shown(table), shown(all))
		},
		Accepts: []string{whole},
		Refuses: []string{whole[:len(whole)/2], content("words")},
	}.Fuzz(f)
}

func FuzzReadExcel(f *testing.F)   { fuzzed(f, ".xlsx") }
func FuzzReadParquet(f *testing.F) { fuzzed(f, ".parquet") }
func FuzzReadArrow(f *testing.F)   { fuzzed(f, ".feather") }

func TestKindsElsewhere(t *testing.T) {
	path := file(t, "t.csv", kindsText())
	o := ReadOptions{Coded: true}
	whole, err := ReadFile(path, o)
	require.NoError(t, err)
	numbers, nominal, err := NumbersOnly(whole)
	require.NoError(t, err)
	require.Equal(t, []string{"num", "whole", "bit", "sex", "smoker", "code"}, numbers.Names)
	require.Equal(t, "city", nominal[0].Name)

	for b, err := range Blocks(path, o) {
		require.NoError(t, err)
		require.Equal(t, numbers.Names, b.Names)
		require.Equal(t, numbers.Values, b.Values)
		require.Equal(t, numbers.Levels[4], b.Levels[4])
	}
	rows, err := OpenRows(path, o, 8)
	require.NoError(t, err)
	defer rows.Close()
	block, err := rows.Block(3)
	require.NoError(t, err)
	require.Equal(t, numbers.Values[24*numbers.D:], block.Values)
	require.Equal(t, numbers.Levels[3], block.Levels[3])

	weighted, err := ReadWeighted(path, "code", ReadOptions{Coded: true, Exclude: []string{"born"}})
	require.NoError(t, err)
	require.Equal(t, []string{"num", "whole", "bit", "sex", "smoker", "city"}, weighted.Names)
	require.Equal(t, whole.Levels[:6], weighted.Levels)

	groups, _, err := ReadGroups(path, "sex", nil, o)
	require.NoError(t, err)
	for _, g := range groups {
		require.Equal(t, []string{"num", "whole", "smoker", "city", "code"}, g.Table.Names, "bit does not vary in a group")
		require.Contains(t, g.Table.LeftOut[len(g.Table.LeftOut)-1].LeftOut, "every value is 1 where sex is f")
		require.Equal(t, whole.Levels[5], g.Table.Levels[3])
	}

	cells, err := ReadCells(path, ReadOptions{Columns: []string{"city", "num"}, Kinds: KindsOf(whole)})
	require.NoError(t, err)
	for i := range cells.Table.N {
		require.Equal(t, whole.Observed[i*whole.D+5], cells.Table.Observed[2*i])
		if cells.Table.Observed[2*i] {
			require.Equal(t, whole.Values[i*whole.D+5], cells.Table.Values[2*i])
		}
	}
	_, err = ReadCells(path, ReadOptions{Columns: []string{"city"}, Kinds: map[string]Column{"city": {Kind: Nominal, Levels: []string{"Bern", "Rome"}}}})
	require.ErrorContains(t, err, `"Oslo" is not one of its levels: Bern, Rome`)
}

func TestFactorsKeepTheirLevels(t *testing.T) {
	levels, n := []string{"low", "mid", "high", "never"}, 40
	factor := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String, Ordered: true}
	region := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	fields := []arrow.Field{
		{Name: "edu", Type: factor}, {Name: "reg", Type: region},
		{Name: "yes", Type: arrow.FixedWidthTypes.Boolean}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}
	type row struct {
		Edu *string `parquet:"edu,optional,dict" json:"edu"`
		Reg string  `parquet:"reg,dict" json:"reg"`
		Yes bool    `parquet:"yes" json:"yes"`
		X   float64 `parquet:"x" json:"x"`
	}
	var rows []row
	var texts []string
	for i := range n {
		r := row{Reg: levels[i%3], Yes: i%4 == 1, X: float64(i*i) / 2}
		if i%7 != 0 {
			r.Edu = &levels[i*2%3]
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		rows, texts = append(rows, r), append(texts, string(text))
	}
	dir := t.TempDir()
	feather, pq := filepath.Join(dir, "t.feather"), filepath.Join(dir, "t.parquet")
	plain := filepath.Join(dir, "plain.parquet")
	writeArrow(t, feather, fields, levels, texts...)
	var message bytes.Buffer // as R writes it into the file
	require.NoError(t, ipc.NewWriter(&message, ipc.WithSchema(arrow.NewSchema(fields, nil))).Close())
	require.NoError(t, parquet.WriteFile(plain, rows))
	require.NoError(t, parquet.WriteFile(pq, rows, parquet.KeyValueMetadata("ARROW:schema", base64.StdEncoding.EncodeToString(message.Bytes()))))

	for path, want := range map[string][][]string{
		feather: {{"low", "mid", "high"}, {"low", "mid", "high"}, {"0", "1"}, nil},
		pq:      {{"high", "mid", "low"}, {"low", "mid", "high"}, {"0", "1"}, nil}, // dictionary in row order: 1·2 % 3 first
		plain:   {{"high", "low", "mid"}, {"high", "low", "mid"}, {"0", "1"}, nil},
	} {
		got, err := ReadFile(path, ReadOptions{Coded: true})
		require.NoError(t, err)
		require.Equal(t, want, got.Levels, path)
		kind := Ordered
		if path == plain {
			kind = Nominal
		}
		require.Equal(t, []Kind{kind, Nominal, Binary, Number}, got.Kinds)
		for i := range n {
			if require.Equal(t, i%7 != 0, got.Observed[4*i]); i%7 != 0 {
				require.Equal(t, levels[i*2%3], got.Levels[0][int(got.Values[4*i])])
			}
		}
		groups, _, err := ReadGroups(path, "yes", nil, ReadOptions{Coded: true})
		require.NoError(t, err)
		require.Equal(t, want[:2], groups[0].Table.Levels[:2])
	}
}
