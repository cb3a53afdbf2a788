package data

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/format"
)

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func parsed(t testing.TB, text string) *Table {
	t.Helper()
	table, err := ParseCSV(strings.NewReader(text), "t.csv", ReadOptions{})
	require.NoError(t, err)
	return table
}

// shown writes a table as "a whole, b binary f|m; without id identifier: reason / 1 0 / . 1; dropped 2".
func shown(t *Table) string {
	var b strings.Builder
	for j, name := range t.Names {
		if j > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		if t.Kinds != nil {
			b.WriteString(" " + string(t.Kinds[j]))
		}
		if t.Levels != nil && t.Levels[j] != nil {
			b.WriteString(" " + strings.Join(t.Levels[j], "|"))
		}
	}
	for _, c := range t.LeftOut {
		fmt.Fprintf(&b, "; without %s %s: %s", c.Name, c.Kind, c.LeftOut)
	}
	for i := range t.N {
		b.WriteString(" /")
		for k := i * t.D; k < (i+1)*t.D; k++ {
			if t.Observed[k] {
				b.WriteString(" " + format.Number(t.Values[k]))
			} else {
				b.WriteString(" .")
			}
		}
	}
	if t.Dropped > 0 {
		fmt.Fprintf(&b, "; dropped %d", t.Dropped)
	}
	return b.String()
}

// joined puts the blocks of a file together.
func joined(path string, o ReadOptions) (*Table, error) {
	all := &Table{}
	for b, err := range Blocks(path, o) {
		if err != nil {
			return nil, err
		}
		all.add(b)
	}
	return all, nil
}

func (t *Table) add(b *Table) {
	t.Names, t.D, t.N, t.Dropped = b.Names, b.D, t.N+b.N, t.Dropped+b.Dropped
	t.Values, t.Observed = append(t.Values, b.Values...), append(t.Observed, b.Observed...)
	t.Lines = append(t.Lines, b.Lines...)
}

// reading is a text and the table that it gives as shown writes it, or a refusal. A want that ends
// with … is a beginning.
type reading struct {
	text string
	o    ReadOptions
	want string
}

func (r reading) check(t *testing.T) {
	path := file(t, "t.csv", r.text)
	table, err := ReadFile(path, r.o)
	parsed, parsedErr := ParseCSV(strings.NewReader(r.text), path, r.o)
	require.Equal(t, err, parsedErr)
	require.Equal(t, table, parsed)
	var got string
	if err != nil {
		require.Nil(t, table)
		got = strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", "")
	} else {
		got = strings.ReplaceAll(shown(table), filepath.Dir(path)+"/", "")
		require.Len(t, table.Lines, table.N)
	}
	if begin, cut := strings.CutSuffix(r.want, "…"); cut {
		require.Equal(t, begin, got[:min(len(begin), len(got))])
	} else {
		require.Equal(t, r.want, got)
	}
	if r.o.Coded {
		return
	}
	blocks, blocksErr := joined(path, r.o)
	if err == nil {
		require.NoError(t, blocksErr)
		require.Equal(t, shown(table), shown(blocks))
	}
	if blocksErr != nil {
		require.Equal(t, err, blocksErr)
	}
	rows, rowsErr := OpenRows(path, r.o, 2)
	if rowsErr != nil {
		require.Equal(t, err, rowsErr)
		return
	}
	defer rows.Close()
	sums := make([]ColumnSums, len(rows.Names))
	for k := range rows.Blocks() {
		b, failed := rows.Block(k)
		if failed != nil {
			begin, _, _ := strings.Cut(failed.Error(), " in ") // a block counts its own cells
			require.ErrorContains(t, err, begin)
			return
		}
		for j := range sums {
			sums[j].Merge(columnSums(b)[j])
		}
	}
	if refusal := rows.Refusal(sums); refusal != nil && rows.Rows > 1 {
		require.Equal(t, err, refusal)
	}
}

const plain = "a, b / 1 . / . -2.5 / 3 4000"

