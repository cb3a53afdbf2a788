package data

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"missingscore/internal/printable"
)

// excel is a workbook of Excel 2007 and later: of one sheet, the first row that is not blank names
// the columns. Formulas count as what they gave, numbers shown as dates as year-month-day.
var excel = fileFormat{
	name:    "an Excel workbook",
	endings: []string{".xlsx", ".xlsm"},
	begins: func(first []byte) bool {
		return bytes.HasPrefix(first, []byte("PK\x03\x04")) && !bytes.Contains(first, []byte("opendocument"))
	},
	open:  openExcel,
	write: writeExcel,
}

// Size of a sheet.
const (
	excelRows    = 1 << 20
	excelColumns = 1 << 14
	excelLetters = 32767 // of a cell, in UTF-16
)

// excelReader reads the rows of a sheet. The XML is read to its end, or the file is refused.
type excelReader struct {
	*excelBook
	sheet string
	xml   *excelXML
	all   []column
	kinds []cellKinds // that the cells of each column had
	row   int         // the last that was read
	top   int
}

// cellKinds are kinds of cells, as a set.
type cellKinds int

const (
	textCell cellKinds = 1 << iota
	numberCell
	booleanCell
	dateCell
	stampCell // a date with a time
	timeCell
)

// excelCell is a cell of a row.
type excelCell struct {
	text       string
	kind       cellKinds
	uncomputed bool // a formula without its result
}

func openExcel(in *input, o ReadOptions) (columnReader, error) {
	book, err := openBook(in)
	if err != nil {
		return nil, err
	}
	r := &excelReader{excelBook: book}
	part, err := r.choose(o.Sheet)
	if err != nil {
		return nil, err
	}
	if r.xml, err = book.open(part); err != nil {
		return nil, err
	}
	r.xml.part = fmt.Sprintf("sheet %q", r.sheet)
	for {
		cells, err := r.next()
		if err == io.EOF {
			r.Close()
			return nil, fileError{fmt.Sprintf("%s: the sheet %q is empty; it needs a first row of column names and a row for each case", in.name, r.sheet), nil}
		}
		if err != nil {
			r.Close()
			return nil, err
		}
		for _, c := range cells {
			r.all = append(r.all, column{strings.TrimSpace(c.text), asMixed})
		}
		if len(r.all) > 0 {
			r.top, r.kinds = r.row, make([]cellKinds, len(r.all))
			return r, nil
		}
	}
}

// choose finds the part of the sheet asked for, by its name or its number from 1; the first, if none
// is.
func (r *excelReader) choose(asked string) (part string, err error) {
	if len(r.sheets) == 0 {
		return "", fileError{fmt.Sprintf("%s: the workbook has no sheet", r.file), nil}
	}
	at := 0
	if asked != "" {
		at = -1
		if k, err := strconv.Atoi(asked); err == nil && k >= 1 && k <= len(r.sheets) {
			at = k - 1
		}
		names := make([]string, len(r.sheets))
		for k, s := range r.sheets {
			if names[k] = s.name; s.name == asked {
				at = k
			}
		}
		if at < 0 {
			return "", fileError{fmt.Sprintf("%s: no sheet %q; there are: %s", r.file, asked, listing(names)), nil}
		}
	}
	r.sheet = r.sheets[at].name
	return r.targets[r.sheets[at].relation], nil
}

// columns implements columnReader. What kind a column is of is known once its rows were read.
func (r *excelReader) columns() ([]column, int) {
	for j, had := range r.kinds {
		switch had {
		case textCell:
			r.all[j].kind = asText
		case booleanCell:
			r.all[j].kind = asBoolean
		case dateCell:
			r.all[j].kind = asDate
		case stampCell, stampCell | dateCell:
			r.all[j].kind = asStamp
		default:
			r.all[j].kind = asMixed
		}
	}
	return r.all, r.top
}

// partRows are read at a time.
const partRows = 4096

func (r *excelReader) read(chosen []int, _ bool) (*part, error) {
	p := &part{cells: make([]cells, len(chosen))}
	for k := range chosen {
		p.cells[k].text = []string{}
	}
	for len(p.rows) < partRows {
		row, err := r.next()
		if err == io.EOF && len(p.rows) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(row) == 0 {
			continue
		}
		if len(row) > len(r.all) {
			advice := "name its column, or take the cell away"
			if len(r.all) == 1 {
				advice = fmt.Sprintf("if %q is a title, delete the rows above the column names", r.all[0].name)
			}
			return nil, fileError{fmt.Sprintf("%s:%d: the cell %q stands right of the last column name; %s", r.file, r.row, printable.Cell(row[len(row)-1].text), advice), nil}
		}
		p.rows = append(p.rows, r.row)
		for j, c := range row {
			r.kinds[j] |= c.kind
		}
		for k, j := range chosen {
			var c excelCell
			if j < len(row) {
				c = row[j]
			}
			if c.uncomputed {
				return nil, fileError{fmt.Sprintf("%s:%d: column %q: a formula without its result; open the workbook in Excel or LibreOffice and save it again", r.file, r.row, r.all[j].name), nil}
			}
			p.cells[k].text = append(p.cells[k].text, c.text)
		}
	}
	return p, nil
}

