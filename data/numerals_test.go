package data

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/atomicfile"
)

var pointFile, commaFile = dialect{',', '.'}, dialect{';', ','}

func TestNumbersInTexts(t *testing.T) {
	for name, c := range map[string]struct {
		in    dialect
		cells []string
		want  []float64
		kind  string
		write string // 2.5 in the column's style
	}{
		"unit":               {pointFile, []string{"12 kg", "1.5 kg", "-3 kg", "1e3 kg"}, []float64{12, 1.5, -3, 1000}, "numbers with a unit", "2.5 kg"},
		"unit without space": {pointFile, []string{"12kg/m2", ".5 kg/m2"}, []float64{12, .5}, "numbers with a unit", "2.5kg/m2"},
		"plural":             {pointFile, []string{"2 months", "1 month", "12 months"}, []float64{2, 1, 12}, "numbers with a unit", "2.5 months"},
		"percent":            {pointFile, []string{"45 %", "7.5%"}, []float64{45, 7.5}, "numbers with a percent sign", "2.5 %"},
		"money":              {pointFile, []string{"$1,234.50", "-$3", "$-4"}, []float64{1234.5, -3, -4}, "amounts of money", "$2.5"},
		"money behind":       {commaFile, []string{"1.234,50 €", "12 €"}, []float64{1234.5, 12}, "amounts of money", "2,5 €"},
		"francs":             {pointFile, []string{"CHF 1'234.50", "CHF 12"}, []float64{1234.5, 12}, "amounts of money", "CHF 2.5"},
		"spaces":             {pointFile, []string{"1 234", "12", "1\u202f234\u202f567"}, []float64{1234, 12, 1234567}, "numbers with marks between thousands", "2.5"},
		"commas, millions":   {pointFile, []string{"1,234,567", "12", "1,234"}, []float64{1234567, 12, 1234}, "numbers with marks between thousands", "2.5"},
		"commas, decimals":   {pointFile, []string{"1,234", "12.5"}, []float64{1234, 12.5}, "numbers with marks between thousands", "2.5"},
		"decimal commas":     {pointFile, []string{"1,5", "0,125", "1,234"}, []float64{1.5, .125, 1.234}, "numbers with a decimal comma", "2,5"},
		"decimal points":     {commaFile, []string{"1.5", "12"}, []float64{1.5, 12}, "numbers with a decimal point", "2.5"},
		"own decimals":       {pointFile, []string{"1.234 kg", "2.345 kg"}, []float64{1.234, 2.345}, "numbers with a unit", "2.5 kg"},
		"minus":              {pointFile, []string{"−3", "–4.5", "2"}, []float64{-3, -4.5, 2}, "numbers with a typeset minus sign", "2.5"},
	} {
		s, ok := c.in.numberLike(c.cells, nil, ReadOptions{})
		require.True(t, ok, name)
		require.Empty(t, s.problem, name)
		require.Equal(t, c.kind, s.kind(), name)
		for i, cell := range c.cells {
			x, _, err := s.number(cell)
			require.NoError(t, err, name)
			require.Equal(t, c.want[i], x, "%s: %s", name, cell)
		}
		require.Equal(t, c.write, s.text(2.5), name)
		back, _, err := s.number(s.text(-1234.5))
		require.NoError(t, err, name)
		require.Equal(t, -1234.5, back, name)
	}
	s, _ := pointFile.numberLike([]string{"12 kg", "3 kg", "12 kg", "4 kg"}, nil, ReadOptions{})
	require.Equal(t, `numbers with a unit ("12 kg"); ReadOptions.Numbers 'body weight' reads them`, s.leftOut("body weight"))
	require.Equal(t, `numbers with a unit in 4 of 4 cells: "12 kg" -> 12, "3 kg" -> 3; ReadOptions.Numbers w reads them`, s.finding("w"))
}

func TestNoNumbersInTexts(t *testing.T) {
	for _, cells := range [][]string{
		{"1", "2.5"}, {"red", "blue"}, {"A12", "A13"}, {"2017-10-10", "2017-10-11"}, {"12:30", "12:31"}, {"3-4", "5-6"}, {"1/2", "3/4"},
		{"<5", "7"}, {"1 low", "2 middle", "3 high"}, {"5 Jan 2019", "6 Feb 2020"}, {"65+ years", "18-64 years"}, {"10.0.0.1", "10.0.0.2"},
		{"030 123 456", "030 123 457"}, {"3 kg", "3 kg"}, {"12ab", "12cd"}, {"--3", "4"}, {"", "%"}, {"kg", "12"}, {"12", "13", "14", "15", "16 kg"}, {"1 kg", "2 kg", "3 kg", "4 g"},
	} {
		_, ok := pointFile.numberLike(cells, nil, ReadOptions{})
		require.False(t, ok, "%q", cells)
	}
}