func TestRead(t *testing.T) {
	ab := []string{"a", "b"}
	for name, r := range map[string]reading{
		"plain":                {"a,b\n1,\n,-2.5\n3,4000\n", ReadOptions{}, plain},
		"CRLF":                 {"a,b\r\n1,\r\n,-2.5\r\n3,4000\r\n", ReadOptions{}, plain},
		"marked quoted header": {"\ufeff\"a\",\"b\"\n1,\n,-2.5\n3,4000\n", ReadOptions{}, plain},
		"spaces":               {" a ,b\n 1, \n\t,-2.5 \n3,  4000\n", ReadOptions{}, plain},
		"blank lines":          {"\na,b\n1,\n\n,-2.5\n  \n3,4000\n\n", ReadOptions{}, plain},
		"default marks":        {"a,b\n1,#N/A\nNone,-2.5\n3,4000\n?,null\nnan,.\n", ReadOptions{}, plain + "; dropped 2"},
		"own marks":            {"a,b\n1,.\n-9,-2.5\n3,4000\n.,\n", ReadOptions{NA: []string{".", "-9"}}, plain + "; dropped 1"},
		"semicolon":            {"a;b\n1;\n;-2.5\n3;4000\n", ReadOptions{Comma: ';'}, plain},
		"tab":                  {"a\tb\n1\t\n\t-2.5\n3\t4000\n", ReadOptions{Comma: '\t'}, plain},
		"found semicolon":      {"a;b\n1;\n;-2.5\n3;4000\n", ReadOptions{}, plain},
		"found decimal comma":  {"a;b\n1,0;\n;-2,5\n3;4000,0\n", ReadOptions{}, plain},
		"asked decimal comma":  {"a,b\n\"1,000\",\n,\"-2,5\"\n3,4000\n", ReadOptions{Decimal: ','}, plain},
		"commas in names": {
			"a;b, of x;c\n1,0;;x\n;-2,5;y\n3;4000,0;z\n",
			ReadOptions{Columns: []string{"a", "b, of x"}}, "a, b, of x / 1 . / . -2.5 / 3 4000",
		},
		"chosen, in order":      {"b,id,a\n,x,1\n-2.5,y,\n,z,\n4000,,3\n,,\n", ReadOptions{Columns: ab}, plain + "; dropped 2"},
		"row names left out":    {",b,a\nr1,,1\nr2,-2.5,\nr3,4000,3\n", ReadOptions{Columns: ab}, plain},
		"twice elsewhere":       {"b,c,c,a\n,1,2,1\n-2.5,,,\n4000,,,3\n", ReadOptions{Columns: ab}, plain},
		"a semicolon in a name": {"a;b\n1\n2\n", ReadOptions{}, "a;b / 1 / 2"},
		"numbers as names":      {"1,2\n1,5\n3,4000\n", ReadOptions{Columns: []string{"1", "2"}}, "1, 2 / 1 5 / 3 4000"},
	} {
		t.Run(name, r.check)
	}
}

const notNumber = `" is not a number; `

