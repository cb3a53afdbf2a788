package excel

import (
	"archive/zip"
	"bufio"
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"missingscore/data/format"
)

type content struct {
	header []string
	rows   [][]string
	lines  []int
	kinds  []format.Kind
}

func read(t testing.TB, path, sheet string) (c content, err error) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	r, err := open(&format.File{Reader: bufio.NewReader(bytes.NewReader(text)), Name: path, Sheet: sheet, Content: func() (io.ReaderAt, int64, error) { return bytes.NewReader(text), int64(len(text)), nil }})
	if err != nil {
		return c, err
	}
	defer r.Close()
	columns, _ := r.Columns()
	var all []int
	for j, column := range columns {
		c.header, all = append(c.header, column.Name), append(all, j)
	}
	for {
		b, err := r.Read(all, true)
		if err == io.EOF {
			break
		}
		if err != nil {
			return c, err
		}
		for i, line := range b.Rows {
			row := []string{}
			for j := range all {
				row = append(row, strings.TrimSpace(b.Cells[j].Text[i]))
			}
			c.rows, c.lines = append(c.rows, row), append(c.lines, line)
		}
	}
	columns, _ = r.Columns()
	for _, column := range columns {
		c.kinds = append(c.kinds, column.Kind)
	}
	return c, nil
}

