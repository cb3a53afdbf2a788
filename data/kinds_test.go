package data

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

func kindsTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString(",num,whole,bit,sex,smoker,city,born,id,note,one,none,code\n")
	cities := []string{"Rome", "Bern", "Oslo"}
	for i := range 30 {
		smoker, city := "yes", cities[(i+i/3)%3]
		if i%3 == 0 {
			smoker = "No"
		}
		if i%7 == 0 {
			city = "NA"
		}
		fmt.Fprintf(&b, "r%d,%d.5,%d,%d,%s,%s,%s,2020-01-%02d,%d,t%d,3,,%d\n", i, i, i%5, i%2, "mf"[i%2:i%2+1], smoker, city, i+1, 100-i, i/2, i%4*10)
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

func TestKindsAreDetected(t *testing.T) {
	path := kindsTable(t)
	got, err := ReadFile(path, ReadOptions{Coded: true})
	require.NoError(t, err)
	require.Equal(t, []string{"num", "whole", "bit", "sex", "smoker", "city", "code"}, got.Names)
	require.Equal(t, []Kind{Number, Whole, Binary, Binary, Binary, Nominal, Whole}, got.Kinds)
	require.Equal(t, [][]string{nil, nil, {"0", "1"}, {"f", "m"}, {"No", "yes"}, {"Bern", "Oslo", "Rome"}, nil}, got.Levels)
	for i := range got.N {
		row := got.Values[i*got.D:]
		require.Equal(t, float64(1-i%2), row[3], "m is level 1")
		require.Equal(t, i%3 != 0, row[4] == 1)
		require.Equal(t, i%7 != 0, got.Observed[i*got.D+5])
		if i%7 != 0 {
			require.Equal(t, []float64{2, 0, 1}[(i+i/3)%3], row[5])
		}
	}
	reasons := map[string]Kind{}
	for _, c := range got.LeftOut {
		reasons[c.Name] = c.Kind
		require.NotEmpty(t, c.LeftOut)
	}
	require.Equal(t, map[string]Kind{"": Identifier, "born": Date, "id": Identifier, "note": FreeText, "one": Constant, "none": Empty}, reasons)

	_, err = ReadFile(path, ReadOptions{})
	require.ErrorContains(t, err, "the first column has no name")
	_, err = ReadFile(path, ReadOptions{Coded: true, Strict: true, Exclude: []string{""}})
	require.ErrorContains(t, err, "the first column has no name")
	for column, want := range map[string]string{"note": "free text (15 different texts in 30 rows)", "one": "every observed value is 3", "none": "no observed value", "born": "dates"} {
		_, err = ReadFile(path, ReadOptions{Coded: true, Columns: []string{"num", column}})
		require.ErrorContains(t, err, fmt.Sprintf("column %q", column))
		require.ErrorContains(t, err, want)
		_, err = ReadFile(path, ReadOptions{Coded: true, Strict: true, Columns: []string{"num", column}})
		require.Error(t, err)
	}
	got, err = ReadFile(path, ReadOptions{Coded: true, Columns: []string{"id", "num"}})
	require.NoError(t, err, "a number that is asked for by name")
	require.Equal(t, 100.0, got.Values[0])
}

func TestKindsAreSaid(t *testing.T) {
	path := kindsTable(t)
	kinds := filepath.Join(t.TempDir(), "kinds.csv")
	read := func(lines string, o ReadOptions) (*Table, error) {
		require.NoError(t, os.WriteFile(kinds, []byte("column,kind,levels\n"+lines), 0o600))
		var err error
		if o.Kinds, err = ReadKinds(kinds); err != nil {
			return nil, err
		}
		o.Coded = true
		return ReadFile(path, o)
	}
	got, err := read("code,ordered,\"30,20,10,0\"\nborn,number,\nid,whole,\nsex,identifier,\ncity,ordered,\"Rome,Oslo,Bern\"\n", ReadOptions{Nominal: []string{"whole"}})
	require.NoError(t, err)
	require.Equal(t, []string{"num", "whole", "bit", "smoker", "city", "born", "id", "code"}, got.Names)
	require.Equal(t, []Kind{Number, Nominal, Binary, Binary, Ordered, Number, Whole, Ordered}, got.Kinds)
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, got.Levels[1])
	require.Equal(t, []string{"30", "20", "10", "0"}, got.Levels[7])
	require.Equal(t, 18262.0, got.Values[5], "days from 1970-01-01 to 2020-01-01")
	require.Equal(t, 3.0, got.Values[7], "0 is the last level")

	for lines, want := range map[string]string{
		"cty,nominal,\n":                `kinds.csv:2: ` + path + ` has no column "cty"`,
		"city,nominl,\n":                `kinds.csv:2: column "city": there is no kind "nominl"`,
		"city,nominal,\"Rome,Oslo\"\n":  `t.csv:3: column "city": "Bern" is not one of its levels`,
		"city,binary,\n":                `but a binary column has two`,
		"city,number,\n":                `"Bern" is not a number`,
		"sex,nominal,\"m,m\"\n":         `2 levels are listed`,
		"sex,binary,\nsex,nominal,\n":   `kinds.csv:3: column "sex" has a kind already`,
		"num,ordered,\nnote,nominal,\n": ``,
	} {
		_, err := read(lines, ReadOptions{})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	_, err = ReadFile(path, ReadOptions{Coded: true, Nominal: []string{"nam"}})
	require.ErrorContains(t, err, `no column "nam"`)

	got, err = ReadFile(path, ReadOptions{Coded: true})
	require.NoError(t, err)
	var all strings.Builder
	columns := []Column{{Name: "city", Kind: Nominal, Levels: []string{"a,b", `"c"`}}, {Name: "num", Kind: Number}}
	require.NoError(t, WriteKinds(&all, columns))
	require.NoError(t, os.WriteFile(kinds, []byte(all.String()), 0o600))
	again, err := ReadKinds(kinds)
	require.NoError(t, err)
	require.Equal(t, columns[0].Levels, again["city"].Levels)
	require.Equal(t, Number, again["num"].Kind)
	require.Equal(t, KindsOf(got)["city"].Levels, []string{"Bern", "Oslo", "Rome"})
}

func TestSlipsStayErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	read := func(cells []string, o ReadOptions) (*Table, error) {
		text := "a,b\n"
		for i, cell := range cells {
			text += fmt.Sprintf("%d,%s\n", i*i, cell)
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		o.Coded = true
		return ReadFile(path, o)
	}
	slip := []string{"1", "2", "3", "2", "1", "o", "2", "3", "1"}
	_, err := read(slip, ReadOptions{})
	require.ErrorContains(t, err, `t.csv:7: column "b": "o" is not a number; correct the cell`)
	got, err := read(slip, ReadOptions{Nominal: []string{"b"}})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3", "o"}, got.Levels[1])
	got, err = read(slip, ReadOptions{Lenient: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, got.Names)
	require.Contains(t, got.LeftOut[0].LeftOut, `column "b": "o" is not a number`)
	got, err = read([]string{"1 234", "2 345", "9 999"}, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{`left out: b: numbers with marks between thousands ("1 234"); ReadOptions.Numbers b reads them`}, LeftOutLines(got.LeftOut, 3))
	require.Equal(t, `numbers with marks between thousands in 3 of 3 cells: "1 234" -> 1234, "2 345" -> 2345; ReadOptions.Numbers b reads them`, got.LeftOut[0].Finding)
	got, err = read([]string{"1 234", "2 345", "9 999"}, ReadOptions{Numbers: []string{"b"}})
	require.NoError(t, err)
	require.Equal(t, Whole, got.Kinds[1])
	require.Equal(t, []float64{1234, 2345, 9999}, got.Column(1))
	_, err = read([]string{"1 234", "2 345", "9 999"}, ReadOptions{Columns: []string{"a", "b"}})
	require.ErrorContains(t, err, `"1 234" is not a number; the column has numbers with marks between thousands`)
	_, err = read([]string{"x", "y", "z"}, ReadOptions{Exclude: []string{"a"}})
	require.ErrorContains(t, err, "no column can be used; left out: b: 3 different texts, no two equal")
	got, err = read([]string{"x", "x", "x", "1", "1.0", "01", "y", "y", "y"}, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "x", "y"}, got.Levels[1], "1, 1.0 and 01 are one level")
	_, err = read([]string{"1", "2", "x", "y", "1", "2", "x", "y", "1", "2", "x", "y"}, ReadOptions{})
	require.ErrorContains(t, err, `"x" is not a number`, "half of the values are numbers")
	got, err = read([]string{"nein", "ja", "nein", "NEIN", "ja"}, ReadOptions{Nominal: []string{"b"}})
	require.NoError(t, err)
	require.Equal(t, []string{"ja", "NEIN", "nein"}, got.Levels[1])
	got, err = read([]string{"Nein", "Ja", "Nein", "Nein", "Ja"}, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"Nein", "Ja"}, got.Levels[1])
}