func TestReadRefuses(t *testing.T) {
	const (
		marks   = "ReadOptions.NA 'NA,N/A,na,n/a,#N/A,<NA>,NaN,nan,NULL,null,None,.,?,"
		correct = "correct the cell, or read it as missing: " + marks
		isMark  = "if it marks a missing cell: " + marks
		header  = "; correct the header, or choose columns with ReadOptions.Columns"
		quote   = `; quote a cell that has a quotation mark, and double the mark: "5"" pipe"`
		cells   = "t.csv:4: expected 2 cells as in the header, found 3; " +
			"look for a decimal comma, an unquoted separator in a text, or row names without a header"
		without = "; leave it out with ReadOptions.Exclude b"
	)
	for name, r := range map[string]reading{
		"empty":   {"", ReadOptions{}, "t.csv: the file is empty; it needs a first line of column names and a line for each row"},
		"no rows": {"a,b\n", ReadOptions{}, "t.csv: a header but no rows"},
		"Mac": {"a,b\r1,2\r3,4\r", ReadOptions{},
			"t.csv: its lines end with carriage returns; save it with Unix or Windows line ends"},
		"one row": {"a,b\n1,2\n", ReadOptions{}, "t.csv: only 1 row has a value; at least 2 are needed"},
		"binary":  {"a,b\n1,2\n\x00,3\n", ReadOptions{}, `t.csv:3: not a text in UTF-8; save the table as "CSV UTF-8"`},

		"too few cells": {"a,b,c\n1,2,3\n4,5\n", ReadOptions{},
			"t.csv:3: expected 3 cells as in the header, found 2; a missing cell still needs its separator"},
		"too many cells": {"a,b\n1,2\n\n4,5,6\n", ReadOptions{}, cells},
		"semicolons": {"a;b;c\n1,5;2;3\n", ReadOptions{Comma: ','},
			`t.csv:1: only one column found, named "a;b;c"; try ReadOptions.Comma ';'`},
		"bad separator":  {"a,b\n1,2\n", ReadOptions{Comma: '"'}, `t.csv: the separator '"' cannot be used`},
		"quotation mark": {"a,b\n1,2\n3,5\" pipe\n", ReadOptions{}, `t.csv:3: bare " in non-quoted-field` + quote},
		"open quotation": {"a,b\n1,\"2\n3,4\n", ReadOptions{}, `t.csv:2: extraneous or missing " in quoted-field` + quote},

		"row names": {",Wind,Sky\n1,7.4,blue\n2,8,grey\n", ReadOptions{},
			"t.csv:1: the first column has no name, it looks like row names " +
				"(in R: write.csv(x, row.names = FALSE)); name it, or choose the others with ReadOptions.Columns"},
		"no name":     {"a,,b\n1,2,3\n4,5,6\n", ReadOptions{}, "t.csv:1: column 2 has no name" + header},
		"equal names": {"a,b,a\n1,2,3\n4,5,6\n", ReadOptions{}, `t.csv:1: two columns are named "a"` + header},
		"chosen, equal": {"a,b,a\n1,2,3\n4,5,6\n", ReadOptions{Columns: []string{"a"}},
			`t.csv:1: two columns are named "a"; correct the header`},
		"line end in name": {"a,\"b\nc\"\n1,2\n4,5\n", ReadOptions{},
			`t.csv:1: column 2: the name "b\nc" holds a control character` + header},
		"no header": {"41,190,7.4\n36,118,8\n", ReadOptions{}, "t.csv:1: the first line holds only numbers, " +
			"it must name the columns (if these are the names, give them a letter: x41)"},

		"thousand points": {"a;b\n1,5;2\n3;1.234,5\n", ReadOptions{}, `t.csv:3: column "b": "1.234,5` + notNumber +
			`the column has numbers with marks between thousands in 1 of 2 cells: "1.234,5" -> 1234.5; ` +
			"ReadOptions.Numbers b reads them"},
		"decimal point": {"a;b\n1,5;2\n3;1.25\n", ReadOptions{Decimal: ','}, `t.csv:3: column "b": "1.25` + notNumber +
			`the column has numbers with a decimal point in 1 of 2 cells: "1.25" -> 1.25; ` +
			"ReadOptions.Numbers b reads them (or ReadOptions.Decimal . for all columns)"},
		"decimal comma": {"Temp,Wind\n5,1\n6,\"14,3\"\n", ReadOptions{}, `t.csv:3: column "Wind": "14,3` + notNumber +
			`the column has numbers with a decimal comma in 1 of 2 cells: "14,3" -> 14.3; ` +
			"ReadOptions.Numbers Wind reads them (or ReadOptions.Decimal , for all columns)"},
		"truth values": {"a;b\n1;2\n3;TRUE\n", ReadOptions{},
			`t.csv:3: column "b": "TRUE` + notNumber + "write yes and no as 1 and 0"},
		"text column": {"age,bmi,hyp\n20-39,,\n40-59,22.7,no\n20-39,30.1,\n", ReadOptions{}, `t.csv:2: column "age": "20-39` +
			notNumber + "the column has no numbers: leave it out with ReadOptions.Exclude age"},
		"text cell": {"a,b\n1,2\n3,12x\n", ReadOptions{}, `t.csv:3: column "b": "12x` + notNumber + correct + "12x'"},
		"mark":      {"a,b\n1,2\n3,-\n", ReadOptions{}, `t.csv:3: column "b": "-` + notNumber + isMark + "-'"},
		"NaN not a mark": {"a,b\n1,2\n3,NaN\n", ReadOptions{NA: []string{"."}},
			`t.csv:3: column "b": "NaN` + notNumber + "if it marks a missing cell: ReadOptions.NA .,NaN"},
		"infinite": {"a,b\n1,2\n3,-Inf\n", ReadOptions{}, `t.csv:3: column "b": "-Inf" is infinite; ` + correct + "-Inf'"},
		"square beyond": {"a,b\n1,2\n3,-2e150\n", ReadOptions{},
			`t.csv:3: column "b": "-2e150" is too large, its square overflows; rescale the column`},
		"line after quotation": {"n,b\n\"two\nlines\",2\nx,y\n", ReadOptions{Columns: []string{"b"}},
			`t.csv:4: column "b": "y` + notNumber + correct + "y'"},

		"no value": {"a,b,c\n1,,3\n4,NA,6\n", ReadOptions{}, `t.csv: column "b": no observed value` + without},
		"constant": {"a,b,c\n1,5,3\n4,5.0,\n,,6\n", ReadOptions{},
			`t.csv: column "b": constant, every observed value is 5` + without},
		"hardly varies": {"a,b\n1,0\n4,1e-200\n", ReadOptions{}, `t.csv: column "b": its values vary too little ` +
			"(standard deviation 0, less than 1e-150): rescale it" + without},
	} {
		t.Run(name, r.check)
	}
}

