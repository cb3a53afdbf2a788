package data_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"missingscore/data"
)

func parse(t require.TestingT, text string) *data.Table {
	table, err := data.ParseCSV(strings.NewReader(text), "t.csv", data.ReadOptions{})
	require.NoError(t, err)
	return table
}

func TestParseCSV(t *testing.T) {
	want := &data.Table{
		Names: []string{"a", "b"}, N: 3, D: 2,
		Values:   []float64{1, 0, 0, -2.5, 3, 4e3},
		Observed: []bool{true, false, false, true, true, true},
	}
	dropped := *want
	dropped.Dropped = 2
	cases := map[string]struct {
		text    string
		options data.ReadOptions
		want    *data.Table
	}{
		"plain":                {"a,b\n1,\n,-2.5\n3,4000\n", data.ReadOptions{}, want},
		"CRLF":                 {"a,b\r\n1,\r\n,-2.5\r\n3,4000\r\n", data.ReadOptions{}, want},
		"byte order mark":      {"\ufeffa,b\n1,\n,-2.5\n3,4000\n", data.ReadOptions{}, want},
		"marked quoted header": {"\ufeff\"a\",\"b\"\n1,\n,-2.5\n3,4000\n", data.ReadOptions{}, want},
		"spaces":               {" a ,b\n 1, \n\t,-2.5 \n3,  4000\n", data.ReadOptions{}, want},
		"blank lines":          {"\na,b\n1,\n\n,-2.5\n  \n3,4000\n\n", data.ReadOptions{}, want},
		"default marks":        {"a,b\n1,#N/A\nNone,-2.5\n3,4000\n?,null\nnan,.\n", data.ReadOptions{}, &dropped},
		"own marks":            {"a,b\n1,.\n-999,-2.5\n3,4000\n.,\n,-999\n", data.ReadOptions{NA: []string{".", "-999"}}, &dropped},
		"semicolon":            {"a;b\n1;\n;-2.5\n3;4000\n", data.ReadOptions{Comma: ';'}, want},
		"tab":                  {"a\tb\n1\t\n\t-2.5\n3\t4000\n", data.ReadOptions{Comma: '\t'}, want},
		"found semicolon":      {"a;b\n1;\n;-2.5\n3;4000\n", data.ReadOptions{}, want},
		"found decimal comma":  {"a;b\n1,0;\n;-2,5\n3;4000,0\n", data.ReadOptions{}, want},
		"asked decimal comma":  {"a,b\n\"1,000\",\n,\"-2,5\"\n3,4000\n", data.ReadOptions{Decimal: ','}, want},
		"commas in names": {"a;b, of x;c\n1,0;;x\n;-2,5;y\n3;4000,0;z\n", data.ReadOptions{Columns: []string{"a", "b, of x"}}, &data.Table{
			Names: []string{"a", "b, of x"}, N: 3, D: 2, Values: want.Values, Observed: want.Observed}},
		"chosen, in order":   {"b,id,a\n,x,1\n-2.5,y,\n,z,\n4000,,3\n,,\n", data.ReadOptions{Columns: []string{"a", "b"}}, &dropped},
		"row names left out": {",b,a\nr1,,1\nr2,-2.5,\nr3,4000,3\n", data.ReadOptions{Columns: []string{"a", "b"}}, want},
		"twice elsewhere":    {"b,c,c,a\n,1,2,1\n-2.5,,,\n4000,,,3\n", data.ReadOptions{Columns: []string{"a", "b"}}, want},
		"a semicolon in a name": {"a;b\n1\n2\n", data.ReadOptions{}, &data.Table{
			Names: []string{"a;b"}, N: 2, D: 1, Values: []float64{1, 2}, Observed: []bool{true, true}}},
		"numbers as names": {"1,2\n1,\n,-2.5\n3,4000\n", data.ReadOptions{Columns: []string{"1", "2"}}, &data.Table{
			Names: []string{"1", "2"}, N: 3, D: 2, Values: want.Values, Observed: want.Observed}},
	}
	for name, c := range cases {
		table, err := data.ParseCSV(strings.NewReader(c.text), "t.csv", c.options)
		require.NoError(t, err, name)
		require.Len(t, table.Lines, table.N)
		table.Lines = nil // tested by the line numbers of messages
		assert.Equal(t, c.want, table, name)
	}
}

