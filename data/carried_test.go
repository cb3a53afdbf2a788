package data

import (
	"cmp"

	"missingscore/data/format"

	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"missingscore/internal/atomicfile"
)

func carry(t *testing.T, from, to string) *sheet {
	t.Helper()
	c, err := ReadCells(from, ReadOptions{Columns: []string{"a", "b"}})
	require.NoError(t, err)
	values := make([]float64, c.Table.N*c.Table.D)
	for i := range values {
		if values[i] = 0.5; c.Table.Observed[i] {
			values[i] = -9
		}
	}
	require.NoError(t, c.WriteCompleted(atomicfile.Write, to, values, 1))
	s, err := openSheet(to, ReadOptions{})
	require.NoError(t, err)
	return s
}

func kindsOf(s *sheet) (all []format.Kind) {
	for _, c := range s.kinds {
		all = append(all, c.Kind)
	}
	return all
}

var carriedTo = []string{".csv", ".tsv", ".parquet", ".feather", ".xlsx"}

// carried is a file, the cells of each copy of it, and the types of copies in Parquet, Arrow and Excel.
type carried struct {
	from         string
	want         [][]string
	typed, excel []format.Kind
	changed      map[[2]int]string // cells in Parquet and Arrow, by row and column
}

func (c carried) check(t *testing.T) {
	dir := t.TempDir()
	for _, end := range carriedTo {
		s := carry(t, c.from, filepath.Join(dir, "o"+end))
		for i, row := range c.want {
			for j, cell := range row {
				missing := cell == "" || cell == "NA"
				switch end {
				case ".csv", ".tsv": // missing texts have the table's mark
					if missing && (c.typed[j] == format.Text || c.typed[j] >= format.Date) {
						cell = "NA"
					}
				case ".parquet", ".feather":
					cell = cmp.Or(c.changed[[2]int{i, j}], cell)
					fallthrough
				default:
					if cell == "NA" && c.typed[j] == format.Text && strings.HasSuffix(c.from, ".csv") {
						cell = ""
					}
				}
				require.Equal(t, cell, s.rows[i][j], "%s %s", end, s.header[j])
			}
		}
		switch end {
		case ".parquet", ".feather":
			require.Equal(t, c.typed, kindsOf(s), end)
		case ".xlsx": // its whole numbers have at most 15 digits
			require.Equal(t, c.excel, kindsOf(s), end)
		}
		again := carry(t, filepath.Join(dir, "o"+end), filepath.Join(dir, "again.csv"))
		for i, row := range again.rows {
			for j := range 8 {
				require.Equal(t, strings.ReplaceAll(s.rows[i][j], "NA", ""), strings.ReplaceAll(row[j], "NA", ""), end)
			}
		}
	}
}

func TestCarriedText(t *testing.T) {
	const number, text, mixed = format.Numbers, format.Text, format.Mixed
	carried{
		file(t, "t.csv", "long,u64,zip,code,digits,flag,day,who,r,dec,a,b,bit,version\n"+
			"1582218195625938945,9223372036854775808,00000000000000000000,0,123456789012345678901,FALSE,2020-01-01,NA,"+
			"1e-05,70.0,1,2,0,1.2\n"+
			"1582218195625938946,9223372036854775809,00000000000000000007,03,123456789012345678902,TRUE,,x,"+
			"1e+20,0.25,,NA,1,1.20\n"+
			"-3,,00000000000000000014,1e5,,NA,2020-01-03,,,.5,3,5,,1.3\n"),
		[][]string{
			{"1582218195625938945", "9223372036854775808", "00000000000000000000", "0", "123456789012345678901", "FALSE",
				"2020-01-01", "", "1e-05", "70.0", "1", "2", "0", "1.2"},
			{"1582218195625938946", "9223372036854775809", "00000000000000000007", "03", "123456789012345678902", "TRUE",
				"", "x", "1e+20", "0.25", "0.5", "0.5", "1", "1.20"},
			{"-3", "", "00000000000000000014", "1e5", "", "NA", "2020-01-03", "", "", ".5", "3", "5", "", "1.3"},
		},
		[]format.Kind{format.Whole, format.Unsigned, text, text, text, text, text, text, number, number, number, number,
			format.Whole, text},
		[]format.Kind{mixed, text, text, text, text, text, text, text, mixed, mixed, mixed, mixed, mixed, text},
		map[[2]int]string{{0, 8}: "0.00001", {1, 8}: "100000000000000000000", {0, 9}: "70", {2, 9}: "0.5"},
	}.check(t)
}