// A point before three digits in every cell can be a decimal point or stand between thousands.
func TestPointsBetweenThousands(t *testing.T) {
	const incomes = "age;income\n51;1.988\n56;\n31;971\n44;12.089\n30;NA\n"
	changed := func(from, to string) string { return strings.ReplaceAll(incomes, from, to) }
	const (
		cell  = `t.csv:2: column "income": "1.988" can mean 1988 or 1.988; `
		flags = "ReadOptions.Decimal . reads 1.988, ReadOptions.Numbers income ReadOptions.Decimal , reads 1988"
		read  = "age, income / 51 1.988 / 56 ."
	)
	thousands := ReadOptions{Decimal: ',', Numbers: []string{"income"}}
	for name, r := range map[string]reading{
		"semicolons": {incomes, ReadOptions{}, cell + flags},
		"tabs":       {changed(";", "\t"), ReadOptions{}, cell + flags},
		"commas":     {changed(";", ","), ReadOptions{}, cell + flags},
		"negative": {changed("1.988", "-1.988"), ReadOptions{},
			`t.csv:2: column "income": "-1.988" can mean -1988 or -1.988…`},
		"decimals":  {incomes, ReadOptions{Decimal: '.'}, read + " / 31 971 / 44 12.089 / 30 ."},
		"thousands": {incomes, thousands, "age, income / 51 1988 / 56 . / 31 971 / 44 12089 / 30 ."},
		"the twin": {"a;b\n1;2\n3;1,234\n", ReadOptions{}, `t.csv:3: column "b": "1,234` + notNumber +
			`the column has ambiguous numbers ("1,234"); ReadOptions.Numbers b ReadOptions.Decimal . reads 1234, ` +
			"ReadOptions.Numbers b ReadOptions.Decimal , reads 1.234"},
		"all cells have decimals":   {changed("971", "971.001"), ReadOptions{}, read + "…"},
		"a smaller number":          {changed("12.089", "0.988"), ReadOptions{}, read + "…"},
		"two decimals":              {changed("12.089", "12.08"), ReadOptions{}, read + "…"},
		"four":                      {changed("12.089", "12.0891"), ReadOptions{}, read + "…"},
		"a thousand without a mark": {changed("12.089", "1000"), ReadOptions{}, read + "…"},
		"four digits before it":     {changed("12.089", "1234.089"), ReadOptions{}, read + "…"},
		"no number near a thousand": {changed("971", "5"), ReadOptions{}, read + "…"},
		"an exponent":               {changed("971", "9e2"), ReadOptions{}, read + "…"},
		"money": {"income,age\n1.988 €,51\n971 €,31\n12.089 €,44\n", ReadOptions{Numbers: []string{"income"}},
			`t.csv:2: column "income": "1.988" can mean 1988 or 1.988…`},
	} {
		t.Run(name, r.check)
	}
}

// Thirty rows with a column of each kind.
func kindsText() string {
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
		fmt.Fprintf(&b, "r%d,%d.5,%d,%d,%s,%s,%s,", i, i, i%5, i%2, "mf"[i%2:i%2+1], smoker, city)
		fmt.Fprintf(&b, "2020-01-%02d,%d,t%d,3,,%d\n", i+1, 100-i, i/2, i%4*10)
	}
	return b.String()
}

