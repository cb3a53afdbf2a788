package data

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"regexp"
	"strings"
	"unicode"

	"missingscore/data/format"
)

type dialect struct {
	comma   rune // between cells
	decimal rune // '.' or ','
}

const (
	headBytes = 1 << 16 // bytes of a text that determine its dialect
	headRows  = 100
)

var separators = []rune{',', ';', '\t', '|'}

// dialect completes the options from the first bytes of a text. The separator gives every line as
// many cells as the header, most of them numbers. The decimal mark is a comma if some cell requires
// it and none has a decimal point.
func (o ReadOptions) dialect(head []byte, whole bool) dialect {
	l := dialect{o.Comma, o.Decimal}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if end := bytes.LastIndexByte(head, '\n'); !whole && end >= 0 {
		head = head[:end+1]
	}
	if l.comma == 0 {
		l.comma = o.separator(head)
	}
	if l.decimal == 0 {
		l.decimal = '.'
		if l.comma != ',' && l.hasDecimalCommas(headOf(head, l.comma)) {
			l.decimal = ','
		}
	}
	return l
}

func (o ReadOptions) separator(head []byte) rune {
	best, bestShare, fallback := rune(0), -1.0, rune(0)
	for _, comma := range separators {
		rows := headOf(head, comma)
		if len(rows) == 0 || len(rows[0]) < 2 {
			continue
		}
		if fallback == 0 && (len(rows) == 1 || len(rows[1]) > 1) {
			fallback = comma
		}
		even, numbers, cells := true, 0, 0
		for _, row := range rows[1:] {
			even = even && len(row) == len(rows[0])
			for _, cell := range row {
				if _, err := number(cell); err == nil || comma != ',' && decimalComma.MatchString(cell) || o.missing(cell) {
					numbers++
				}
				cells++
			}
		}
		if share := float64(numbers) / float64(max(1, cells)); even && share > bestShare {
			best, bestShare = comma, share
		}
	}
	return cmp.Or(best, fallback, ',')
}

func headOf(head []byte, comma rune) (rows [][]string) {
	in := csv.NewReader(bytes.NewReader(head))
	in.Comma, in.FieldsPerRecord, in.TrimLeadingSpace = comma, -1, !unicode.IsSpace(comma)
	for len(rows) <= headRows {
		row, err := in.Read()
		if err != nil {
			return rows
		}
		for j := range row {
			row[j] = strings.TrimSpace(row[j])
		}
		if len(row) > 1 || row[0] != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

var (
	decimalComma  = regexp.MustCompile(`^[-+]?\d*,\d+([eE][-+]?\d+)?$`)
	eitherComma   = regexp.MustCompile(`^[-+]?[1-9]\d{0,2},\d{3}$`) // 1,234 may be 1.234 or 1234
	decimalPoints = regexp.MustCompile(`^[-+]?\d*\.\d+([eE][-+]?\d+)?$`)
)

func (dialect) hasDecimalCommas(rows [][]string) bool {
	found := false
	for _, row := range rows[min(1, len(rows)):] {
		for _, cell := range row {
			if decimalPoints.MatchString(cell) {
				return false
			}
			found = found || decimalComma.MatchString(cell) && !eitherComma.MatchString(cell)
		}
	}
	return found
}

func (l dialect) number(cell string) (float64, error) {
	if l.decimal != ',' {
		return number(cell)
	}
	if strings.ContainsRune(cell, '.') {
		return 0, errNotNumber
	}
	return number(strings.Replace(cell, ",", ".", 1))
}

func (l dialect) text(x float64) string {
	text := format.Number(x)
	if l.decimal == ',' {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text
}
