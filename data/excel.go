package data

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"missingscore/internal/memory"
)

// excel is a workbook of Excel 2007 and later: of one sheet, the first row that is not blank names
// the columns. Formulas count as what they gave, dates as year-month-day.
var excel = fileFormat{
	name:    "an Excel workbook",
	endings: []string{".xlsx", ".xlsm"},
	begins: func(first []byte) bool {
		return bytes.HasPrefix(first, []byte("PK\x03\x04")) && !bytes.Contains(first, []byte("opendocument"))
	},
	open:  openExcel,
	write: writeExcel,
}

// excelReader reads the rows of a sheet.
type excelReader struct {
	file  string
	book  *excelize.File
	rows  *excelize.Rows
	all   []column
	row   int // the last that was read
	top   int
	dates []bool // which columns are shown as dates
	epoch bool   // 1904
}

func openExcel(in *input, o ReadOptions) (columnReader, error) {
	limit, err := memory.Limit()
	if err != nil {
		return nil, err
	}
	book, err := excelize.OpenReader(in, excelize.Options{RawCellValue: true, UnzipSizeLimit: int64(limit / 2), UnzipXMLSizeLimit: int64(limit / 4)})
	if err != nil {
		return nil, err
	}
	r := &excelReader{file: in.name, book: book}
	name, err := r.sheet(in.name, o.Sheet)
	if err != nil {
		book.Close()
		return nil, err
	}
	if p, err := book.GetWorkbookProps(); err == nil && p.Date1904 != nil {
		r.epoch = *p.Date1904
	}
	if err := r.look(name); err != nil {
		book.Close()
		return nil, err
	}
	if r.rows, err = book.Rows(name); err != nil {
		book.Close()
		return nil, err
	}
	for r.rows.Next() {
		r.row++
		names, err := r.rows.Columns()
		if err != nil {
			r.Close()
			return nil, err
		}
		if strings.TrimSpace(strings.Join(names, "")) == "" {
			continue
		}
		r.top = r.row
		for _, name := range names {
			r.all = append(r.all, column{name: strings.TrimSpace(name)})
		}
		return r, nil
	}
	r.Close()
	return nil, fileError{fmt.Sprintf("%s: the sheet %q is empty; it needs a first row of column names and a row for each case", in.name, name), nil}
}

// sheet is the name of the sheet asked for, by its name or its number from 1; the first, if none is.
func (r *excelReader) sheet(file, asked string) (string, error) {
	names := r.book.GetSheetList()
	if len(names) == 0 {
		return "", fileError{fmt.Sprintf("%s: the workbook has no sheet", file), nil}
	}
	if asked == "" {
		return names[0], nil
	}
	for _, name := range names {
		if name == asked {
			return name, nil
		}
	}
	if k, err := strconv.Atoi(asked); err == nil && k >= 1 && k <= len(names) {
		return names[k-1], nil
	}
	return "", fileError{fmt.Sprintf("%s: no sheet %q; there are: %s", file, asked, listing(names)), nil}
}

const looked = 200 // rows that tell which columns are dates

// dateLike is a number as a sheet shows dates and times.
var dateLike = regexp.MustCompile(`^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d:\d\d|\d[-/ .][A-Za-zÀ-ž]{3,}|^[A-Za-zÀ-ž]{3,}[-/ .]\d`)

// look finds the columns of dates: numbers that the sheet shows as such.
func (r *excelReader) look(sheet string) error {
	raw, err := r.book.Rows(sheet)
	if err != nil {
		return err
	}
	defer raw.Close()
	shown, err := r.book.Rows(sheet)
	if err != nil {
		return err
	}
	defer shown.Close()
	for range looked {
		if !raw.Next() || !shown.Next() {
			break
		}
		stored, err := raw.Columns()
		if err != nil {
			return err
		}
		seen, err := shown.Columns(excelize.Options{RawCellValue: false})
		if err != nil {
			return err
		}
		for j, cell := range stored[:min(len(stored), len(seen))] {
			for j >= len(r.dates) {
				r.dates = append(r.dates, false)
			}
			if _, err := number(cell); err == nil && cell != seen[j] && dateLike.MatchString(seen[j]) {
				r.dates[j] = true
			}
		}
	}
	return nil
}

func (r *excelReader) columns() ([]column, int) { return r.all, r.top }

// partRows are read at a time.
const partRows = 4096

func (r *excelReader) read(chosen []int, _ bool) (*part, error) {
	p := &part{cells: make([]cells, len(chosen))}
	for k := range chosen {
		p.cells[k].text = []string{}
	}
	for len(p.rows) < partRows && r.rows.Next() {
		r.row++
		row, err := r.rows.Columns()
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(strings.Join(row, "")) == "" {
			continue
		}
		for len(row) > len(r.all) && strings.TrimSpace(row[len(row)-1]) == "" {
			row = row[:len(row)-1]
		}
		if len(row) > len(r.all) {
			return nil, fileError{fmt.Sprintf("%s:%d: the cell %q stands right of the last column name; name its column, or take the cell away", r.file, r.row, row[len(row)-1]), nil}
		}
		p.rows = append(p.rows, r.row)
		for k, j := range chosen {
			cell := ""
			if j < len(row) {
				cell = r.cell(j, row[j])
			}
			p.cells[k].text = append(p.cells[k].text, cell)
		}
	}
	if err := r.rows.Error(); err != nil {
		return nil, err
	}
	if len(p.rows) == 0 {
		return nil, io.EOF
	}
	return p, nil
}

// cell is a stored cell as text.
func (r *excelReader) cell(j int, stored string) string {
	if j >= len(r.dates) || !r.dates[j] {
		return stored
	}
	days, err := strconv.ParseFloat(stored, 64)
	if err != nil {
		return stored
	}
	at, err := excelize.ExcelDateToTime(days, r.epoch)
	switch {
	case err != nil:
		return stored
	case days == float64(int64(days)):
		return at.Format(time.DateOnly)
	}
	return at.Round(time.Second).Format("2006-01-02T15:04:05")
}

func (r *excelReader) Close() error {
	if r.rows != nil {
		r.rows.Close()
	}
	return r.book.Close()
}
