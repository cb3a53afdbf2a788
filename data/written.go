package data

import (
	"fmt"
	"math"
	"strings"

	"missingscore/internal/shell"
)

type written []grouped

// grouped tells whether all numbers have three digits after a mark or are whole below 1000.
type grouped struct {
	no       bool   // a cell contradicts
	hundreds bool   // a whole number from 100 to 999 occurs
	first    string // first cell with the mark
	line     int    // of it; 0: none
}

func (g *grouped) see(cell string, decimal rune, line int, x float64) {
	if g.no {
		return
	}
	mark := byte(decimal)
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
	if g.no = len(whole) == 0 || len(whole) > 3 || whole[0] == '0' || len(rest) != 3 || strings.ContainsAny(rest, "eE"); !g.no && g.line == 0 {
		g.first, g.line = cell, line
	}
}

func (w written) add(o written) {
	for k, g := range o {
		all := &w[k]
		all.no, all.hundreds = all.no || g.no, all.hundreds || g.hundreds
		if g.line > 0 && (all.line == 0 || g.line < all.line) {
			all.first, all.line = g.first, g.line
		}
	}
}

func (w written) ask(file string, names []string, o ReadOptions) error {
	for k, name := range names {
		if err := w.ambiguous(k, file, name, o); err != nil {
			return err
		}
	}
	return nil
}

// ambiguous fails if all decimal marks of column k may be thousands marks and none is set.
func (w written) ambiguous(k int, file, name string, o ReadOptions) error {
	if o.Decimal != 0 || len(w) == 0 {
		return nil
	}
	g := w[k]
	if g.no || g.line == 0 || !g.hundreds {
		return nil
	}
	mark, other := ".", ","
	if strings.Contains(g.first, ",") {
		mark, other = other, mark
	}
	return fmt.Errorf("%s:%d: column %q: %q can mean %[5]s or %[4]s; ReadOptions.Decimal %[6]s reads %[4]s, ReadOptions.Numbers %[7]s ReadOptions.Decimal %[8]s reads %[5]s",
		file, g.line, name, g.first, strings.Replace(g.first, mark, "", 1), mark, shell.List([]string{name}), other)
}
