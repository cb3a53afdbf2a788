// Package excel reads and writes tables in workbooks of Excel 2007 and later (ECMA-376, part 1).
// The first nonblank row of a sheet names the columns. Formulas are read as their results, dates as
// year-month-day.
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
	"strconv"
	"strings"
	"unicode/utf16"

	"missingscore/data/format"
	"missingscore/internal/memory"
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

// Limits of a sheet.
const (
	mostRows    = 1 << 20
	mostColumns = 1 << 14
	mostLetters = 32767 // of a cell, in UTF-16 units
)

type book struct {
	file   string
	size   int64                // bytes
	parts  map[string]*zip.File // by path in lower case, without the leading slash
	texts  []string             // shared strings
	styles []shownAs            // by cell style
	epoch  bool                 // dates count from 1904
}

// reader reads the rows of a sheet to its end, or fails.
type reader struct {
	book
	part   *part
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
	timeCell
)

type cell struct {
	text       string
	kind       cellKinds
	uncomputed bool // a formula without a result
}

// Elements of the parts of a workbook.
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
	richText struct { // without rPh, the pronunciation
		Text string `xml:"t"`
		Runs []struct {
			Text string `xml:"t"`
		} `xml:"r"`
	}
)

func (t *richText) String() string {
	text := t.Text
	for _, run := range t.Runs {
		text += run.Text
	}
	return text
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
	r := &reader{book: book{file: in.Name, size: size, parts: map[string]*zip.File{}}}
	for _, f := range archive.File {
		name := partName("", f.Name)
		if r.parts[name] != nil {
			return nil, format.Damaged("the part %s occurs twice", name)
		}
		r.parts[name] = f
	}
	if r.part, err = r.sheet(in.Sheet); err != nil {
		return nil, err
	}
	for {
		cells, err := r.next()
		if err == io.EOF {
			err = r.refuse(": the %s is empty; it needs a first row of column names and a row for each case", r.part.name)
		}
		if err != nil {
			r.Close()
			return nil, err
		}
		for _, c := range cells {
			r.all = append(r.all, format.Column{Name: strings.TrimSpace(c.text), Kind: format.Mixed})
		}
		if len(r.all) > 0 {
			r.top, r.kinds = r.row, make([]cellKinds, len(r.all))
			return r, nil
		}
	}
}

func (b *book) refuse(what string, args ...any) error {
	return &format.Error{Text: b.file + fmt.Sprintf(what, args...)}
}

// partName resolves a target relative to a folder.
func partName(folder, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	if !strings.HasPrefix(target, "/") {
		target = path.Join(folder, target)
	}
	return strings.ToLower(strings.TrimPrefix(target, "/"))
}

// sheet reads the parts of the workbook except its sheets, and opens the sheet with the name or
// number (from 1) asked; "" opens the first.
func (b *book) sheet(asked string) (*part, error) {
	var top, own relations
	main := "xl/workbook.xml"
	if err := b.decode("_rels/.rels", &top); err != nil {
		return nil, err
	}
	for _, r := range top.All {
		if strings.HasSuffix(r.Kind, "/officeDocument") {
			main = partName("", r.Target)
		}
	}
	if strings.HasSuffix(main, ".bin") {
		return nil, b.refuse(": a binary workbook (.xlsb), which is not read: save it as .xlsx")
	}
	if b.parts[main] == nil {
		return nil, format.Damaged("there is no workbook in it")
	}
	folder := path.Dir(main)
	if err := b.decode(path.Join(folder, "_rels", path.Base(main)+".rels"), &own); err != nil {
		return nil, err
	}
	targets := map[string]string{}
	for _, r := range own.All {
		target := partName(folder, r.Target)
		var err error
		switch path.Base(r.Kind) {
		case "sharedStrings":
			err = b.readTexts(target)
		case "styles":
			err = b.readStyles(target)
		case "worksheet":
			targets[r.ID] = target
		}
		if err != nil {
			return nil, err
		}
	}
	var book workbook
	if err := b.decode(main, &book); err != nil {
		return nil, err
	}
	b.epoch = book.Properties.Epoch == "1" || book.Properties.Epoch == "true"
	var names, sheets []string
	at := -1
	for _, s := range book.Sheets {
		if targets[s.Relation] == "" { // a chart
			continue
		}
		names, sheets = append(names, s.Name), append(sheets, targets[s.Relation])
		if k := len(names); asked == "" && k == 1 || asked == strconv.Itoa(k) && at < 0 || asked == s.Name {
			at = k - 1
		}
	}
	switch {
	case len(names) == 0:
		return nil, b.refuse(": the workbook has no sheet")
	case at < 0:
		return nil, b.refuse(": no sheet %q; there are: %s", asked, strings.Join(names, ", "))
	}
	p, err := b.open(sheets[at])
	if err == nil {
		p.name = fmt.Sprintf("sheet %q", names[at])
	}
	return p, err
}