const (
	soundRows  = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row><row r="3"><c r="A3"><v>3</v></c><c r="B3"><v>5</v></c></row><row r="4"><c r="A4"><v>2</v></c><c r="B4"><v>2</v></c></row>`
	soundTexts = `<sst><si><t>a</t></si><si><r><t>b</t></r><rPh><t>x</t></rPh></si></sst>`
)

// bookOf adds the parts that a workbook needs; a part that is "-" is left out.
func bookOf(t testing.TB, path string, parts map[string]string) {
	all := map[string]string{
		"xl/workbook.xml": `<x:workbook xmlns:x="m" xmlns:r="rel"><x:sheets><x:sheet name="S" sheetId="7" r:id="rId1"/></x:sheets></x:workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="t/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="t/sharedStrings" Target="/xl/sharedStrings.xml"/></Relationships>`,
		"xl/sharedStrings.xml":     soundTexts,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` + soundRows + `</sheetData></worksheet>`,
	}
	for name, text := range parts {
		all[name] = text
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range all {
		if text == "-" {
			continue
		}
		out, err := w.Create(name)
		require.NoError(t, err)
		_, err = out.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
}

func TestDamagedWorkbooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.xlsx")
	bookOf(t, path, nil)
	s, err := read(t, path, "")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, s.header)
	require.Equal(t, [][]string{{"1", "2"}, {"3", "5"}, {"2", "2"}}, s.rows)

	const sheet, texts, save = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "; open it in Excel or LibreOffice, check the rows there and save it again"
	rows := func(from, to string) map[string]string {
		changed := strings.Replace(soundRows, from, to, 1)
		require.NotEqual(t, soundRows, changed, from)
		return map[string]string{sheet: `<worksheet><sheetData>` + changed + `</sheetData></worksheet>`}
	}
	third := `<row r="3"><c r="A3"><v>3</v></c>`
	before, _, _ := strings.Cut(soundRows, `"B3"`)
	cut := map[string]string{sheet: "<worksheet><sheetData>" + before}
	for name, c := range map[string]struct {
		parts map[string]string
		want  string
	}{
		"cut":                   {cut, `: sheet "S" is damaged after row 2`},
		"ends without its end":  {map[string]string{sheet: `<worksheet><sheetData>` + soundRows}, `: sheet "S" is damaged after row 4`},
		"a control byte":        {rows(third, third+"\x01"), `: sheet "S" is damaged after row 2`},
		"an unknown entity":     {rows("<v>3</v>", "<v>&k;</v>"), `: sheet "S" is damaged after row 2`},
		"a wrong end":           {rows("<v>3</v>", "<v>3</c>"), `: sheet "S" is damaged after row 2`},
		"no UTF-8":              {rows("<v>3</v>", "<v>\xff</v>"), `: sheet "S" is damaged after row 2`},
		"text beyond":           {rows(`<c r="A3"><v>3</v>`, `<c r="A3" t="s"><v>9999999999</v>`), `: sheet "S" is damaged after row 2 (a cell with text number "9999999999" of 2)`},
		"rows out of order":     {rows(`<row r="3"`, `<row r="2"`), `: sheet "S" is damaged after row 2 (a row of number "2")`},
		"a cell twice":          {rows(`r="B3"`, `r="A3"`), `: sheet "S" is damaged after row 2 (a cell named "A3" in row 3)`},
		"a cell of another row": {rows(`r="B3"`, `r="B2"`), `: sheet "S" is damaged after row 2 (a cell named "B2" in row 3)`},
		"nested":                {rows(third, third+strings.Repeat("<a>", 100000)), `: sheet "S" is damaged after row 2 (elements nested too deeply)`},
		"a zip bomb":            {map[string]string{texts: strings.Repeat(" ", 1<<26) + soundTexts}, `: xl/sharedstrings.xml is damaged (too much text for its size)`},
		"texts cut":             {map[string]string{texts: soundTexts[:len(soundTexts)-1]}, `: xl/sharedstrings.xml is damaged`},

		"formula":   {rows(`<c r="B3"><v>5</v>`, `<c r="B3"><f>A3+2</f>`), `:3: column "b": a formula without a result; open the workbook in Excel or LibreOffice and save it again`},
		"title":     {rows(`<c r="B1" t="s"><v>1</v></c>`, ``), `:2: the cell "2" is right of the last column name; if "a" is a title, delete the rows above the column names`},
		"no part":   {map[string]string{sheet: "-"}, "its part xl/worksheets/sheet1.xml is missing"},
		"no texts":  {map[string]string{texts: "-"}, `: sheet "S" is damaged (a cell with text number "0" of 0)`},
		"no sheets": {map[string]string{"xl/workbook.xml": "<workbook/>"}, ": the workbook has no sheet"},
		"xlsb":      {map[string]string{"_rels/.rels": `<Relationships><Relationship Type="t/officeDocument" Target="xl/workbook.bin"/></Relationships>`}, ": a binary workbook (.xlsb) cannot be read: save it as .xlsx"},
	} {
		bookOf(t, path, c.parts)
		_, err := read(t, path, "")
		require.ErrorContains(t, err, c.want, name)
		if strings.Contains(c.want, " is damaged") {
			require.ErrorContains(t, err, save, name)
		}
	}
}

func TestCellsOfWorkbooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.xlsx")
	bookOf(t, path, map[string]string{"xl/sharedStrings.xml": "-", "xl/worksheets/sheet1.xml": `<w:worksheet xmlns:w="m"><w:sheetData><w:row/><w:row><w:c t="inlineStr"><w:is><w:t>x_x0041__x</w:t></w:is></w:c><w:c/><w:c t="str"><w:v>y</w:v></w:c></w:row>` +
		`<w:row r="7"><w:c r="C7" t="e"><w:f>1/0</w:f><w:v>#DIV/0!</w:v></w:c></w:row><w:row><w:c t="b"><w:v>1</w:v></w:c><w:c t="d"><w:v>2013-02-08</w:v></w:c><w:c><w:v>1<!-- -->2</w:v></w:c><w:c t="str"><w:v> </w:v></w:c></w:row></w:sheetData></w:worksheet>`})
	s, err := read(t, path, "")
	require.NoError(t, err)
	require.Equal(t, []string{"xA_x", "", "y"}, s.header)
	require.Equal(t, [][]string{{"", "", "#DIV/0!"}, {"1", "2013-02-08", "12"}}, s.rows)
	require.Equal(t, []int{7, 8}, s.lines)
	require.Equal(t, []format.Kind{format.Boolean, format.Text, format.Mixed}, s.kinds)
	for at, name := range map[int]string{0: "A", 25: "Z", 26: "AA", 701: "ZZ", 702: "AAA", mostColumns - 1: "XFD"} {
		require.Equal(t, name, columnName(at))
		back, err := cellColumn(name+"5", 5, 0)
		require.NoError(t, err)
		require.Equal(t, at, back)
	}
}

