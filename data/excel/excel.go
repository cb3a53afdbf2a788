// Package excel reads and writes tables in workbooks of Excel 2007 and later (ECMA-376, part 1).
// The first nonblank row of a sheet names the columns. Formulas are read as their results, dates as
// year-month-day, times of day and elapsed times as numbers of days.
//
//	import _ "missingscore/data/excel"
package excel

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"missingscore/data/format"
	"missingscore/internal/printable"
)

func init() {
	format.Register(&format.Format{
		Name:    "an Excel workbook",
		Endings: []string{".xlsx", ".xlsm"},
		Begins: func(first []byte) bool {
			return bytes.HasPrefix(first, []byte("PK\x03\x04")) && !bytes.Contains(first, []byte("opendocument"))
		},
		Lines: true,
		Open:  open,
		Write: write,
	})
}

const (
	mostRows    = 1 << 20
	mostColumns = 1 << 14
	mostLetters = 32767 // of a cell
)

type reader struct {
	file   string
	parts  map[string]*zip.File // by path in lower case, without the leading slash
	texts  []string             // shared strings
	dates  []bool               // whether a cell style shows numbers as dates
	epoch  bool                 // dates count from 1904
	sheet  string               // its name, for messages
	xml    *xml.Decoder
	part   io.Closer
	inside bool // inside the sheet's rows
	all    []format.Column
	kinds  []cellKinds // cell kinds seen in each column
	row    int         // the last row read
	top    int
}

type cellKinds int

const (
	textCell cellKinds = 1 << iota
	numberCell
	booleanCell
	dateCell
	stampCell // a date with a time
)

type cell struct {
	text       string
	kind       cellKinds
	uncomputed bool // a formula without a result
}