func TestDatesAsNumbers(t *testing.T) {
	o := ReadOptions{Coded: true, Kinds: map[string]Column{"b": {Kind: Number}}}
	got, err := ParseCSV(strings.NewReader("a,b\n1,1970-01-02\n2,1970-01-01T00:01:30\n3,NA\n"), "t", o)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 86400, 2, 90, 3, 0}, got.Values)
	require.False(t, got.Observed[5])
	got, err = ParseCSV(strings.NewReader("a,b\n1,1970-01-02\n2,1969-12-31\n3,\n"), "t", o)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 1, 2, -1, 3, 0}, got.Values)
	_, err = ParseCSV(strings.NewReader("a,b\n1,1970-01-02\n2,17\n3,18\n"), "t", o)
	require.ErrorContains(t, err, `t:2: column "b": "1970-01-02" is not a number`)
	got, err = ParseCSV(strings.NewReader("a,b\n1,31.12.2020\n2,01.01.2021\n3,\n"), "t", ReadOptions{Coded: true})
	require.NoError(t, err)
	require.Equal(t, Date, got.LeftOut[0].Kind)
}

func TestLevelsOfLateBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c\n")
	n := 4 * blockBytes / 8 // the first block has 2·blockBytes
	for i := range n {
		b.WriteString(fmt.Sprintf("%d,%d,%d\n", i%1000, i%2+1, i%9))
	}
	b.WriteString("1,x,2\n2,y,3\n3,z,4\n")
	got, err := ParseCSV(strings.NewReader(b.String()), "t", ReadOptions{Coded: true})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "x", "y", "z"}, got.Levels[1])
	require.Equal(t, n+3, got.N)
	wrong := 0
	for i := range n {
		if got.Values[3*i+1] != float64(i%2) {
			wrong++
		}
	}
	require.Zero(t, wrong)
	require.Equal(t, 4.0, got.Values[3*(n+2)+1])

}

