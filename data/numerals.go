package data

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"missingscore/data/format"
	"missingscore/internal/printable"
	"missingscore/internal/shell"
)

// numeral is a number with marks and unit: "12 kg", "€ 1,234.50", "−3", "45 %".
type numeral struct {
	cell          string
	negative      bool
	before, after string // currency and unit, with the space before the digits
	digits        string // with points and commas, without other marks
	times         int    // number of equal cells
}

// Ranges (3-4), dates, times and codes (P12) do not match.
var numeralText = regexp.MustCompile(`^([-+−–]?)((?:[A-Z]{0,3}\p{Sc}|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|BRL|MXN|ZAR|KRW|R\$|Fr\.|Rs\.?|kr\.?)?\s*)([-+−–]?)` +
	`([1-9]\d{0,2}(?:[.,'’ \x{a0}\x{2009}\x{202f}]\d{3})+(?:[.,]\d+)?|\d*[.,]?\d+(?:[eE][-+]?\d+)?|\d+[.,])(\s*(?:[\p{L}%‰°\p{Sc}].*)?)$`)

// spacing removes marks between thousands that are never decimal marks.
var spacing = strings.NewReplacer("'", "", "’", "", " ", "", "\u00a0", "", "\u2009", "", "\u202f", "")

func newNumeral(cell string) (n numeral, ok bool) {
	part := numeralText.FindStringSubmatch(cell)
	if part == nil || part[1] != "" && part[3] != "" {
		return n, false
	}
	sign := part[1] + part[3]
	return numeral{cell, sign != "" && sign != "+", part[2], part[5], spacing.Replace(part[4]), 1}, true
}

func (n *numeral) unit() string {
	unit := strings.TrimSpace(n.before) + strings.TrimSpace(n.after)
	if len(unit) > 3 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return unit
}

func (n *numeral) value(decimal rune) (x float64, err error) {
	whole, fraction, _ := strings.Cut(n.digits, string(decimal))
	groups := strings.Split(whole, string('.'+','-decimal))
	if len(groups) > 1 && (len(groups[0]) == 0 || len(groups[0]) > 3 || groups[0][0] == '0') {
		return 0, errNotNumber
	}
	for _, group := range groups[1:] {
		if len(group) != 3 {
			return 0, errNotNumber
		}
	}
	if whole = strings.Join(groups, ""); fraction != "" {
		whole += "." + fraction
	}
	if x, err = number(whole); n.negative {
		x = -x
	}
	return x, err
}

type numberStyle struct {
	usual   numeral // the first with the most frequent unit
	decimal rune    // '.' or ','
	sure    bool    // the decimal mark is given, or a cell is unambiguous

	cells   int       // of the column
	texts   int       // of them, numbers with marks or units
	shown   []numeral // the first two of these
	foreign bool      // decimal differs from the file's other numbers
	problem string    // why the column cannot be read and what to do; "" if it can
	either  *numeral  // an ambiguous cell that ReadOptions.Decimal must decide; nil: none
}

// numberLike detects how a column writes numbers; cell i occurs counts[i] times, once if counts is
// nil. ok requires that nine of ten cells are numbers, not all plain, four of five of these share a
// unit, and the values vary. If a cell is ambiguous (1,234) and o.Decimal is not set, either is that cell.
func (l dialect) numberLike(cells []string, counts []int, o ReadOptions) (s numberStyle, ok bool) {
	if counts == nil {
		counts = slices.Repeat([]int{1}, len(cells))
	}
	s.cells = total(counts)
	var found []numeral
	units, most, others := map[string]int{}, "", 0
	for i, cell := range cells {
		n, numeric := newNumeral(cell)
		if n.times = counts[i]; numeric {
			found = append(found, n)
			if units[n.unit()] += n.times; units[n.unit()] > units[most] {
				most = n.unit()
			}
		} else if others += n.times; others > 10+s.cells/10 {
			break // a text column
		}
	}
	varies := s.decide(l, found, most)
	slip := most == "" && len(units) > 1
	if s.sure = s.sure || o.Decimal != 0; s.sure {
		s.either = nil
	}
	return s, s.texts > 0 && varies && !slip && 10*others <= s.cells && 5*units[most] >= 4*(s.cells-others)
}

// decide sets the decimal mark and reports whether the numbers vary.
func (s *numberStyle) decide(l dialect, found []numeral, unit string) (varies bool) {
	var foreign, point, comma *numeral // cells with another unit, and unambiguous cells
	for i := range found {
		n := &found[i]
		if _, err := l.number(n.cell); errors.Is(err, errNotNumber) {
			if s.texts += n.times; len(s.shown) == 0 || len(s.shown) == 1 && s.shown[0].cell != n.cell {
				s.shown = append(s.shown, *n)
			}
		}
		if n.unit() != unit {
			foreign = cmp.Or(foreign, n)
			continue
		}
		if s.usual.cell == "" {
			s.usual = *n
		}
		varies = varies || n.digits != s.usual.digits
		x, noPoint := n.value('.')
		y, noComma := n.value(',')
		switch {
		case noComma != nil:
			point = cmp.Or(point, n)
		case noPoint != nil:
			comma = cmp.Or(comma, n)
		case x != y && (math.Abs(x) > math.Abs(y)) == (l.decimal == '.'):
			s.either = cmp.Or(s.either, n)
		}
	}
	s.decimal, s.sure = l.decimal, (point == nil) != (comma == nil)
	if s.sure {
		s.decimal = '.'
		if comma != nil {
			s.decimal = ','
		}
	}
	s.foreign = s.decimal != l.decimal
	if foreign != nil {
		s.problem = fmt.Sprintf("numbers in different units (%q, %q); write all in one unit", printable.Cell(s.usual.cell), printable.Cell(foreign.cell))
	} else if point != nil && comma != nil {
		s.problem = fmt.Sprintf("numbers with different decimal marks (%q, %q); write all with one", printable.Cell(point.cell), printable.Cell(comma.cell))
	}
	return varies
}