type (
	relations struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Kind   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	workbook struct {
		Properties struct {
			Epoch string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name     string `xml:"name,attr"`
			Relation string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	styleSheet struct {
		Codes []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Styles []struct {
			ID int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	sharedStrings struct {
		All []richText `xml:"si"`
	}
	richText struct { // without rPh, the pronunciation
		Text string `xml:"t"`
		Runs []struct {
			Text string `xml:"t"`
		} `xml:"r"`
	}
	sheetRow struct {
		Number string      `xml:"r,attr"`
		Cells  []sheetCell `xml:"c"`
	}
	sheetCell struct {
		Name    string    `xml:"r,attr"`
		Kind    string    `xml:"t,attr"`
		Style   string    `xml:"s,attr"`
		Formula *struct{} `xml:"f"`
		Value   *string   `xml:"v"`
		Inline  *richText `xml:"is"`
	}
)

var escape = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

func (t *richText) String() string {
	text := t.Text
	for _, run := range t.Runs {
		text += run.Text
	}
	return unescaped(text)
}

func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(one string) string {
		c, _ := strconv.ParseUint(one[2:6], 16, 16) // the expression guarantees hexadecimal digits
		return string(rune(c))
	})
}

func open(in *format.File) (format.Reader, error) {
	content, size, err := in.Content()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(content, size)
	if err != nil {
		return nil, err
	}
	r := &reader{file: in.Name, parts: map[string]*zip.File{}}
	for _, f := range archive.File {
		r.parts[partName("", f.Name)] = f
	}
	if err := r.find(in.Sheet); err != nil {
		return nil, err
	}
	for len(r.all) == 0 {
		cells, err := r.next()
		if err == io.EOF {
			err = r.refuse(": the %s is empty; it needs a first row of column names and a row for each case", r.sheet)
		}
		if err != nil {
			r.Close()
			return nil, err
		}
		for _, c := range cells {
			r.all = append(r.all, format.Column{Name: strings.TrimSpace(c.text), Kind: format.Mixed})
		}
	}
	r.top, r.kinds = r.row, make([]cellKinds, len(r.all))
	return r, nil
}

func (r *reader) refuse(what string, args ...any) error {
	return &format.Error{Text: r.file + fmt.Sprintf(what, args...)}
}

func partName(folder, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	if !strings.HasPrefix(target, "/") {
		target = path.Join(folder, target)
	}
	return strings.ToLower(strings.TrimPrefix(target, "/"))
}

// find reads the parts of the workbook except its sheets, and opens the sheet with the name or
// number (from 1) asked; "" opens the first.
func (r *reader) find(asked string) error {
	main, err := r.main()
	if err != nil {
		return err
	}
	var own relations
	var book workbook
	folder := path.Dir(main)
	if err := r.decode(path.Join(folder, "_rels", path.Base(main)+".rels"), &own); err != nil {
		return err
	}
	if err := r.decode(main, &book); err != nil {
		return err
	}
	targets := map[string]string{}
	var shared sharedStrings
	var styles styleSheet
	for _, one := range own.All {
		target := partName(folder, one.Target)
		var err error
		switch path.Base(one.Kind) {
		case "sharedStrings":
			err = r.decode(target, &shared)
		case "styles":
			err = r.decode(target, &styles)
		case "worksheet":
			targets[one.ID] = target
		}
		if err != nil {
			return err
		}
	}
	for _, text := range shared.All {
		r.texts = append(r.texts, text.String())
	}
	r.epoch = book.Properties.Epoch == "1" || book.Properties.Epoch == "true"
	codes := map[int]string{}
	for _, c := range styles.Codes {
		codes[c.ID] = c.Code
	}
	for _, s := range styles.Styles {
		code, own := codes[s.ID]
		r.dates = append(r.dates, own && showsDate(code) || !own && builtInDate(s.ID))
	}
	var names, sheets []string
	for _, s := range book.Sheets {
		if targets[s.Relation] != "" { // else a chart
			names, sheets = append(names, s.Name), append(sheets, targets[s.Relation])
		}
	}
	at := slices.Index(names, asked)
	if k, err := strconv.Atoi(asked); at < 0 && err == nil && 1 <= k && k <= len(names) {
		at = k - 1
	}
	switch {
	case len(names) == 0:
		return r.refuse(": the workbook has no sheet")
	case asked == "":
		at = 0
	case at < 0:
		return r.refuse(": no sheet %q; there are: %s", asked, strings.Join(names, ", "))
	}
	f := r.parts[sheets[at]]
	if f == nil {
		return format.Damaged("its part %s is missing", sheets[at])
	}
	r.sheet = fmt.Sprintf("sheet %q", names[at])
	content, err := unpack(f)
	if err != nil {
		return r.damage(r.sheet, err)
	}
	r.part, r.xml = content, newDecoder(content)
	return nil
}

func (r *reader) main() (string, error) {
	var top relations
	if err := r.decode("_rels/.rels", &top); err != nil {
		return "", err
	}
	main := "xl/workbook.xml"
	for _, one := range top.All {
		if strings.HasSuffix(one.Kind, "/officeDocument") {
			main = partName("", one.Target)
		}
	}
	if strings.HasSuffix(main, ".bin") {
		return "", r.refuse(": a binary workbook (.xlsb) cannot be read: save it as .xlsx")
	}
	return main, nil
}

// unpack opens a part, unless it is larger than 64 MB and 200 times its compressed size (usually 5 to 30).
func unpack(f *zip.File) (io.ReadCloser, error) {
	if f.UncompressedSize64 > max(1<<26, 200*f.CompressedSize64) {
		return nil, format.Damaged("too much text for its size")
	}
	return f.Open()
}

// newDecoder decodes XML and rejects nesting deeper than 64 elements, which would exhaust memory.
func newDecoder(content io.Reader) *xml.Decoder {
	return xml.NewTokenDecoder(&shallow{Decoder: xml.NewDecoder(content)})
}

type shallow struct {
	*xml.Decoder
	depth int
}

func (s *shallow) Token() (xml.Token, error) {
	t, err := s.RawToken()
	switch t.(type) {
	case xml.StartElement:
		s.depth++
	case xml.EndElement:
		s.depth--
	}
	if s.depth > 64 {
		return nil, format.Damaged("elements nested too deeply")
	}
	return t, err
}

func (r *reader) decode(name string, to any) error {
	f := r.parts[name]
	if f == nil {
		return nil
	}
	content, err := unpack(f)
	if err != nil {
		return r.damage(name, err)
	}
	defer content.Close()
	if err := newDecoder(content).Decode(to); err != nil {
		return r.damage(name, err)
	}
	return nil
}

func (r *reader) damage(what string, err error) error {
	why := ""
	var damage *format.Damage
	if errors.As(err, &damage) {
		why = " (" + damage.What + ")"
	}
	where := ""
	if r.row > 0 {
		where = fmt.Sprintf(" after row %d", r.row)
	}
	return &format.Error{Text: fmt.Sprintf("%s: %s is damaged%s%s; open it in Excel or LibreOffice, check the rows there and save it again", r.file, what, where, why), Cause: err}
}

func (r *reader) Columns() ([]format.Column, int) {
	of := map[cellKinds]format.Kind{textCell: format.Text, booleanCell: format.Boolean, dateCell: format.Date, stampCell: format.Stamp, stampCell | dateCell: format.Stamp}
	for j, had := range r.kinds {
		r.all[j].Kind = format.Mixed
		if kind, one := of[had]; one {
			r.all[j].Kind = kind
		}
	}
	return r.all, r.top
}

func (r *reader) Read(chosen []int, _ bool) (*format.Block, error) {
	b := format.NewBlock(0, 0, len(chosen))
	for k := range chosen {
		b.Cells[k].Text = []string{}
	}
	for len(b.Rows) < format.BlockRows {
		row, err := r.next()
		if err == io.EOF && len(b.Rows) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(row) == 0 {
			continue
		}
		if len(row) > len(r.all) {
			advice := "name its column, or delete the cell"
			if len(r.all) == 1 {
				advice = fmt.Sprintf("if %q is a title, delete the rows above the column names", r.all[0].Name)
			}
			return nil, r.refuse(":%d: the cell %q is right of the last column name; %s", r.row, printable.Cell(row[len(row)-1].text), advice)
		}
		b.Rows = append(b.Rows, r.row)
		for j, c := range row {
			r.kinds[j] |= c.kind
		}
		for k, j := range chosen {
			var c cell
			if j < len(row) {
				c = row[j]
			}
			if c.uncomputed {
				return nil, r.refuse(":%d: column %q: a formula without a result; open the workbook in Excel or LibreOffice and save it again", r.row, r.all[j].Name)
			}
			b.Cells[k].Text = append(b.Cells[k].Text, c.text)
		}
	}
	return b, nil
}

func (r *reader) next() (row []cell, err error) {
	for {
		t, err := r.xml.Token()
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			return nil, r.damage(r.sheet, err)
		}
		if end, ends := t.(xml.EndElement); ends && end.Name.Local == "sheetData" {
			r.inside = false
		}
		e, begins := t.(xml.StartElement)
		if begins && e.Name.Local == "sheetData" {
			r.inside = true
		}
		if !r.inside || !begins || e.Name.Local != "row" {
			continue
		}
		var raw sheetRow
		if err = r.xml.DecodeElement(&raw, &e); err == nil {
			row, err = r.cells(raw)
		}
		if err != nil {
			return nil, r.damage(r.sheet, err)
		}
		for n := len(row); n > 0 && (n > len(r.all) || !row[n-1].uncomputed) && strings.TrimSpace(row[n-1].text) == ""; n-- {
			row = row[:n-1]
		}
		return row, nil
	}
}

func (r *reader) cells(raw sheetRow) (row []cell, err error) {
	number := r.row + 1
	if raw.Number != "" {
		if number, err = strconv.Atoi(raw.Number); err != nil || number <= r.row || number > mostRows {
			return nil, format.Damaged("a row of number %.20q", raw.Number)
		}
	}
	for _, c := range raw.Cells {
		at, err := cellColumn(c.Name, number, len(row))
		if err != nil {
			return nil, err
		}
		one, err := r.cell(c)
		if err != nil {
			return nil, err
		}
		one.uncomputed = c.Formula != nil && c.Value == nil
		row = append(append(row, make([]cell, at-len(row))...), one)
	}
	r.row = number
	return row, nil
}

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
	if at < next || at >= mostColumns || name != "" && digits != strconv.Itoa(row) {
		return 0, format.Damaged("a cell named %.20q in row %d", name, row)
	}
	return at, nil
}