// completed is the file of completed cells as CSV.
func completed(t *testing.T, c *Cells, values []float64, draws int) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "o.csv")
	require.NoError(t, c.WriteCompleted(atomicfile.Write, to, values, draws))
	written, err := os.ReadFile(to)
	require.NoError(t, err)
	return string(written)
}

func TestMarkOfMissingText(t *testing.T) {
	for cells, want := range map[string]string{
		"w,,1\n,2,3\nv,4,4\n": "NA", "w,.,1\n,2,NULL\nv,.,4\n": ".",
		"w,.,1\n,2,NULL\nv,1,4\n": "NULL", "w,#,1\n,2,3\nv,4,4\n": "#",
	} {
		o := ReadOptions{Columns: []string{"a", "b"}}
		if want == "#" {
			o.NA = []string{"#"}
		}
		c, err := ReadCells(file(t, "t.csv", "who,a,b\n"+cells), o)
		require.NoError(t, err)
		written := completed(t, c, slices.Repeat([]float64{7}, 12), 2)
		for i := range 3 {
			require.Contains(t, written, fmt.Sprintf("\n%d,2,%s,", i, want), cells)
		}
	}
}

func TestCarriedTypes(t *testing.T) {
	from := filepath.Join(t.TempDir(), "t.feather")
	fields := []arrow.Field{
		{Name: "u", Type: arrow.PrimitiveTypes.Uint64}, {Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "cost", Type: &arrow.Decimal128Type{Precision: 30, Scale: 2}},
		{Name: "yes", Type: arrow.FixedWidthTypes.Boolean}, {Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond}},
		{Name: "when", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Berlin"}}, {Name: "fine", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}},
		{Name: "sex", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}}, {Name: "zip", Type: arrow.BinaryTypes.String},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "none", Type: arrow.Null}, {Name: "a", Type: arrow.PrimitiveTypes.Float64}, {Name: "b", Type: arrow.PrimitiveTypes.Uint64},
	}
	writeArrow(t, from, fields, nil, `{"u":18446744073709551615,"i":-9223372036854775808,"cost":"1234567890123456789012.05","yes":true,"day":"2013-02-08","at":"2013-02-08T01:02:03.5","when":"2013-02-08T01:02:03.000004Z","fine":"2013-02-08T01:02:03.000000004","sex":"NA","zip":"007","x":0.1,"a":1,"b":9223372036854775809}`,
		`{"a":2}`,
		`{"u":9223372036854775808,"i":7,"cost":"0.10","yes":false,"day":"1969-12-31","at":"1800-01-01T00:00:00","when":"1969-12-31T23:59:59.999999Z","fine":"2013-02-08T01:02:03","sex":" f","zip":"1e5","x":-3,"b":3}`)
	want := [][]string{
		{"18446744073709551615", "-9223372036854775808", "1234567890123456789012.05", "1", "2013-02-08", "2013-02-08T01:02:03.5", "2013-02-08T01:02:03.000004Z", "2013-02-08T01:02:03.000000004", "NA", "007", "0.1", "", "1", "9223372036854775809"},
		{"", "", "", "", "", "", "", "", "", "", "", "", "2", "0.5"},
		{"9223372036854775808", "7", "0.1", "0", "1969-12-31", "1800-01-01T00:00:00", "1969-12-31T23:59:59.999999Z", "2013-02-08T01:02:03", "f", "1e5", "-3", "", "0.5", "3"},
	}
	typed := []format.Kind{format.Unsigned, format.Whole, format.Text, format.Boolean, format.Date, format.Stamp, format.Instant, format.Text, format.Text, format.Text, format.Numbers, format.Numbers, format.Numbers, format.Numbers}
	excel := []format.Kind{format.Text, format.Mixed, format.Text, format.Boolean, format.Date, format.Mixed, format.Text, format.Text, format.Text, format.Text, format.Mixed, format.Mixed, format.Mixed, format.Mixed}
	carried{from, want, typed, excel, map[[2]int]string{{0, 13}: "9223372036854776000"}}.check(t) // 0.5 made the column decimal
}