func TestParseCSVRefuses(t *testing.T) {
	const marks = "ReadOptions.NA 'NA,N/A,na,n/a,#N/A,<NA>,NaN,nan,NULL,null,None,.,?,"
	cases := map[string]struct {
		text    string
		options data.ReadOptions
		message string
	}{
		"empty":   {"", data.ReadOptions{}, `t.csv: the file is empty; it needs a first line of column names and a line for each row`},
		"no rows": {"a,b\n", data.ReadOptions{}, `t.csv: a header but no rows`},
		"Mac":     {"a,b\r1,2\r3,4\r", data.ReadOptions{}, `t.csv: its lines end with carriage returns; save it with Unix or Windows line ends`},
		"one row": {"a,b\n1,2\n", data.ReadOptions{}, `t.csv: only 1 row has a value; at least 2 are needed`},
		"binary":  {"a,b\n1,2\n\x00,3\n", data.ReadOptions{}, `t.csv:3: not a text in UTF-8; save the table as "CSV UTF-8"`},

		"too few cells":  {"a,b,c\n1,2,3\n4,5\n", data.ReadOptions{}, `t.csv:3: expected 3 cells as in the header, found 2; a missing cell still needs its separator`},
		"too many cells": {"a,b\n1,2\n\n4,5,6\n", data.ReadOptions{}, `t.csv:4: expected 2 cells as in the header, found 3; look for a decimal comma, an unquoted separator in a text, or row names without a header`},
		"semicolons":     {"a;b;c\n1,5;2;3\n", data.ReadOptions{Comma: ','}, `t.csv:1: only one column found, named "a;b;c"; try ReadOptions.Comma ';'`},
		"bad separator":  {"a,b\n1,2\n", data.ReadOptions{Comma: '"'}, `t.csv: the separator '"' cannot be used`},
		"quotation mark": {"a,b\n1,2\n3,5\" pipe\n", data.ReadOptions{}, `t.csv:3: bare " in non-quoted-field; quote a cell that has a quotation mark, and double the mark: "5"" pipe"`},
		"open quotation": {"a,b\n1,\"2\n3,4\n", data.ReadOptions{}, `t.csv:2: extraneous or missing " in quoted-field; quote a cell that has a quotation mark, and double the mark: "5"" pipe"`},

		"row names":        {",Wind,Sky,Temp\n1,7.4,blue,67\n2,8,grey,72\n", data.ReadOptions{}, `t.csv:1: the first column has no name, it looks like row names (in R: write.csv(x, row.names = FALSE)); name it, or choose the others with ReadOptions.Columns`},
		"no name":          {"a,,b\n1,2,3\n4,5,6\n", data.ReadOptions{}, `t.csv:1: column 2 has no name; correct the header, or choose columns with ReadOptions.Columns`},
		"equal names":      {"a,b,a\n1,2,3\n4,5,6\n", data.ReadOptions{}, `t.csv:1: two columns are named "a"; correct the header, or choose columns with ReadOptions.Columns`},
		"chosen, equal":    {"a,b,a\n1,2,3\n4,5,6\n", data.ReadOptions{Columns: []string{"a"}}, `t.csv:1: two columns are named "a"; correct the header`},
		"line end in name": {"a,\"b\nc\"\n1,2\n4,5\n", data.ReadOptions{}, `t.csv:1: column 2: the name "b\nc" holds a control character; correct the header, or choose columns with ReadOptions.Columns`},
		"no header":        {"41,190,7.4\n36,118,8\n", data.ReadOptions{}, `t.csv:1: the first line holds only numbers, it must name the columns (if these are the names, give them a letter: x41)`},

		"one or a thousand":    {"a;b\n1;2\n3;1,234\n", data.ReadOptions{}, `t.csv:3: column "b": "1,234" is not a number; the column has ambiguous numbers ("1,234"); ReadOptions.Numbers b ReadOptions.Decimal . reads 1234, ReadOptions.Numbers b ReadOptions.Decimal , reads 1.234`},
		"thousand points":      {"a;b\n1,5;2\n3;1.234,5\n", data.ReadOptions{}, `t.csv:3: column "b": "1.234,5" is not a number; the column has numbers with marks between thousands in 1 of 2 cells: "1.234,5" -> 1234.5; ReadOptions.Numbers b reads them`},
		"decimal point":        {"a;b\n1,5;2\n3;1.25\n", data.ReadOptions{Decimal: ','}, `t.csv:3: column "b": "1.25" is not a number; the column has numbers with a decimal point in 1 of 2 cells: "1.25" -> 1.25; ReadOptions.Numbers b reads them (or ReadOptions.Decimal . for all columns)`},
		"truth values":         {"a;b\n1;2\n3;TRUE\n", data.ReadOptions{}, `t.csv:3: column "b": "TRUE" is not a number; write yes and no as 1 and 0`},
		"decimal comma":        {"Temp,Wind\n5,1\n6,\"14,3\"\n", data.ReadOptions{}, `t.csv:3: column "Wind": "14,3" is not a number; the column has numbers with a decimal comma in 1 of 2 cells: "14,3" -> 14.3; ReadOptions.Numbers Wind reads them (or ReadOptions.Decimal , for all columns)`},
		"text column":          {"age,bmi,hyp,chl\n20-39,,,\n40-59,22.7,no,187\n20-39,30.1,,190\n", data.ReadOptions{}, `t.csv:2: column "age": "20-39" is not a number; the column has no numbers: leave it out with ReadOptions.Exclude age`},
		"text cell":            {"a,b\n1,2\n3,12x\n", data.ReadOptions{}, `t.csv:3: column "b": "12x" is not a number; correct the cell, or read it as missing: ` + marks + `12x'`},
		"mark":                 {"a,b\n1,2\n3,-\n", data.ReadOptions{}, `t.csv:3: column "b": "-" is not a number; if it marks a missing cell: ` + marks + `-'`},
		"NaN not a mark":       {"a,b\n1,2\n3,NaN\n", data.ReadOptions{NA: []string{"."}}, `t.csv:3: column "b": "NaN" is not a number; if it marks a missing cell: ReadOptions.NA .,NaN`},
		"infinite":             {"a,b\n1,2\n3,-Inf\n", data.ReadOptions{}, `t.csv:3: column "b": "-Inf" is infinite; correct the cell, or read it as missing: ` + marks + `-Inf'`},
		"square beyond":        {"a,b\n1,2\n3,-2e150\n", data.ReadOptions{}, `t.csv:3: column "b": "-2e150" is too large, its square overflows; rescale the column`},
		"line after quotation": {"n,b\n\"two\nlines\",2\nx,y\n", data.ReadOptions{Columns: []string{"b"}}, `t.csv:4: column "b": "y" is not a number; correct the cell, or read it as missing: ` + marks + `y'`},

		"no value":      {"a,b,c\n1,,3\n4,NA,6\n", data.ReadOptions{}, `t.csv: column "b": no observed value; leave it out with ReadOptions.Exclude b`},
		"constant":      {"a,b,c\n1,5,3\n4,5.0,\n,,6\n", data.ReadOptions{}, `t.csv: column "b": constant, every observed value is 5; leave it out with ReadOptions.Exclude b`},
		"hardly varies": {"a,b\n1,0\n4,1e-200\n", data.ReadOptions{}, `t.csv: column "b": its values vary too little (standard deviation 5e-201, less than 1e-150): rescale it; leave it out with ReadOptions.Exclude b`},
	}
	for name, c := range cases {
		table, err := data.ParseCSV(strings.NewReader(c.text), "t.csv", c.options)
		assert.EqualError(t, err, c.message, name)
		assert.Nil(t, table, name)
	}
}