func (n *numeral) twoWays(flags string) string {
	x, _ := n.value('.')
	y, _ := n.value(',')
	return fmt.Sprintf("%[1]sReadOptions.Decimal . reads %[2]s, %[1]sReadOptions.Decimal , reads %[3]s", flags, format.Number(x), format.Number(y))
}

type styleError struct{ problem, advice string }

func (e *styleError) Error() string { return e.problem }

// digits is the cell's number with points and commas only.
func (s *numberStyle) number(cell string) (x float64, digits string, err error) {
	n, numeric := newNumeral(cell)
	if !numeric {
		x, err = number(cell)
		return x, cell, err
	}
	if n.unit() != s.usual.unit() {
		return 0, "", &styleError{fmt.Sprintf("lacks the unit of %q", s.usual.cell), "write all cells in one unit"}
	}
	x, err = n.value(s.decimal)
	y, otherwise := n.value('.' + ',' - s.decimal)
	switch {
	case err != nil && otherwise == nil:
		return 0, "", &styleError{fmt.Sprintf("does not have the decimal mark of the column, %q", s.decimal), "write all cells with one mark"}
	case err == nil && otherwise == nil && !s.sure && math.Abs(x) > math.Abs(y):
		return 0, "", &styleError{"is ambiguous", n.twoWays("")}
	}
	return x, n.digits, err
}

func (s *numberStyle) text(x float64) string {
	sign := ""
	if x < 0 {
		sign = "-"
	}
	return sign + s.usual.before + dialect{decimal: s.decimal}.text(math.Abs(x)) + s.usual.after
}

func (s *numberStyle) kind() string {
	n := s.shown[0]
	switch {
	case strings.ContainsAny(n.after, "%‰"):
		return "numbers with a percent sign"
	case n.unit() != "" && strings.TrimSpace(n.after) == "" || strings.ContainsFunc(n.after, func(c rune) bool { return unicode.Is(unicode.Sc, c) }):
		return "amounts of money"
	case n.unit() != "":
		return "numbers with a unit"
	case strings.ContainsAny(n.cell, "−–"):
		return "numbers with a typeset minus sign"
	}
	if s.foreign && !strings.ContainsRune(n.digits, '.'+','-s.decimal) && spacing.Replace(n.cell) == n.cell {
		return map[rune]string{'.': "numbers with a decimal point", ',': "numbers with a decimal comma"}[s.decimal]
	}
	return "numbers with marks between thousands"
}

func (s *numberStyle) leftOut(column string) string {
	flag := "ReadOptions.Numbers " + shell.List([]string{column})
	switch {
	case s.problem != "":
		return s.problem
	case s.either != nil:
		return fmt.Sprintf("ambiguous numbers (%q); %s", printable.Cell(s.either.cell), s.either.twoWays(flag+" "))
	}
	return fmt.Sprintf("%s (%q); %s reads them", s.kind(), printable.Cell(s.shown[0].cell), flag)
}

func (s *numberStyle) finding(column string) string {
	if s.problem != "" || s.either != nil {
		return s.leftOut(column)
	}
	var shown []string
	for _, n := range s.shown {
		x, _ := n.value(s.decimal)
		shown = append(shown, fmt.Sprintf("%q -> %s", printable.Cell(n.cell), format.Number(x)))
	}
	whole := ""
	if s.foreign {
		whole = fmt.Sprintf(" (or ReadOptions.Decimal %c for all columns)", s.decimal)
	}
	return fmt.Sprintf("%s in %d of %d cells: %s; ReadOptions.Numbers %s reads them%s", s.kind(), s.texts, s.cells, strings.Join(shown, ", "), shell.List([]string{column}), whole)
}

// styled adds the styles of the columns in o.Numbers.
func (s *sheet) styled(o ReadOptions) ReadOptions {
	o.styles = map[string]*numberStyle{}
	for j, name := range s.header {
		if slices.Contains(o.Numbers, name) {
			style, _ := s.numberLike(s.observed(j, o), nil, o)
			o.styles[name] = &style
		}
	}
	return o
}

// Later cells that do not fit the styles are errors.
func (s *source) findStyles() error {
	if len(s.options.Numbers) == 0 || s.options.styles != nil {
		return nil
	}
	first, err := s.nextRows()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	part, err := s.part(first)
	if err != nil {
		return err
	}
	s.ahead, s.options = first, part.styled(s.options)
	return nil
}