func TestKinds(t *testing.T) {
	text := kindsText()
	letters := func(cells ...string) string { // a second column of these cells
		var b strings.Builder
		b.WriteString("a,b\n")
		for i, cell := range cells {
			fmt.Fprintf(&b, "%d,%s\n", i*i, cell)
		}
		return b.String()
	}
	slip := letters("1", "2", "3", "2", "1", "o", "2", "3", "1")
	spaced := letters("1 234", "2 345", "9 999")
	faults := "x,w,s,note,long\n1.5,a,f,p,1582218195625938945\n2.5,b,m,q,1582218195625938946\n" +
		"0.5,b,f,r,1582218195625938947\n0.25,b,f,t,1582218195625938948\n"
	nones := "x,exercise\n1,Some\n2,None\nNone,Often\n4,None\n3,Some\n6,Often\n7,Some\n8,Often\n9,Some\n"
	with := func(change func(o *ReadOptions)) ReadOptions {
		o := ReadOptions{Coded: true}
		change(&o)
		return o
	}
	coded := ReadOptions{Coded: true}
	columns := func(names ...string) ReadOptions { return with(func(o *ReadOptions) { o.Columns = names }) }
	nominal := func(names ...string) ReadOptions { return with(func(o *ReadOptions) { o.Nominal = names }) }
	strict := func(names ...string) ReadOptions {
		return with(func(o *ReadOptions) { o.Strict, o.Columns = true, names })
	}
	dates := with(func(o *ReadOptions) { o.Kinds = map[string]Column{"b": {Kind: Number}} })
	for name, r := range map[string]reading{
		"each kind": {text, coded, "num number, whole whole, bit binary 0|1, sex binary f|m, smoker binary No|yes, " +
			"city nominal Bern|Oslo|Rome, code whole" +
			"; without  identifier: it has no name, like row names from R" +
			"; without born date: dates or times; ReadOptions.Kinds can read them as numbers" +
			"; without id identifier: 30 different whole numbers, no two equal; ReadOptions.Kinds can read it as a number" +
			"; without note text: free text (15 different texts in 30 rows)" +
			"; without one constant: every value is 3; without none empty: no value" +
			" / 0.5 0 0 1 0 . 0 / 1.5 1 1 0 1 0 10 / 2.5 2 0 1 1 1 20…"},
		"not coded":     {text, ReadOptions{}, "t.csv:1: the first column has no name…"},
		"free text":     {text, columns("num", "note"), `t.csv: column "note": free text (15 different texts in 30 rows)…`},
		"constant":      {text, columns("num", "one"), `t.csv: column "one": constant, every observed value is 3…`},
		"empty":         {text, columns("num", "none"), `t.csv: column "none": no observed value…`},
		"date":          {text, columns("num", "born"), `t.csv: column "born": dates or times…`},
		"strict":        {text, strict("num", "note"), `t.csv: column…`},
		"asked number":  {text, columns("id", "num"), "id whole, num number / 100 0.5 / 99 1.5…"},
		"no such level": {text, nominal("nam"), `t.csv:1: nominal columns: no column "nam"…`},

		"a slip":         {slip, coded, `t.csv:7: column "b": "o` + notNumber + "correct the cell…"},
		"slip as level":  {slip, nominal("b"), "a whole, b nominal 1|2|3|o / 0 0 / 1 1 / 4 2…"},
		"slip described": {slip, with(func(o *ReadOptions) { o.Lenient = true }), `a whole; without b number: t.csv:7: column "b": "o…`},
		"half are numbers": {letters("1", "2", "x", "y", "1", "2", "x", "y", "1", "2", "x", "y"), coded,
			`t.csv:4: column "b": "x` + notNumber + "…"},
		"spaces": {spaced, coded, `a whole; without b number: numbers with marks between thousands ("1 234"); ` +
			"ReadOptions.Numbers b reads them / 0 / 1 / 4"},
		"spaces read": {spaced, with(func(o *ReadOptions) { o.Numbers = []string{"b"} }), "a whole, b whole / 0 1234 / 1 2345 / 4 9999"},
		"spaces asked": {spaced, columns("a", "b"), `t.csv:2: column "b": "1 234` + notNumber +
			"the column has numbers with marks between thousands…"},
		"nothing left": {letters("x", "y", "z"), with(func(o *ReadOptions) { o.Exclude = []string{"a"} }),
			"t.csv: no column can be used; left out: b: 3 different texts, no two equal…"},
		"spellings of 1": {letters("x", "x", "x", "1", "1.0", "01", "y", "y", "y"), coded,
			"a whole, b nominal 1|x|y / 0 1 / 1 1 / 4 1 / 9 0 / 16 0 / 25 0 / 36 2 / 49 2 / 64 2"},
		"cases":     {letters("nein", "ja", "nein", "NEIN", "ja"), nominal("b"), "a whole, b nominal ja|NEIN|nein…"},
		"no before": {letters("Nein", "Ja", "Nein", "Nein", "Ja"), coded, "a whole, b binary Nein|Ja…"},

		"days":          {"a,b\n1,1970-01-02\n2,1969-12-31\n3,\n", dates, "a whole, b number / 1 1 / 2 -1 / 3 ."},
		"seconds":       {"a,b\n1,1970-01-02\n2,1970-01-01T00:01:30\n3,NA\n", dates, "a whole, b number / 1 86400 / 2 90 / 3 ."},
		"one date":      {"a,b\n1,1970-01-02\n2,17\n3,18\n", dates, `t.csv:2: column "b": "1970-01-02` + notNumber + "…"},
		"dotted":        {"a,b\n1,31.12.2020\n2,01.01.2021\n3,\n", coded, "a whole; without b date: dates or times; ReadOptions.Kinds can read…"},
		"dotted days":   {"a,b\n1,2.1.1970\n2,31.12.1969\n3,\n", dates, "a whole, b number / 1 1 / 2 -1 / 3 ."},
		"hours":         {"a,b\n1,21:30\n2,7:05\n3,7:05:12\n", coded, "a whole; without b date: dates or times; to read dates as numbers, write…"},
		"months":        {"a,b\n1,3/4/2026\n2,4/3/2026\n3,\n", coded, "a whole; without b date: dates or times; to read dates as numbers, write…"},
		"a German mark": {letters("1", "2", "k.A.", "4", "1", "2", "k.A.", "4"), coded, "a whole, b whole / 0 1 / 1 2 / 4 . / 9 4 / 16 1 / 25 2 / 36 . / 49 4"},

		"a mark once":   {letters("1", "2", "k.A.", "4", "1", "2", "3", "4"), coded, `t.csv:4: column "b": "k.A.` + notNumber + "if it marks a missing cell: …"},
		"a mark in two": {"a,b\n1,2\nk.A.,3\n4,k.A.\n9,1\n", coded, "a whole, b whole / 1 2 / . 3 / 4 . / 9 1"},
		"two marks":     {letters("1", "-", "k.A.", "-", "1", "2", "k.A.", "4"), coded, `t.csv:3: column "b": "-` + notNumber + "if it marks a missing cell: …"},
		"marks, strict": {letters("1", "2", "k.A.", "4", "1", "2", "k.A.", "4"), with(func(o *ReadOptions) { o.Strict = true }), `t.csv:4: column "b": "k.A.` + notNumber + "if it marks a missing cell: …"},

		"None twice": {nones, coded, "x whole, exercise binary Often|Some / 1 1 / 2 . / . 0 / 4 .…"},
		"None a level": {nones, with(func(o *ReadOptions) { o.Columns, o.NA = []string{"exercise"}, []string{"NA"} }),
			"exercise nominal None|Often|Some / 2 / 0 / 1 / 0…"},

		"long numbers": {faults, coded, "x number, w binary a|b, s binary f|m" +
			"; without note identifier: 4 different texts, no two equal" +
			"; without long identifier: whole numbers with more than 15 digits are rounded…"},
		"strict, several": {faults, strict(), "t.csv: columns cannot be used: note: 4 different texts, no two equal; long: …"},
		"a control":       {"x,\"b\tc\",s\n1,2,f\n2,1,m\n4,5,m\n", coded, `t.csv:1: column 2: the name "b\tc" holds a control character; correct the header, or choose columns…`},
		"few texts": {"x,place,note\n1,a,p\n2,b,q\n3,a,r\n4,c,s\n5,b,p\n7,c,q\n6,b,r\n9,a,s\n", coded,
			"x whole, place nominal a|b|c; without note text: free text (4 different texts in 8 rows) / 1 0…"},
	} {
		t.Run(name, r.check)
	}

	got, err := ParseCSV(strings.NewReader(spaced), "t.csv", coded)
	require.NoError(t, err)
	require.Equal(t, `numbers with marks between thousands in 3 of 3 cells: "1 234" -> 1234, "2 345" -> 2345; `+
		"ReadOptions.Numbers b reads them", got.LeftOut[0].Finding)
	require.Equal(t, []string{"left out: b: " + got.LeftOut[0].LeftOut}, LeftOutLines(got.LeftOut, 3))
	got, err = ParseCSV(strings.NewReader(nones), "t.csv", coded)
	require.NoError(t, err)
	require.Equal(t, map[string]Mark{"exercise": {"None", 2}}, got.Marks, "a number None is a gap")
	_, err = ReadWeighted(file(t, "t.csv", faults), "w", coded)
	require.ErrorContains(t, err, `t.csv:2: column "w": "a" is not a number; weights are numbers, 0 or more`)
}