// next reads a row, to its last cell that is not blank; io.EOF after the verified end of the sheet.
func (r *excelReader) next() (row []excelCell, err error) {
	row, err = r.cells()
	if err != nil && err != io.EOF {
		where := ""
		if r.row > 0 {
			where = fmt.Sprintf(" after row %d", r.row)
		}
		return nil, r.xml.damage(where, err)
	}
	for n := len(row); n > 0 && (n > len(r.all) || !row[n-1].uncomputed) && strings.TrimSpace(row[n-1].text) == ""; n-- {
		row = row[:n-1]
	}
	return row, err
}

// cells reads the next row.
func (r *excelReader) cells() (row []excelCell, err error) {
	x, number := r.xml, 0
	for {
		t, err := x.next()
		if err != nil {
			return nil, err
		}
		if len(x.path) < 3 || x.path[1] != "sheetData" || x.path[2] != "row" {
			continue
		}
		e, begins := t.(xml.StartElement)
		switch {
		case len(x.path) == 3 && begins:
			if number, err = rowNumber(attribute(e, "r"), r.row+1); err != nil {
				return nil, err
			}
		case len(x.path) == 3 && x.ended:
			r.row = number
			return row, nil
		case len(x.path) == 4 && begins && x.path[3] == "c":
			at, err := cellColumn(attribute(e, "r"), number, len(row))
			if err != nil {
				return nil, err
			}
			c, err := r.readCell(e)
			if err != nil {
				return nil, err
			}
			for len(row) < at {
				row = append(row, excelCell{})
			}
			row = append(row, c)
		}
	}
}

// rowNumber is the number that a row has, or the next where it has none.
func rowNumber(given string, next int) (number int, err error) {
	if given == "" {
		given = strconv.Itoa(next)
	}
	if number, err = strconv.Atoi(given); err != nil || number < next || number > excelRows {
		return 0, fmt.Errorf("a row of number %.20q", given)
	}
	return number, nil
}

// readCell reads a cell to its end.
func (r *excelReader) readCell(e xml.StartElement) (c excelCell, err error) {
	const depth = 4
	x := r.xml
	formula, value := false, false
	var text strings.Builder
	for !(x.ended && len(x.path) == depth) {
		t, err := x.next()
		if err != nil {
			return c, err
		}
		if len(x.path) == depth {
			continue
		}
		inside := x.path[depth]
		formula, value = formula || inside == "f", value || inside == "v"
		switch letters, ok := t.(xml.CharData); {
		case inside == "is":
			err = x.addText(&text, t, depth+1)
		case ok && inside == "v" && len(x.path) == depth+1:
			text.Write(letters)
		}
		if err != nil || text.Len() > longestToken {
			return c, errLongToken
		}
	}
	c, err = r.cell(attribute(e, "t"), attribute(e, "s"), text.String())
	c.uncomputed = formula && !value
	return c, err
}

// cellColumn is the column of a cell named as B7, or the next where it has no name.
func cellColumn(name string, row, next int) (int, error) {
	at, digits := next, ""
	if name != "" {
		digits = strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		at = 0
		for _, letter := range name[:min(4, len(name)-len(digits))] {
			at = 26*at + int(letter-'A') + 1
		}
		at--
	}
	if at < next || at >= excelColumns || name != "" && digits != strconv.Itoa(row) {
		return 0, fmt.Errorf("a cell named %.20q in row %d", name, row)
	}
	return at, nil
}

// columnName is the name of a column in a sheet: A, B, …
func columnName(at int) (name string) {
	for at++; at > 0; at = (at - 1) / 26 {
		name = string(rune('A'+(at-1)%26)) + name
	}
	return name
}

// cell is what a cell of a type and a style holds.
func (r *excelReader) cell(kind, style, text string) (excelCell, error) {
	switch kind {
	case "s":
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if text == "" {
			return excelCell{}, nil
		}
		if err != nil || k < 0 || k >= len(r.texts) {
			return excelCell{}, fmt.Errorf("a cell with text number %.20q of %d", text, len(r.texts))
		}
		text = r.texts[k]
	case "str", "inlineStr":
		text = unescaped(text)
	case "b":
		switch strings.TrimSpace(text) {
		case "":
			return excelCell{}, nil
		case "1", "true":
			return excelCell{text: "1", kind: booleanCell}, nil
		case "0", "false":
			return excelCell{text: "0", kind: booleanCell}, nil
		}
		return excelCell{}, fmt.Errorf("a cell that is %.20q, neither true nor false", text)
	case "", "n":
		days, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			break
		}
		at := 0
		if style != "" {
			if at, err = strconv.Atoi(style); err != nil {
				return excelCell{}, errors.New("a cell of no style")
			}
		}
		if at < 0 || at >= len(r.styles) || r.styles[at] == shownAsNumber {
			return excelCell{text: text, kind: numberCell}, nil
		}
		shown, ok := r.styles[at].shown(days, r.epoch)
		if !ok {
			return excelCell{text: text, kind: numberCell}, nil
		}
		switch {
		case strings.Contains(shown, "T"):
			return excelCell{text: shown, kind: stampCell}, nil
		case strings.Contains(shown, ":"):
			return excelCell{text: shown, kind: timeCell}, nil
		}
		return excelCell{text: shown, kind: dateCell}, nil
	}
	if strings.TrimSpace(text) == "" {
		return excelCell{text: text}, nil
	}
	return excelCell{text: text, kind: textCell}, nil
}

func (r *excelReader) Close() error { return r.xml.Close() }