func TestKeptNumbers(t *testing.T) {
	for _, cell := range []string{"0", "-0", "0.0", "1", "-1.50", ".5", "70.0", "1e-05", "1E+20", "1.5e10", "123456789012345", "0.1234567890123456", "0.10000000000000001", "9007199254740992", "NaN", "Inf", "-Inf", "1200"} {
		require.True(t, format.Numbers.Keeps(cell), cell)
	}
	for _, cell := range []string{"", "-", ".", "e5", "007", "00", "-01", "1e5", "+1", "1.", "1,5", "0x10", "1_0", "9007199254740993", "0.123456789012345678", "12345678901234567890.5", "1e+400", "nan", "+Inf", "Infinity", " 1"} {
		require.False(t, format.Numbers.Keeps(cell), cell)
	}
	for k, cells := range map[format.Kind][2][]string{
		format.Whole: {{"0", "-3", "9223372036854775807"}, {"-0", "03", "9223372036854775808", "1.0", "+1"}}, format.Unsigned: {{"0", "18446744073709551615"}, {"-1", "00", "18446744073709551616"}},
		format.Boolean: {{"0", "1"}, {"2", "true"}}, format.Date: {{"2013-02-08", "0001-01-01"}, {"2013-02-30", "13-02-08", "2013-02-08T00:00:00"}},
		format.Stamp: {{"2013-02-08T01:02:03.000004", "9999-12-31T00:00:00"}, {"2013-02-08T01:02:03.0000004", "2013-02-08T01:02:03Z", "2013-02-08"}}, format.Instant: {{"2013-02-08T01:02:03Z"}, {"2013-02-08T01:02:03"}},
	} {
		for i, all := range cells {
			for _, cell := range all {
				require.Equal(t, i == 0, k.Keeps(cell), "%d %s", k, cell)
			}
		}
	}
}

func TestWriteLevels(t *testing.T) {
	dir := t.TempDir()
	from := file(t, "t.csv", "x,sex,smokes,city\n1.5,f,0,\"Paris, TX\"\n,,NA,\n3,m,1,Rome\n2,f,,Rome\n")
	c, err := ReadCells(from, ReadOptions{Columns: []string{"x", "sex", "smokes", "city"}, Kinds: map[string]Column{
		"sex": {Kind: Binary, Levels: []string{"f", "m"}}, "smokes": {Kind: Binary, Levels: []string{"0", "1"}},
		"city": {Kind: Nominal, Levels: []string{"Paris, TX", "Rome"}},
	}})
	require.NoError(t, err)
	values := []float64{9, 9, 9, 9, 4.5, 1, 1, 0, 9, 9, 9, 9, 9, 9, 1, 9}
	for _, ending := range carriedTo {
		to := filepath.Join(dir, "o"+ending)
		require.NoError(t, c.WriteCompleted(atomicfile.Write, to, values, 1))
		s, err := openSheet(to, ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, [][]string{{"1.5", "f", "0", "Paris, TX"}, {"4.5", "m", "1", "Paris, TX"}, {"3", "m", "1", "Rome"}, {"2", "f", "1", "Rome"}}, s.rows, ending)
		if ending == ".parquet" || ending == ".feather" {
			require.Equal(t, []format.Kind{format.Numbers, format.Text, format.Whole, format.Text}, kindsOf(s), ending)
		}
	}
	var twice []float64
	for row := range slices.Chunk(values, 4) {
		twice = append(append(twice, row...), row...)
	}
	text := completed(t, c, twice, 2)
	require.Contains(t, text, "0,2,NA,NA,NA,NA\n")
	require.Contains(t, text, "2,2,4.5,m,1,\"Paris, TX\"\n")
}

// R's mice cannot read a column without a name, such as R's row names.
func TestSeveralDrawsNameTheRowNames(t *testing.T) {
	from := file(t, "t.csv", "\"\",\"a\",\"b\"\n\"r1\",1,NA\n\"r2\",2,5\n")
	c, err := ReadCells(from, ReadOptions{Columns: []string{"a", "b"}})
	require.NoError(t, err)
	for draws, header := range map[int]string{1: ",a,b", 2: ".imp,.id,row.names,a,b"} {
		first, _, _ := strings.Cut(completed(t, c, make([]float64, 4*draws), draws), "\n")
		require.Equal(t, header, strings.ReplaceAll(strings.TrimSpace(first), `"`, ""))
	}
}
