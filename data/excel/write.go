package excel

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"missingscore/data/format"
)

// ECMA-376, part 1, annex L. Styles: 1 date, 2 date and time.
var parts = []struct{ name, text string }{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`},
	{"xl/styles.xml", `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
		`<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts>` +
		`<fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/>` +
		`<xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs></styleSheet>`},
}

type writer struct {
	book    *zip.Writer
	sheet   *bufio.Writer
	columns []format.Column
	names   []string // letter names of the columns: A, B, …
	rows    int
}

func write(to io.Writer, columns []format.Column) (format.Writer, error) {
	if len(columns) > mostColumns {
		return nil, fmt.Errorf("a sheet has at most %d columns, but there are %d; choose a name that ends in .csv or .parquet", mostColumns, len(columns))
	}
	w := &writer{book: zip.NewWriter(to), columns: columns}
	for _, part := range parts {
		out, err := w.book.Create(part.name)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(out, xml.Header+part.text); err != nil {
			return nil, err
		}
	}
	out, err := w.book.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return nil, err
	}
	w.sheet = bufio.NewWriter(out)
	w.sheet.WriteString(xml.Header + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	names := make([]string, len(columns))
	for j, c := range columns {
		w.names, names[j] = append(w.names, columnName(j)), c.Name
	}
	return w, w.add(names, func(int) format.Kind { return format.Text })
}

func (w *writer) Write(row []string) error {
	return w.add(row, func(j int) format.Kind { return w.columns[j].Kind })
}

// A cell that does not fit its type is written as text.
func (w *writer) add(row []string, of func(j int) format.Kind) error {
	if w.rows++; w.rows > mostRows {
		return fmt.Errorf("a sheet has at most %d rows; choose a name that ends in .csv or .parquet", mostRows)
	}
	at := strconv.Itoa(w.rows)
	w.sheet.WriteString(`<row r="` + at + `">`)
	for j, cell := range row {
		if cell == "" {
			continue
		}
		place := `<c r="` + w.names[j] + at + `"`
		if attribute, value, ok := typedCell(of(j), cell); ok {
			w.sheet.WriteString(place + attribute + "><v>" + value + "</v></c>")
			continue
		}
		if units := utf8.RuneCountInString(cell); units > mostLetters {
			return fmt.Errorf("a cell has at most %d characters, but one in column %q has %d; choose a name that ends in .csv or .parquet", mostLetters, w.columns[j].Name, units)
		}
		w.sheet.WriteString(place + ` t="inlineStr"><is><t xml:space="preserve">`)
		if err := xml.EscapeText(w.sheet, []byte(cell)); err != nil {
			return err
		}
		w.sheet.WriteString("</t></is></c>")
	}
	_, err := w.sheet.WriteString("</row>")
	return err
}

func typedCell(k format.Kind, cell string) (attribute, value string, ok bool) {
	if k == format.Boolean && k.Keeps(cell) {
		return ` t="b"`, cell, true
	}
	if k.Numeric() || k == format.Mixed && format.Numbers.Keeps(cell) {
		if x, err := strconv.ParseFloat(cell, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) && (k == format.Numbers || !longWhole(cell)) {
			return "", cell, true
		}
	}
	if k == format.Date || k == format.Stamp || k == format.Mixed {
		if days, style, ok := daysOf(cell); ok {
			return fmt.Sprintf(` s="%d"`, style), strconv.FormatFloat(days, 'f', -1, 64), true
		}
	}
	return "", "", false
}

func longWhole(cell string) bool {
	digits := strings.TrimLeft(cell, "+-0")
	return len(digits) > 15 && !strings.ContainsAny(digits, ".eE")
}

func (w *writer) Close() error {
	w.sheet.WriteString("</sheetData></worksheet>")
	if err := w.sheet.Flush(); err != nil {
		return err
	}
	return w.book.Close()
}
