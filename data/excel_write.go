package data

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"github.com/xuri/excelize/v2"
)

// excelParts are what a workbook of one sheet without styles needs besides the sheet (ECMA-376,
// part 1, annex L).
var excelParts = []struct{ name, text string }{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
}

// excelWriter writes the rows of one sheet as they come. Numbers keep all their digits, of which
// excelize would write 15.
type excelWriter struct {
	book    *zip.Writer
	sheet   *bufio.Writer
	columns []column
	names   []string // of the columns in a sheet: A, B, …
	rows    int
}

func writeExcel(to io.Writer, columns []column) (rowWriter, error) {
	if len(columns) > excelize.MaxColumns {
		return nil, fmt.Errorf("a sheet has %d columns at most, and these are %d; choose a name in .csv or .parquet", excelize.MaxColumns, len(columns))
	}
	w := &excelWriter{book: zip.NewWriter(to), columns: columns}
	for _, part := range excelParts {
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
	header := make([]string, len(columns))
	for j, c := range columns {
		name, err := excelize.ColumnNumberToName(j + 1)
		if err != nil {
			return nil, err
		}
		w.names, header[j] = append(w.names, name), c.name
	}
	return w, w.add(header, func(int) bool { return true })
}

func (w *excelWriter) write(row []string) error {
	return w.add(row, func(j int) bool { return w.columns[j].kind == asText })
}

// add writes a row; what is neither text nor a number is an empty cell.
func (w *excelWriter) add(row []string, isText func(j int) bool) error {
	if w.rows++; w.rows > excelize.TotalRows {
		return fmt.Errorf("a sheet has %d rows at most; choose a name in .csv or .parquet", excelize.TotalRows)
	}
	at := strconv.Itoa(w.rows)
	w.sheet.WriteString(`<row r="` + at + `">`)
	for j, cell := range row {
		if cell == "" {
			continue
		}
		place := `<c r="` + w.names[j] + at + `"`
		if isText(j) {
			w.sheet.WriteString(place + ` t="inlineStr"><is><t xml:space="preserve">`)
			if err := xml.EscapeText(w.sheet, []byte(cell)); err != nil {
				return err
			}
			w.sheet.WriteString("</t></is></c>")
		} else if _, err := number(cell); err == nil {
			w.sheet.WriteString(place + "><v>" + cell + "</v></c>")
		}
	}
	_, err := w.sheet.WriteString("</row>")
	return err
}

func (w *excelWriter) close() error {
	w.sheet.WriteString("</sheetData></worksheet>")
	if err := w.sheet.Flush(); err != nil {
		return err
	}
	return w.book.Close()
}
