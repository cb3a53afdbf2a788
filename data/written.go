package data

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"missingscore/internal/printable"
	"missingscore/internal/shell"
)

// written collects properties of how cells are written, by column.
type written struct {
	rounded map[string]cellOf // a whole number of each column that float64 cannot hold
	grouped []grouped
}

type cellOf struct {
	text string
	line int
}

func (c *cellOf) before(o cellOf) {
	if o.line > 0 && (c.line == 0 || o.line < c.line) {
		*c = o
	}
}

// grouped tells whether every number of a column has a mark with three digits behind it or is a
// whole number below 1000.
type grouped struct {
	no       bool   // a cell contradicts
	hundreds bool   // a whole number from 100 to 999 occurs
	first    cellOf // first cell with the mark
}

func (g *grouped) see(cell string, mark byte, line int, x float64) {
	if len(cell) < 3 && cell[0] != mark && cell[len(cell)-1] != mark {
		return // a whole number below 100
	}
	at := strings.IndexByte(cell, mark)
	if at < 0 {
		g.no = math.Abs(x) >= 1000 || x != math.Trunc(x) || strings.ContainsAny(cell, "eE")
		g.hundreds = g.hundreds || math.Abs(x) >= 100
		return
	}
	whole, rest := strings.TrimLeft(cell[:at], "+-"), cell[at+1:]
	if g.no = len(whole) == 0 || len(whole) > 3 || whole[0] == '0' || len(rest) != 3 || strings.ContainsAny(rest, "eE"); !g.no && g.first.line == 0 {
		g.first = cellOf{cell, line}
	}
}

// round notes a cell whose whole number is not exactly x.
func (w *written) round(column string, cell cellOf, x float64) {
	digits := strings.TrimLeft(cell.text, "+-0")
	if whole, zeros, ok := strings.Cut(digits, "."); ok && strings.Trim(zeros, "0") == "" {
		digits = whole
	}
	if strings.Trim(digits, "0123456789") == "" && strconv.FormatFloat(math.Abs(x), 'f', 0, 64) != digits {
		w.note(column, cell)
	}
}

// note keeps the first rounded cell of a column.
func (w *written) note(column string, cell cellOf) {
	if w.rounded == nil {
		w.rounded = map[string]cellOf{}
	}
	first := w.rounded[column]
	first.before(cell)
	w.rounded[column] = first
}

func (w *written) texts() (texts map[string]string) {
	for column, cell := range w.rounded {
		if texts == nil {
			texts = map[string]string{}
		}
		texts[column] = cell.text
	}
	return texts
}

// fault returns the fault of a column by its sums. Different numbers that rounding made equal do
// not count as constant.
func fault(column string, sums ColumnSums, rounded map[string]string) error {
	err := sums.Fault(column)
	if cell := rounded[column]; err != nil && cell != "" {
		return &ColumnError{column, fmt.Sprintf("whole numbers with more than 15 digits, such as %s, are rounded, and different ones become equal", printable.Cell(cell))}
	}
	return err
}

func (w *written) see(k int, column string, cell string, mark rune, line int, x float64) {
	if g := &w.grouped[k]; !g.no {
		g.see(cell, byte(mark), line, x)
	}
	if math.Abs(x) >= 1<<53 {
		w.round(column, cellOf{cell, line}, x)
	}
}

func (w *written) add(o written) {
	for column, cell := range o.rounded {
		w.note(column, cell)
	}
	if w.grouped == nil {
		w.grouped = make([]grouped, len(o.grouped))
	}
	for k, g := range o.grouped {
		all := &w.grouped[k]
		all.no, all.hundreds = all.no || g.no, all.hundreds || g.hundreds
		all.first.before(g.first)
	}
}

// ask returns the first error of ambiguous.
func (w *written) ask(file string, names []string, o ReadOptions) error {
	for k, name := range names {
		if err := w.ambiguous(k, file, name, o); err != nil {
			return err
		}
	}
	return nil
}

// ambiguous fails if the decimal marks of column k may be thousands marks: each has three digits
// behind it and no 0 before it, and the other numbers are whole and below 1000. nil if options set
// the decimal mark.
func (w *written) ambiguous(k int, file, name string, o ReadOptions) error {
	if o.Decimal != 0 || len(w.grouped) == 0 {
		return nil
	}
	g := w.grouped[k]
	if g.no || g.first.line == 0 || !g.hundreds {
		return nil
	}
	mark, other := ".", ","
	if strings.Contains(g.first.text, ",") {
		mark, other = other, mark
	}
	return fmt.Errorf("%s:%d: column %q: %q may be %[5]s or %[4]s: its other numbers have three decimals or are whole and below 1000; ReadOptions.Decimal %[6]s reads %[4]s, ReadOptions.Numbers %[7]s ReadOptions.Decimal %[8]s reads %[5]s",
		file, g.first.line, name, g.first.text, strings.Replace(g.first.text, mark, "", 1), mark, shell.List([]string{name}), other)
}