func (b *book) readStyles(name string) error {
	var sheet styleSheet
	if err := b.decode(name, &sheet); err != nil {
		return err
	}
	codes := map[int]shownAs{}
	for _, c := range sheet.Codes {
		codes[c.ID] = formatOfCode(c.Code)
	}
	for _, s := range sheet.Styles {
		shown, own := codes[s.ID]
		if !own {
			shown = builtInFormat(s.ID)
		}
		b.styles = append(b.styles, shown)
	}
	return nil
}

// textBytes is the overhead of a shared string.
const textBytes = 32

// readTexts reads the shared strings.
func (b *book) readTexts(name string) error {
	if b.parts[name] == nil {
		return nil
	}
	limit, err := memory.Limit()
	if err != nil {
		return err
	}
	p, err := b.open(name)
	if err != nil {
		return err
	}
	defer p.Close()
	size := 0.0
	for {
		t, err := p.Token()
		if err == io.EOF {
			return nil
		}
		if e, begins := t.(xml.StartElement); begins && e.Name.Local == "si" {
			var text richText
			err = p.DecodeElement(&text, &e)
			b.texts = append(b.texts, unescaped(text.String()))
			if size += textBytes + float64(len(b.texts[len(b.texts)-1])); size > limit/2 {
				return &memory.Error{What: b.file + ", with its texts,", Need: 2 * size, Limit: limit, Advice: "take fewer rows, or leave columns out of the file"}
			}
		}
		if err != nil {
			return p.damage(fmt.Sprintf(" after text %d", len(b.texts)), err)
		}
	}
}

// decode reads a small part; a part that does not exist is empty.
func (b *book) decode(name string, to any) error {
	if b.parts[name] == nil {
		return nil
	}
	p, err := b.open(name)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Decode(to); err != nil {
		return p.damage("", err)
	}
	return nil
}

// part is an open part of a workbook, of limited length.
type part struct {
	*xml.Decoder
	io.Closer
	file, name string // for messages
}

const (
	mostXML  = 200     // times the size of the part in the file; usually 5 to 30
	leastXML = 1 << 26 // bytes always allowed
)

var errLong = format.Damaged("far more text than a table of this size has")

// bounded fails after a number of bytes.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errLong
	}
	return n, err
}

// shallow rejects deep nesting of elements, which would exhaust memory.
type shallow struct {
	*xml.Decoder
	depth int
}

const deepest = 64

func (s *shallow) Token() (xml.Token, error) {
	t, err := s.RawToken()
	switch t.(type) {
	case xml.StartElement:
		s.depth++
	case xml.EndElement:
		s.depth--
	}
	if s.depth > deepest {
		return nil, format.Damaged("elements nested too deeply")
	}
	return t, err
}

func (b *book) open(name string) (*part, error) {
	f := b.parts[name]
	if f == nil {
		return nil, format.Damaged("its part %s is missing", name)
	}
	content, err := f.Open()
	if err != nil {
		return nil, err
	}
	most := max(leastXML, mostXML*int64(min(f.CompressedSize64, uint64(b.size))))
	return &part{xml.NewTokenDecoder(&shallow{Decoder: xml.NewDecoder(&bounded{content, most})}), content, b.file, name}, nil
}

func (p *part) damage(where string, err error) error {
	advice := "open it in Excel or LibreOffice, check the rows there and save it again"
	if errors.Is(err, errLong) {
		advice = "save the table as CSV"
	}
	what := ""
	var damage *format.Damage
	if errors.As(err, &damage) {
		what = " (" + damage.What + ")"
	}
	return &format.Error{Text: fmt.Sprintf("%s: %s is damaged%s%s; %s", p.file, p.name, where, what, advice), Cause: err}
}

// escape matches a character that XML cannot hold, as workbooks write it.
var escape = regexp.MustCompile(`(?:_x[0-9A-Fa-f]{4}_)+`)

func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(all string) string {
		units := make([]uint16, 0, len(all)/7)
		for ; all != ""; all = all[7:] {
			u, _ := strconv.ParseUint(all[2:6], 16, 16) // the expression guarantees hexadecimal digits
			units = append(units, uint16(u))
		}
		return string(utf16.Decode(units))
	})
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