func TestReadErrorsCanBeInspected(t *testing.T) {
	_, err := data.ReadCSV(filepath.Join(t.TempDir(), "none.csv"), data.ReadOptions{})
	assert.ErrorIs(t, err, fs.ErrNotExist)

	_, err = data.ParseCSV(strings.NewReader("a,b\n1,5\n2,5\n"), "t.csv", data.ReadOptions{})
	var column *data.ColumnError
	require.ErrorAs(t, err, &column)
	assert.Equal(t, data.ColumnError{Column: "b", Problem: "constant, every observed value is 5"}, *column)

	_, err = data.ParseCSV(io.MultiReader(strings.NewReader("a,b\n"), broken{}), "t.csv", data.ReadOptions{})
	assert.EqualError(t, err, "t.csv: cannot be read: it ends too early")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestReadCSVDecompresses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte("a,b\n1,\n2,3\n4,5\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	table, err := data.ReadCSV(path, data.ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, parse(t, "a,b\n1,\n2,3\n4,5\n"), table)

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	cut := filepath.Join(dir, "cut.csv.gz")
	require.NoError(t, os.WriteFile(cut, whole[:len(whole)-6], 0o644))
	_, err = data.ReadCSV(cut, data.ReadOptions{})
	assert.EqualError(t, err, cut+": cannot be read: it ends too early")

	plain := filepath.Join(dir, "plain.csv.gz")
	require.NoError(t, os.WriteFile(plain, []byte("a,b\n1,2\n2,3\n4,5\n"), 0o644))
	_, err = data.ReadCSV(plain, data.ReadOptions{})
	assert.EqualError(t, err, plain+": cannot be decompressed: it is damaged, or not compressed by gzip")
}

func TestWriteCSV(t *testing.T) {
	table := &data.Table{
		Names: []string{"a", "b, c"}, N: 4, D: 2,
		Values:   []float64{0.1, 1000000, -1.0 / 3, 0, 1e-7, 1e21, 47054310, 5},
		Observed: []bool{true, true, true, false, true, true, true, true},
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, data.WriteCSV(path, table))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a,\"b, c\"\n0.1,1000000\n-0.3333333333333333,\n1e-07,1e+21\n47054310,5\n", string(text))

	assert.ErrorIs(t, data.WriteCSV(filepath.Join(t.TempDir(), "none", "t.csv"), table), fs.ErrNotExist)
}