func TestKindsElsewhere(t *testing.T) {
	path := kindsTable(t)
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
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "edu", Type: factor, Nullable: true}, {Name: "reg", Type: region}, {Name: "yes", Type: arrow.FixedWidthTypes.Boolean}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	mem := arrowmemory.NewGoAllocator()
	b := array.NewRecordBuilder(mem, schema)
	names := array.NewStringBuilder(mem)
	names.AppendValues(levels, nil)
	dictionary := names.NewArray()
	codes := array.NewInt8Builder(mem)
	for i := range n {
		if i%7 == 0 {
			codes.AppendNull()
		} else {
			codes.Append(int8(i * 2 % 3))
		}
		b.Field(2).(*array.BooleanBuilder).Append(i%4 == 1)
		b.Field(3).(*array.Float64Builder).Append(float64(i*i) / 2)
	}
	edu := array.NewDictionaryArray(factor, codes.NewArray(), dictionary)
	for i := range n {
		codes.Append(int8(i % 3))
	}
	reg := array.NewDictionaryArray(region, codes.NewArray(), dictionary)
	batch := array.NewRecordBatch(schema, []arrow.Array{edu, reg, b.Field(2).NewArray(), b.Field(3).NewArray()}, int64(n))

	feather := filepath.Join(t.TempDir(), "t.feather")
	file, err := os.Create(feather)
	require.NoError(t, err)
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	require.NoError(t, err)
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())

	var message bytes.Buffer // as R writes it into the file
	require.NoError(t, ipc.NewWriter(&message, ipc.WithSchema(schema)).Close())
	type row struct {
		Edu *string `parquet:"edu,optional,dict"`
		Reg string  `parquet:"reg,dict"`
		Yes bool    `parquet:"yes"`
		X   float64 `parquet:"x"`
	}
	var rows []row
	for i := range n {
		r := row{Reg: levels[i%3], Yes: i%4 == 1, X: float64(i*i) / 2}
		if i%7 != 0 {
			r.Edu = &levels[i*2%3]
		}
		rows = append(rows, r)
	}
	plain, pq := filepath.Join(t.TempDir(), "plain.parquet"), filepath.Join(t.TempDir(), "t.parquet")
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

func TestCellsNoneOfLevelsAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("x,exercise\n1,Some\n2,None\nNone,Often\n4,None\n5,NA\n3,Some\n6,Often\n7,Some\n8,Often\n9,Some\n"), 0o600))
	got, err := ReadFile(path, ReadOptions{Coded: true})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"exercise": 2}, got.Nones, "a number None is a gap")
	require.Equal(t, []string{"Often", "Some"}, got.Levels[1])
	got, err = ReadFile(path, ReadOptions{Coded: true, Columns: []string{"exercise"}, NA: []string{"NA"}})
	require.NoError(t, err)
	require.Nil(t, got.Nones)
	require.Equal(t, []string{"None", "Often", "Some"}, got.Levels[0])
}

func TestFaultsOfCodedTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("x,w,s,note,long\n1.5,a,f,p,1582218195625938945\n2.5,b,m,q,1582218195625938946\n0.5,b,f,r,1582218195625938947\n0.25,b,f,t,1582218195625938948\n")
	got, err := ReadFile(path, ReadOptions{Coded: true})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "w", "s"}, got.Names)
	require.Equal(t, Identifier, got.LeftOut[1].Kind)
	_, err = ReadFile(path, ReadOptions{Coded: true, Strict: true})
	require.ErrorContains(t, err, `t.csv: columns cannot be used: note: 4 different texts, no two equal; long: `)
	_, err = ReadWeighted(path, "w", ReadOptions{Coded: true})
	require.ErrorContains(t, err, `t.csv:2: column "w": "a" is not a number; weights are numbers, 0 or more`)
	write("x,\"b\tc\",s\n1,2,f\n2,1,m\n4,5,m\n")
	_, err = ReadFile(path, ReadOptions{Coded: true})
	require.ErrorContains(t, err, "choose columns with ReadOptions.Columns")
}

func TestFewTextsOfFewRowsAreLevels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	rows := "x,place,note\n1,a,p\n2,b,q\n3,a,r\n4,c,s\n5,b,p\n7,c,q\n6,b,r\n9,a,s\n"
	require.NoError(t, os.WriteFile(path, []byte(rows), 0o600))
	got, err := ReadFile(path, ReadOptions{Coded: true})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "place"}, got.Names)
	require.Equal(t, "free text (4 different texts in 8 rows)", got.LeftOut[0].LeftOut)
}