func TestNumbersInTextsProblems(t *testing.T) {
	for _, c := range []struct {
		in             dialect
		cells          []string
		problem, error string
	}{
		{pointFile, []string{"12 kg", "13 kg", "14 kg", "15 kg", "300 g"}, `numbers in different units ("12 kg", "300 g"); write all in one unit`, `lacks the unit of "12 kg"`},
		{pointFile, []string{"45 %", "40 %", "41 %", "1 %", "0.45"}, `numbers in different units ("45 %", "0.45"); write all in one unit`, `lacks the unit of "45 %"`},
		{pointFile, []string{"12", "1,234"}, `ambiguous numbers ("1,234"); ReadOptions.Numbers c ReadOptions.Decimal . reads 1234, ReadOptions.Numbers c ReadOptions.Decimal , reads 1.234`, `is ambiguous`},
		{commaFile, []string{"12 €", "1.234 €"}, `ambiguous numbers ("1.234 €"); ReadOptions.Numbers c ReadOptions.Decimal . reads 1.234, ReadOptions.Numbers c ReadOptions.Decimal , reads 1234`, `is ambiguous`},
		{pointFile, []string{"1,234.5", "1.5", "1.234,5"}, `numbers with different decimal marks ("1,234.5", "1.234,5"); write all with one`, `does not have the decimal mark of the column, '.'`},
	} {
		s, ok := c.in.numberLike(c.cells, nil, ReadOptions{})
		require.True(t, ok, "%q", c.cells)
		require.Equal(t, c.problem, s.leftOut("c"))
		_, _, err := s.number(c.cells[len(c.cells)-1])
		require.EqualError(t, err, c.error)
	}
	for decimal, want := range map[rune]float64{'.': 1234, ',': 1.234} {
		s, ok := dialect{',', decimal}.numberLike([]string{"$12", "$1,234"}, nil, ReadOptions{Decimal: decimal})
		require.True(t, ok)
		require.Empty(t, s.problem)
		x, _, err := s.number("$1,234")
		require.NoError(t, err)
		require.Equal(t, want, x, "the flag decides")
	}
}

func TestReadNumbersInTexts(t *testing.T) {
	var b strings.Builder
	b.WriteString("sex,weight,price,x\n")
	want := "weight, price, x"
	for i := range 60 {
		price, weight, seen := 1000.25+float64(7*i), fmt.Sprintf("%d.5 kg", 60+i), fmt.Sprintf("%d.5", 60+i)
		if i%7 == 3 {
			weight, seen = "NA", "."
		}
		fmt.Fprintf(&b, "%c,%s,\"1.%03d,25 €\",%d\n", "fm"[i%2], weight, 7*i, i*i)
		want += fmt.Sprintf(" / %s %v %d", seen, price, i*i)
	}
	text := b.String()
	columns := ReadOptions{Columns: []string{"weight", "price", "x"}}
	o := columns
	o.Numbers = []string{"weight", "price"}
	other := o
	other.Numbers = []string{"wait"}
	for name, r := range map[string]reading{
		"read": {text, o, want},
		"not asked": {text, columns, `t.csv:2: column "weight": "60.5 kg` + notNumber + "the column has numbers with a unit " +
			`in 51 of 51 cells: "60.5 kg" -> 60.5…`},
		"another unit": {strings.Replace(text, "64.5 kg", "64500 g", 1), o,
			`t.csv:6: column "weight": "64500 g" lacks the unit of "60.5 kg"; write all cells in one unit`},
		"a word": {strings.Replace(text, "64.5 kg", "unknown", 1), o,
			`t.csv:6: column "weight": "unknown` + notNumber + "if it marks a missing cell: ReadOptions.NA…"},
		"another name": {text, other, `t.csv:1: columns of numbers: no column "wait"…`},
	} {
		t.Run(name, r.check)
	}

	path := file(t, "t.csv", text)
	groups, _, err := ReadGroups(path, "sex", nil, o)
	require.NoError(t, err)
	require.Equal(t, []float64{61.5, 1007.25, 1}, groups[1].Table.Values[:3])
	cells, err := ReadCells(path, o)
	require.NoError(t, err)
	require.Equal(t, want, shown(cells.Table))
	filled := slices.Clone(cells.Table.Values)
	for k, seen := range cells.Table.Observed {
		if !seen {
			filled[k] = 7.25
		}
	}
	for _, out := range []string{"completed.csv", "completed.xlsx"} {
		out = filepath.Join(t.TempDir(), out)
		require.NoError(t, cells.WriteCompleted(atomicfile.Write, out, filled, 1))
		again, err := openSheet(out, ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"f", "60.5 kg", "1.000,25 €", "0"}, again.rows[0])
		require.Equal(t, "7.25 kg", again.rows[3][1])
	}
}