func FuzzParseCSV(f *testing.F) {
	const first = "a,b\n1,2\n3,5\n-1,\n"
	_, err := data.ParseCSV(strings.NewReader(first), "t.csv", data.ReadOptions{})
	require.NoError(f, err)
	f.Add(first, ',', "")
	f.Add("a,b\n1,\n2,3\n", ',', "")
	f.Add("\ufeffa;b\r\n\"1\";NA\r\n-2e-5;.\r\n3;4\r\n", ';', ".")
	f.Add("a\tb\n1\t\"x\ny\"\n", '\t', "x")
	f.Add("\"a\"\"\",b|c\n1,1e999\n,0x1p2\n", '|', "1e999")
	f.Add(",b\n1,2\n\x00,3", ',', "NA")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, comma rune, na string) {
		table, err := data.ParseCSV(strings.NewReader(text), "t.csv", data.ReadOptions{Comma: comma, NA: []string{na}})
		if err != nil {
			assert.Nil(t, table)
			return
		}
		path := filepath.Join(dir, "t.csv")
		require.NoError(t, data.WriteCSV(path, table))
		back, err := data.ReadCSV(path, data.ReadOptions{})
		require.NoError(t, err)
		assert.IsIncreasing(t, append([]int{0}, table.Lines...))
		table.Dropped, table.Lines, back.Lines = 0, nil, nil // blank lines and rows without a value are not written
		assert.Equal(t, table, back)
	})
}
