package data

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"missingscore/internal/memory"
)

// Limits of the XML in a workbook. A cell of Excel has at most 32767 characters.
const (
	deepestElement = 64
	longestToken   = 4 << 20 // bytes
	mostXML        = 200     // times the size of the part in the file; ordinary sheets have 5 to 30 times
)

// excelBook is an open workbook (ECMA-376, part 1).
type excelBook struct {
	file    string
	size    int64                // bytes
	parts   map[string]*zip.File // by their paths in lower case, without the slash in front
	folder  string               // of the main part
	targets map[string]string    // part of each relationship of the main part
	sheets  []excelSheet
	texts   []string      // shared by the cells of all sheets
	styles  []excelFormat // of each cell style
	epoch   bool          // dates count from 1904
}

type excelSheet struct{ name, relation string }

// openBook reads all of a workbook but its sheets.
func openBook(in *input) (*excelBook, error) {
	content, size, err := in.content()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(countedAt{content, in}, size)
	if err != nil {
		return nil, err
	}
	b := &excelBook{file: in.name, size: size, parts: map[string]*zip.File{}, targets: map[string]string{}}
	for _, f := range archive.File {
		name := strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
		if b.parts[name] != nil {
			return nil, fmt.Errorf("the part %s is there twice", name)
		}
		b.parts[name] = f
	}
	main := "xl/workbook.xml"
	relations, err := b.relations("_rels/.rels", "")
	if err != nil {
		return nil, err
	}
	for _, r := range relations {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			main = r.target
		}
	}
	if strings.HasSuffix(main, ".bin") {
		return nil, fileError{fmt.Sprintf("%s: a binary workbook (.xlsb), which is not read: save it as .xlsx", b.file), nil}
	}
	if b.parts[main] == nil {
		return nil, fmt.Errorf("there is no workbook in it")
	}
	b.folder = path.Dir(main)
	if relations, err = b.relations(path.Join(b.folder, "_rels", path.Base(main)+".rels"), b.folder); err != nil {
		return nil, err
	}
	var texts, styles string
	for _, r := range relations {
		switch kind := path.Base(r.kind); kind {
		case "sharedStrings":
			texts = r.target
		case "styles":
			styles = r.target
		case "worksheet":
			b.targets[r.id] = r.target
		}
	}
	err = b.readMain(main)
	if err == nil && b.parts[styles] != nil {
		err = b.readStyles(styles)
	}
	if err == nil && b.parts[texts] != nil {
		err = b.readTexts(texts)
	}
	return b, err
}

// countedAt tells the input how much of the file was read.
type countedAt struct {
	io.ReaderAt
	in *input
}

func (c countedAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	if !c.in.compressed {
		c.in.taken.Add(int64(n))
	}
	return n, err
}

type excelRelation struct{ id, kind, target string }