func TestExcelFormats(t *testing.T) {
	for shown, codes := range map[bool][]string{
		false: {"General", "0", "0.00E+00", "# ?/?", `0.0" mmol/L"`, `0" years"`, `#,##0.00 "EUR"`, `[$CHF]\ #,##0.00`, `_-* #,##0.00\ [$€-407]_-;-* #,##0.00\ [$€-407]_-`, `#,##0.00_);[Red]\(#,##0.00\)`,
			`0\ \d\a\y\s`, `[>=100]0;[<0]0`, `0_d`, "@", `"day"`, ";;;", "", "h:mm", "mm:ss", "h:mm AM/PM", "[h]:mm", "[DBNum1]h"},
		true: {"yyyy-mm-dd", "d/m/yy", `[$-409]d-mmm-yy;@`, "mmm", `[$-F800]dddd\,\ mmmm\ dd\,\ yyyy`, `[Red]dd.mm.yyyy`, `yyyy"年"m"月"d"日"`, "[$-411]ge.m.d", "yyyy-mm-dd hh:mm:ss.000"},
	} {
		for _, code := range codes {
			require.Equal(t, shown, showsDate(code), code)
		}
	}
	for _, id := range []int{0, 9, 13, 18, 21, 37, 49, 59} {
		require.False(t, builtInDate(id), id)
		require.True(t, builtInDate([]int{14, 17, 22, 27, 36, 50, 57, 58}[id%8]))
	}
	for _, c := range []struct {
		days  float64
		epoch bool
		want  string
	}{
		{1, false, "1900-01-01"}, {59, false, "1900-02-28"}, {61, false, "1900-03-01"}, {lastDay, false, "9999-12-31"}, {41313.75, false, "2013-02-08T18:00:00"},
		{41313 + 1.0/86400/8, false, "2013-02-08T00:00:00.125"}, {39851, true, "2013-02-08"}, {-1, false, ""}, {lastDay + 1, false, ""}, {math.NaN(), false, ""},
	} {
		got, _ := date(c.days, c.epoch)
		require.Equal(t, c.want, got, c)
		if c.want == "" {
			continue
		}
		days, style, ok := daysOf(c.want)
		require.True(t, ok, c.want)
		require.Equal(t, strings.Contains(c.want, "T"), style == 2, c.want)
		got, _ = date(days, false)
		require.Equal(t, c.want, got)
	}
	for _, text := range []string{"", "1", "1899-12-30", "2013-02-30", "2013-02-08T18:00:00Z", "2013-02-08T18:00:00.0001", "12:00:00"} {
		_, _, ok := daysOf(text)
		require.False(t, ok, text)
	}
}

func TestWorkbooksForOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.xlsx")
	columns := []format.Column{{Name: "n", Kind: format.Numbers}, {Name: "t", Kind: format.Text}, {Name: "yes", Kind: format.Boolean}, {Name: "day", Kind: format.Date}, {Name: "at", Kind: format.Stamp}, {Name: "long", Kind: format.Whole}, {Name: "m", Kind: format.Mixed}}
	var file bytes.Buffer
	out, err := write(&file, columns)
	require.NoError(t, err)
	for _, row := range [][]string{{"0.1", "007", "1", "2013-02-08", "2013-02-08T18:00:00", "9223372036854775807", "12"}, {"", "a\n<&", "0", "", "", "5", "x"}, {"1e-7", " é ", "", "1800-01-01", "", "", "y"}} {
		require.NoError(t, out.Write(row))
	}
	require.NoError(t, out.Close())
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	book, err := excelize.OpenFile(path)
	require.NoError(t, err)
	defer book.Close()
	rows, err := book.GetRows("Sheet1")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"n", "t", "yes", "day", "at", "long", "m"}, {"0.1", "007", "TRUE", "2013-02-08", "2013-02-08 18:00:00", "9223372036854775807", "12"},
		{"", "a\n<&", "FALSE", "", "", "5", "x"}, {"0.0000001", " é ", "", "1800-01-01", "", "", "y"}}, rows)
	for cell, want := range map[string]excelize.CellType{"A2": excelize.CellTypeUnset, "B2": excelize.CellTypeInlineString, "C2": excelize.CellTypeBool, "F2": excelize.CellTypeInlineString, "G2": excelize.CellTypeUnset} {
		kind, err := book.GetCellType("Sheet1", cell)
		require.NoError(t, err)
		require.Equal(t, want, kind, cell)
	}
	s, err := read(t, path, "")
	require.NoError(t, err)
	require.Equal(t, "a\n<&", s.rows[1][1])
	require.Equal(t, []string{"2013-02-08T18:00:00", "9223372036854775807", "12"}, s.rows[0][4:])
	w, err := write(&bytes.Buffer{}, columns)
	require.NoError(t, err)
	require.ErrorContains(t, w.Write([]string{"", strings.Repeat("x", mostLetters+1), "", "", "", "", ""}), `a cell has at most 32767 characters, but one in column "t" has 32768`)
}