func TestKindsAreSaid(t *testing.T) {
	for lines, want := range map[string]string{
		"code,ordered,\"30,20,10,0\"\nborn,number,\nid,whole,\nsex,identifier,\ncity,ordered,\"Rome,Oslo,Bern\"\n": "num number, " +
			"whole nominal 0|1|2|3|4, bit binary 0|1, smoker binary No|yes, city ordered Rome|Oslo|Bern, born number, id whole, " +
			"code ordered 30|20|10|0; without  identifier: it has no name, like row names from R; without sex identifier: " +
			"set by ReadOptions.Kinds; without note text: free text (15 different texts in 30 rows)" +
			"; without one constant: every value is 3; without none empty: no value / 0.5 0 0 0 . 18262 100 3…",
		"cty,nominal,\n":                `kinds.csv:2: t.csv has no column "cty"…`,
		"city,nominl,\n":                `kinds.csv:2: column "city": there is no kind "nominl"…`,
		"city,nominal,\"Rome,Oslo\"\n":  `t.csv:3: column "city": "Bern" is not one of its levels…`,
		"city,binary,\n":                `t.csv: column "city" has 3 levels, but a binary column has two…`,
		"city,number,\n":                `t.csv:3: column "city": "Bern" is not a number…`,
		"sex,nominal,\"m,m\"\n":         `kinds.csv:2: column "sex": 2 levels are listed…`,
		"sex,binary,\nsex,nominal,\n":   `kinds.csv:3: column "sex" has a kind already…`,
		"num,ordered,\nnote,nominal,\n": "num ordered 0.5|1.5|…",
	} {
		o := ReadOptions{Coded: true, Nominal: []string{"whole"}}
		path := file(t, "kinds.csv", "column,kind,levels\n"+lines)
		var err error
		if o.Kinds, err = ReadKinds(path); err != nil {
			begin, _ := strings.CutSuffix(want, "…")
			require.ErrorContains(t, err, begin)
			continue
		}
		for name, c := range o.Kinds {
			c.where = strings.ReplaceAll(c.where, filepath.Dir(path)+"/", "")
			o.Kinds[name] = c
		}
		t.Run(lines, reading{kindsText(), o, want}.check)
	}

	columns := []Column{{Name: "city", Kind: Nominal, Levels: []string{"a,b", `"c"`}}, {Name: "num", Kind: Number}}
	var all strings.Builder
	require.NoError(t, WriteKinds(&all, columns))
	again, err := ReadKinds(file(t, "kinds.csv", all.String()))
	require.NoError(t, err)
	require.Equal(t, columns[0].Levels, again["city"].Levels)
	require.Equal(t, Number, again["num"].Kind)
}

// A level that a late block brings changes the codes of the blocks before it.
func TestLevelsOfLateBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c\n")
	n := 4 * blockBytes / 8 // the first block has 2·blockBytes
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,%d\n", i%1000, i%2+1, i%9)
	}
	b.WriteString("1,x,2\n2,y,3\n3,z,4\n")
	got, err := ParseCSV(strings.NewReader(b.String()), "t", ReadOptions{Coded: true})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "x", "y", "z"}, got.Levels[1])
	codes := got.Column(1)
	require.Equal(t, slices.Repeat([]float64{0, 1}, n/2), codes[:n])
	require.Equal(t, []float64{2, 3, 4}, codes[n:])
}