func columnName(at int) (name string) {
	for at++; at > 0; at = (at - 1) / 26 {
		name = string(rune('A'+(at-1)%26)) + name
	}
	return name
}

func (r *reader) cell(c sheetCell) (cell, error) {
	text := ""
	if c.Value != nil {
		text = *c.Value
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case c.Kind == "inlineStr" && c.Inline != nil:
		text = c.Inline.String()
	case c.Kind == "str":
		text = unescaped(text)
	case trimmed == "":
	case c.Kind == "s":
		k, err := strconv.Atoi(trimmed)
		if err != nil || k < 0 || k >= len(r.texts) {
			return cell{}, format.Damaged("a cell with text number %.20q of %d", text, len(r.texts))
		}
		text = r.texts[k]
	case c.Kind == "b" && (trimmed == "1" || trimmed == "true"):
		return cell{text: "1", kind: booleanCell}, nil
	case c.Kind == "b":
		return cell{text: "0", kind: booleanCell}, nil
	case c.Kind == "" || c.Kind == "n":
		days, err := strconv.ParseFloat(trimmed, 64)
		if err != nil {
			break
		}
		if at, err := strconv.Atoi(c.Style); err == nil && at >= 0 && at < len(r.dates) && r.dates[at] {
			if shown, ok := date(days, r.epoch); ok {
				if strings.Contains(shown, "T") {
					return cell{text: shown, kind: stampCell}, nil
				}
				return cell{text: shown, kind: dateCell}, nil
			}
		}
		return cell{text: text, kind: numberCell}, nil
	}
	if strings.TrimSpace(text) == "" {
		return cell{text: text}, nil
	}
	return cell{text: text, kind: textCell}, nil
}

func (r *reader) Close() error { return r.part.Close() }