// relations are those in a part, none if there is no such part. Their targets lie in a folder.
func (b *excelBook) relations(part, folder string) (all []excelRelation, err error) {
	if b.parts[part] == nil {
		return nil, nil
	}
	err = b.elements(part, func(_ *excelXML, e xml.StartElement) {
		if e.Name.Local != "Relationship" {
			return
		}
		target := strings.ReplaceAll(attribute(e, "Target"), `\`, "/")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(folder, target)
		}
		all = append(all, excelRelation{attribute(e, "Id"), attribute(e, "Type"), strings.ToLower(strings.TrimPrefix(target, "/"))})
	})
	return all, err
}

func (b *excelBook) readMain(part string) error {
	return b.elements(part, func(_ *excelXML, e xml.StartElement) {
		switch e.Name.Local {
		case "workbookPr":
			given := attribute(e, "date1904")
			b.epoch = given == "1" || given == "true"
		case "sheet":
			for _, a := range e.Attr { // r:id, but not sheetId
				if a.Name.Local == "id" && b.targets[a.Value] != "" {
					b.sheets = append(b.sheets, excelSheet{attribute(e, "name"), a.Value})
				}
			}
		}
	})
}

// readStyles finds how each style of cells shows a number.
func (b *excelBook) readStyles(part string) error {
	codes := map[int]excelFormat{}
	return b.elements(part, func(x *excelXML, e xml.StartElement) {
		id, _ := strconv.Atoi(attribute(e, "numFmtId")) // 0 is General
		switch {
		case e.Name.Local == "numFmt":
			codes[id] = formatOfCode(attribute(e, "formatCode"))
		case x.in("styleSheet", "cellXfs", "xf"):
			format, own := codes[id]
			if !own {
				format = builtInFormat(id)
			}
			b.styles = append(b.styles, format)
		}
	})
}

// textBytes are taken by a text that is shared, beside its own.
const textBytes = 32

// readTexts reads the texts that cells refer to by their number.
func (b *excelBook) readTexts(part string) error {
	limit, err := memory.Limit()
	if err != nil {
		return err
	}
	x, err := b.open(part)
	if err != nil {
		return err
	}
	defer x.Close()
	var text strings.Builder
	size := 0.0
	for {
		t, err := x.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = x.addText(&text, t, 2)
		}
		if err != nil {
			return x.damage(fmt.Sprintf(" after text %d", len(b.texts)), err)
		}
		if _, ends := t.(xml.EndElement); ends && x.in("sst", "si") {
			b.texts = append(b.texts, unescaped(text.String()))
			if size += textBytes + float64(text.Len()); size > limit/2 {
				return &memory.Error{What: b.file + ", with its texts,", Need: 2 * size, Limit: limit, Advice: fewerCells}
			}
			text.Reset()
		}
	}
}

// addText adds what a token says to the text of the element at a depth: the content of t, also in r
// (a run of letters of one kind), but not of rPh (how it is pronounced).
func (x *excelXML) addText(text *strings.Builder, t xml.Token, depth int) error {
	letters, ok := t.(xml.CharData)
	inside := x.path[min(depth, len(x.path)):]
	if !ok || len(inside) == 0 || inside[len(inside)-1] != "t" || len(inside) > 2 || len(inside) == 2 && inside[0] != "r" {
		return nil
	}
	if text.Write(letters); text.Len() > longestToken {
		return errLongToken
	}
	return nil
}

// escape is a character as workbooks write those that XML has none of.
var escape = regexp.MustCompile(`(?:_x[0-9A-Fa-f]{4}_)+`)

func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(all string) string {
		units := make([]uint16, 0, len(all)/7)
		for ; all != ""; all = all[7:] {
			u, _ := strconv.ParseUint(all[2:6], 16, 16) // the expression says that it is one
			units = append(units, uint16(u))
		}
		return string(utf16.Decode(units))
	})
}

// elements visits the beginnings of the elements of a part.
func (b *excelBook) elements(part string, visit func(*excelXML, xml.StartElement)) error {
	x, err := b.open(part)
	if err != nil {
		return err
	}
	defer x.Close()
	for {
		t, err := x.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return x.damage("", err)
		}
		if e, begins := t.(xml.StartElement); begins {
			visit(x, e)
		}
	}
}

// attribute returns the value of an element's attribute, "" if it is absent.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// excelXML reads a part of a workbook to its end, with bounds of depth, of the length of a token and of
// the whole.
type excelXML struct {
	*xml.Decoder
	file, part string // as messages name them
	content    io.ReadCloser
	path       []string // open elements
	ended      bool     // the last of them
	root       bool     // there was one

	token int64 // where the present token began
	read  int64 // bytes
	most  int64
}

var (
	errLongToken = errors.New("a text without an end")
	errDeep      = errors.New("elements inside elements without an end")
	errLong      = errors.New("far more text than a table of this size has")
)

func (b *excelBook) open(part string) (*excelXML, error) {
	f := b.parts[part]
	if f == nil {
		return nil, fmt.Errorf("its part %s is not there", part)
	}
	content, err := f.Open()
	if err != nil {
		return nil, err
	}
	x := &excelXML{file: b.file, part: part, content: content, most: max(leastUnpacked, mostXML*int64(min(f.CompressedSize64, uint64(b.size))))}
	x.Decoder = xml.NewDecoder(x)
	x.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		return nil, fileError{fmt.Sprintf("its text is in the encoding %s, not in UTF-8", name), nil}
	}
	return x, nil
}

// Read implements io.Reader for the decoder.
func (x *excelXML) Read(p []byte) (int, error) {
	n, err := x.content.Read(p)
	switch x.read += int64(n); {
	case x.read > x.most:
		return 0, errLong
	case x.read-x.token > longestToken:
		return 0, errLongToken
	}
	return n, err
}

func (x *excelXML) Close() error { return x.content.Close() }

// next gives the next token, and io.EOF after the verified end. Elements that end are in path until
// the next call.
func (x *excelXML) next() (xml.Token, error) {
	if x.ended {
		x.path, x.ended = x.path[:len(x.path)-1], false
	}
	x.token = x.InputOffset()
	t, err := x.Token()
	switch {
	case err == io.EOF && !x.root:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	switch t := t.(type) {
	case xml.StartElement:
		switch {
		case len(x.path) == 0 && x.root:
			return nil, errors.New("it goes on after its end")
		case len(x.path) == deepestElement:
			return nil, errDeep
		}
		x.path, x.root = append(x.path, t.Name.Local), true
	case xml.EndElement:
		x.ended = true
	}
	return t, nil
}

// in says whether these are the open elements.
func (x *excelXML) in(path ...string) bool { return slices.Equal(x.path, path) }

// damage is an error that says where the part is damaged.
func (x *excelXML) damage(where string, err error) error {
	var syntax *xml.SyntaxError
	var plain fileError
	what := err
	if errors.As(err, &syntax) { // without its line: a part is often one line
		what = errors.New(syntax.Msg)
	} else if errors.As(err, &plain) {
		what = plain
	}
	advice := "open it in Excel or LibreOffice, check the rows there and save it again"
	if errors.Is(err, errLong) {
		advice = "save the table as CSV"
	}
	return fileError{fmt.Sprintf("%s: %s is damaged%s%s; %s", x.file, x.part, where, inWords(what), advice), err}
}