// next reads a row up to its last nonblank cell; io.EOF at the end of the sheet.
func (r *reader) next() ([]cell, error) {
	row, err := r.cells()
	if err != nil && err != io.EOF {
		where := ""
		if r.row > 0 {
			where = fmt.Sprintf(" after row %d", r.row)
		}
		return nil, r.part.damage(where, err)
	}
	for n := len(row); n > 0 && (n > len(r.all) || !row[n-1].uncomputed) && strings.TrimSpace(row[n-1].text) == ""; n-- {
		row = row[:n-1]
	}
	return row, err
}

func (r *reader) cells() ([]cell, error) {
	for {
		t, err := r.part.Token()
		if err != nil {
			return nil, err
		}
		e, begins := t.(xml.StartElement)
		if end, ends := t.(xml.EndElement); ends && end.Name.Local == "sheetData" || begins && e.Name.Local == "sheetData" {
			r.inside = begins
		}
		if r.inside && begins && e.Name.Local == "row" {
			return r.cellsOf(e)
		}
	}
}

func (r *reader) cellsOf(begin xml.StartElement) (row []cell, err error) {
	number := r.row + 1
	if given := attribute(begin, "r"); given != "" {
		if number, err = strconv.Atoi(given); err != nil || number <= r.row || number > mostRows {
			return nil, format.Damaged("a row of number %.20q", given)
		}
	}
	for {
		t, err := r.part.Token()
		if err != nil {
			return nil, err
		}
		switch e := t.(type) {
		case xml.EndElement:
			r.row = number
			return row, nil
		case xml.StartElement:
			if e.Name.Local != "c" {
				err = r.part.Skip()
				break
			}
			at, wrong := cellColumn(attribute(e, "r"), number, len(row))
			if wrong != nil {
				return nil, wrong
			}
			var one cell
			if one, err = r.readCell(e); err == nil {
				row = append(append(row, make([]cell, at-len(row))...), one)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// readCell reads the element of a cell: formula, value or inline text.
func (r *reader) readCell(begin xml.StartElement) (cell, error) {
	text, formula, value, inside := "", false, false, false // inside the value
	var inline *richText
	for {
		t, err := r.part.Token()
		if err != nil {
			return cell{}, err
		}
		switch e := t.(type) {
		case xml.CharData:
			if inside {
				text += string(e)
			}
		case xml.StartElement:
			switch {
			case e.Name.Local == "v" && !inside:
				value, inside, text = true, true, ""
			case e.Name.Local == "is" && !inside:
				inline = &richText{}
				err = r.part.DecodeElement(inline, &e)
			default:
				formula = formula || e.Name.Local == "f"
				err = r.part.Skip()
			}
			if err != nil {
				return cell{}, err
			}
		case xml.EndElement:
			if inside {
				inside = false
				break
			}
			if inline != nil {
				text = inline.String()
			}
			one, err := r.cell(attribute(begin, "t"), attribute(begin, "s"), text)
			one.uncomputed = formula && !value
			return one, err
		}
	}
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

// columnName is the letter name of a column: A, B, …
func columnName(at int) (name string) {
	for at++; at > 0; at = (at - 1) / 26 {
		name = string(rune('A'+(at-1)%26)) + name
	}
	return name
}

func (b *book) cell(kind, style, text string) (cell, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" && kind != "str" && kind != "inlineStr" {
		return cell{text: text}, nil
	}
	switch kind {
	case "s":
		k, err := strconv.Atoi(trimmed)
		if err != nil || k < 0 || k >= len(b.texts) {
			return cell{}, format.Damaged("a cell with text number %.20q of %d", text, len(b.texts))
		}
		text = b.texts[k]
	case "str", "inlineStr":
		text = unescaped(text)
	case "b":
		switch trimmed {
		case "1", "true":
			return cell{text: "1", kind: booleanCell}, nil
		case "0", "false":
			return cell{text: "0", kind: booleanCell}, nil
		}
		return cell{}, format.Damaged("a cell that is %.20q, neither true nor false", text)
	case "", "n":
		days, err := strconv.ParseFloat(trimmed, 64)
		if err != nil {
			break
		}
		if at, err := strconv.Atoi(style); err == nil && at >= 0 && at < len(b.styles) && b.styles[at] != shownAsNumber {
			if shown, ok := b.styles[at].shown(days, b.epoch); ok {
				switch {
				case strings.Contains(shown, "T"):
					return cell{text: shown, kind: stampCell}, nil
				case strings.Contains(shown, ":"):
					return cell{text: shown, kind: timeCell}, nil
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
