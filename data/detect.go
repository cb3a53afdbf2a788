package data

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"missingscore/data/format"
	"missingscore/internal/printable"
	"missingscore/internal/shell"
)

// Columns with more than mostTexts distinct texts have no levels.
const mostTexts = 1 << 16

// texts numbers the distinct cells of a column in order of appearance; "1" and "1.0" are one text.
type texts struct {
	names  []string // as first written
	counts []int
	codes  map[string]int // by the text as written; for a number also by "\x00" and its shortest decimal
	most   int            // maximum number of texts
	more   bool           // more than most: later codes are invalid

	numbers int  // names that are numbers, perhaps in another dialect
	dates   int  // names that are dates
	typed   bool // the file defines the order of levels
	ordered bool // the file declares the levels ordered
	fixed   bool // ReadOptions list the levels

	nones int          // cells "None": a default mark of missing cells that may be a level
	fault func() error // of the first cell that is not a number: file, line, column and advice
}

func newTexts(levels []string, d dialect) *texts {
	s := &texts{codes: map[string]int{}, most: mostTexts, fixed: levels != nil}
	s.level(levels, d)
	return s
}

// level numbers texts without counting them.
func (s *texts) level(names []string, d dialect) {
	for _, name := range names {
		if code := s.code(name, d); code >= 0 {
			s.counts[code]--
		}
	}
}

// code returns −1 beyond the maximum number of texts.
func (s *texts) code(cell string, d dialect) int {
	code, known := s.codes[cell]
	if !known {
		x, err := d.number(cell)
		key := "\x00" + format.Number(x)
		if code, known = s.codes[key]; err != nil || !known {
			if s.more = s.more || len(s.names) == s.most; s.more {
				return -1
			}
			code = len(s.names)
			s.names, s.counts = append(s.names, strings.Clone(cell)), append(s.counts, 0)
			switch {
			case err == nil:
				s.codes[key] = code
				s.numbers++
			case !errors.Is(err, errNotNumber):
				s.numbers++
			case isDate(cell):
				s.dates++
			}
			cell = s.names[code]
		}
		s.codes[cell] = code
	}
	s.counts[code]++
	return code
}

func total(counts []int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// codeNumbers replaces the numbers of column k by their codes.
func (s *texts) codeNumbers(t *Table, k int, d dialect) {
	for at := k; at < len(t.Values); at += t.D {
		if t.Observed[at] {
			t.Values[at] = float64(s.code(d.text(t.Values[at]), d))
		}
	}
}

func (o ReadOptions) declared(name string) Kind {
	if slices.Contains(o.Nominal, name) {
		return Nominal
	}
	return o.Kinds[name].Kind
}

func (k Kind) hasLevels() bool { return k == Binary || k == Nominal || k == Ordered }

// blockTexts holds the texts of a column in a block.
type blockTexts struct {
	text   []string
	levels []string // the file's dictionary; nil: none
	nones  int
	fault  func() error
}

func (s *source) texts(t *Table, b *format.Block, k int) *blockTexts {
	c := b.Cells[k]
	found := &blockTexts{text: make([]string, len(b.Rows)), levels: c.Levels}
	for i := range b.Rows {
		cell, at := "", i*t.D+k
		switch {
		case c.Text != nil:
			cell = strings.TrimSpace(c.Text[i])
		case c.Present[i] && !slices.Contains(s.marks, c.Numbers[i]):
			cell = format.Number(c.Numbers[i])
		}
		if t.Observed[at] = !s.options.missing(cell); t.Observed[at] {
			t.Values[at], found.text[i] = float64(i), cell
		} else if cell == "None" && slices.Equal(s.options.marks(), DefaultNA) {
			found.nones++
		}
	}
	return found
}

// code replaces texts by codes: in the block b and, for a column that had only numbers so far, in
// the rows before it. It fails at a cell outside declared levels.
func (s *source) code(found []*texts, before *Table, b readBlock) error {
	t := b.table
	for k, cells := range b.texts {
		declared, name := s.options.Kinds[s.names[k]].Levels, s.names[k]
		if cells != nil && found[k] == nil {
			found[k] = newTexts(declared, s.dialect)
			if kind := s.options.declared(name); kind == Number || kind == Whole { // dates
				found[k].most = math.MaxInt
			}
			found[k].codeNumbers(before, k, s.dialect)
		}
		all := found[k]
		switch {
		case all == nil:
			continue
		case cells == nil:
			all.codeNumbers(t, k, s.dialect)
			continue
		case cells.levels != nil && !all.fixed:
			all.level(cells.levels, s.dialect)
			all.typed, all.ordered = true, s.all[s.chosen[k]].Ordered
		}
		if all.nones += cells.nones; all.fault == nil {
			all.fault = cells.fault
		}
		for i := range t.N {
			at := i*t.D + k
			if !t.Observed[at] {
				continue
			}
			cell := cells.text[int(t.Values[at])]
			code := all.code(cell, s.dialect)
			if all.fixed && code >= len(declared) {
				return fmt.Errorf("%s: column %q: %q is not one of its levels: %s; correct the cell, or add the level (ReadOptions.Kinds)", s.at(t.Lines[i]), printable.Cell(name), printable.Cell(cell), listing(declared))
			}
			t.Values[at] = float64(code)
		}
	}
	return nil
}

var dateLayouts = []string{time.DateOnly, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04", "2006-01-02T15:04", "2006/01/02", "2.1.2006", "2.1.2006 15:04", "2.1.2006 15:04:05"}

func dateNumber(cell string) (seconds float64, timed, ok bool) {
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, cell); err == nil {
			return float64(at.Unix()) + float64(at.Nanosecond())/1e9, len(layout) > len(time.DateOnly), true
		}
	}
	return 0, false, false
}

// localDate matches dates whose parts have no certain order, months and times of day.
var localDate = regexp.MustCompile(`^(\d{1,2}[./-]\d{1,2}[./-](\d{2}|\d{4})|\d{4}-\d{2}|\d{1,2}:\d{2}(:\d{2})?)$`)

func isDate(cell string) bool {
	_, _, ok := dateNumber(cell)
	return ok || localDate.MatchString(cell)
}

// datesAsNumbers replaces dates of columns declared numbers by days since 1970, or seconds if a date
// has a time, and clears their texts.
func (s *source) datesAsNumbers(t *Table, found []*texts) {
	for j, texts := range found {
		if kind := s.options.declared(t.Names[j]); texts == nil || kind != Number && kind != Whole {
			continue
		}
		x, unit, all := make([]float64, len(texts.names)), 86400.0, true
		for c := 0; c < len(x) && all; c++ {
			timed, date := false, false
			if x[c], timed, date = dateNumber(texts.names[c]); timed {
				unit = 1
			}
			all = date || texts.counts[c] == 0
		}
		if !all {
			continue
		}
		found[j] = nil
		for at := j; at < len(t.Values); at += t.D {
			if t.Observed[at] {
				t.Values[at] = x[int(t.Values[at])] / unit
			}
		}
	}
}

// marksAsMissing reads a column of numbers and one mark of missing cells that the file repeats, such
// as "k.A.", as numbers with gaps, unless levels are declared or ReadOptions.Strict is set.
func (s *source) marksAsMissing(t *Table, found []*texts) {
	cells := map[string]int{} // of the file, by text
	for _, texts := range found {
		for c := 0; texts != nil && c < len(texts.names); c++ {
			cells[texts.names[c]] += texts.counts[c]
		}
	}
	for j, texts := range found {
		if texts == nil || s.options.Strict || texts.typed || texts.fixed || texts.more || s.options.declared(t.Names[j]).hasLevels() {
			continue
		}
		x, mark, others := make([]float64, len(texts.names)), -1, 0
		for c, name := range texts.names {
			var err error
			if x[c], err = s.number(name); err != nil && mark < 0 && cells[name] > 1 && slices.Contains(likelyMarks, strings.ToLower(name)) {
				mark = c
			} else if err != nil {
				others++
			}
		}
		if mark < 0 || others > 0 || len(x) < 3 {
			continue
		}
		t.mark(t.Names[j], texts.names[mark], texts.counts[mark])
		found[j] = nil
		for at := j; at < len(t.Values); at += t.D {
			if t.Observed[at] {
				code := int(t.Values[at])
				t.Values[at], t.Observed[at] = x[code], code != mark
			}
		}
	}
}

var identifierName = regexp.MustCompile(`(?i)^(id|.*[_. -]id|index|row|row[_. ]?(names?|number)|no|nr|number|case|subject|patient|record|sample|unnamed: ?0|x)$`)

// LeastIdentifiers is the minimum number of rows to detect an identifier.
const LeastIdentifiers = 10

// IdentifierName reports whether a column's name is typical of an identifier.
func IdentifierName(name string) bool { return identifierName.MatchString(name) }

// numbersRows detects identifiers: the name of one and at least ten distinct whole numbers.
func numbersRows(t *Table, j int) bool {
	if !IdentifierName(t.Names[j]) {
		return false
	}
	cells := t.Column(j)
	slices.Sort(cells)
	return len(cells) >= LeastIdentifiers && !slices.ContainsFunc(cells, func(x float64) bool { return x != math.Trunc(x) }) && len(slices.Compact(cells)) == len(cells)
}

func kindOfTexts(name string, s *texts, declared Kind) Column {
	c := Column{Name: name, Kind: declared, Distinct: len(s.names)}
	only := "" // the only level
	for k, count := range s.counts {
		if count > 0 {
			only = s.names[k]
		} else {
			c.Distinct-- // a factor may have unused levels
		}
		if (count > 0 || s.fixed) && len(c.Levels) <= MostLevels {
			c.Levels, c.Counts = append(c.Levels, s.names[k]), append(c.Counts, count)
		}
	}
	n, cells := c.Distinct, total(s.counts)
	switch {
	case declared != "" && !declared.usable():
		c.LeftOut = "set by ReadOptions.Kinds"
	case cells == 0:
		c.Kind, c.LeftOut = Empty, "no value"
	case n == 1:
		c.Kind, c.LeftOut = Constant, "every value is "+printable.Cell(only)
	case declared != "" && n <= MostLevels:
		if n == 2 && declared == Nominal && !s.fixed {
			c.Kind = Binary
		}
	case s.dates == n && !s.typed:
		c.Kind, c.LeftOut = Date, "dates or times; ReadOptions.Kinds can read them as numbers"
		if slices.ContainsFunc(s.names, func(cell string) bool { _, _, ok := dateNumber(cell); return !ok }) {
			c.LeftOut = "dates or times; to read dates as numbers, write them as 2026-03-20"
		}
	case n == cells && n > 2 && !s.typed:
		c.Kind, c.LeftOut = Identifier, fmt.Sprintf("%d different texts, no two equal", n)
	case s.more:
		c.Kind, c.LeftOut = FreeText, fmt.Sprintf("free text (more than %d different texts)", mostTexts)
	case n > MostLevels || n > 2 && 2*n >= cells && !s.typed:
		c.Kind, c.LeftOut = FreeText, fmt.Sprintf("free text (%d different texts in %d rows)", n, cells)
	case n == 2:
		c.Kind = Binary
	case s.ordered:
		c.Kind = Ordered
	default:
		c.Kind = Nominal
	}
	if c.LeftOut != "" && c.Kind != Constant {
		c.Levels, c.Counts = nil, nil
	}
	return c
}

var noFirst = [][2]string{{"no", "yes"}, {"n", "y"}, {"false", "true"}, {"f", "t"}, {"neg", "pos"}, {"negative", "positive"}, {"absent", "present"}, {"off", "on"}, {"nein", "ja"}, {"non", "oui"}, {"never", "ever"}, {"control", "case"}, {"control", "treatment"}}

// inOrder sorts levels: no before yes, numbers by size, other texts alphabetically.
func inOrder(c *Column, d dialect) {
	order := allOf(len(c.Levels))
	slices.SortStableFunc(order, func(a, b int) int {
		x, notX := d.number(c.Levels[a])
		y, notY := d.number(c.Levels[b])
		if notX == nil && notY == nil {
			return cmp.Compare(x, y)
		}
		return cmp.Or(strings.Compare(strings.ToLower(c.Levels[a]), strings.ToLower(c.Levels[b])), strings.Compare(c.Levels[a], c.Levels[b]))
	})
	if len(order) == 2 && slices.Contains(noFirst, [2]string{strings.ToLower(c.Levels[order[1]]), strings.ToLower(c.Levels[order[0]])}) {
		slices.Reverse(order)
	}
	levels, counts := c.Levels, c.Counts
	c.Levels, c.Counts = nil, nil
	for _, k := range order {
		c.Levels, c.Counts = append(c.Levels, levels[k]), append(c.Counts, counts[k])
	}
}

func recode(t *Table, j int, names []string, levels []string) {
	codes := make([]float64, len(names))
	for k, name := range names {
		codes[k] = float64(slices.Index(levels, name))
	}
	for at := j; at < len(t.Values); at += t.D {
		if t.Observed[at] {
			t.Values[at] = codes[int(t.Values[at])]
		}
	}
}

func kindOfNumbers(t *Table, j int, sums ColumnSums, o ReadOptions) Column {
	c := Column{Name: t.Names[j], Kind: o.declared(t.Names[j]), Missing: t.N - sums.Number}
	switch problem := sums.Fault(c.Name); {
	case c.Kind != "" && !c.Kind.usable():
		c.LeftOut = "set by ReadOptions.Kinds"
	case sums.Number == 0:
		c.Kind, c.LeftOut = Empty, "no value"
	case problem != nil && sums.Low == sums.High && math.Abs(sums.Low) >= 1<<53:
		c.Kind, c.LeftOut = Identifier, "whole numbers with more than 15 digits are rounded"
	case problem != nil && sums.Low == sums.High:
		value := format.Number(sums.Low)
		c.Kind, c.LeftOut, c.Levels, c.Counts, c.Distinct = Constant, "every value is "+value, []string{value}, []int{sums.Number}, 1
	case problem != nil:
		c.Kind, c.LeftOut = Constant, problem.(*ColumnError).Problem
	case c.Kind == "" && !slices.Contains(o.Columns, c.Name) && numbersRows(t, j):
		c.Kind, c.LeftOut, c.Distinct = Identifier, fmt.Sprintf("%d different whole numbers, no two equal; ReadOptions.Kinds can read it as a number", sums.Number), sums.Number
	}
	return c
}

// settle decides the kind of each column, and leaves out the columns that cannot be used.
func (s *source) settle(t *Table, found []*texts, w written) error {
	s.datesAsNumbers(t, found)
	s.marksAsMissing(t, found)
	sums, before := columnSums(t), len(s.leftOut)
	t.Kinds, t.Levels = make([]Kind, t.D), make([][]string, t.D)
	var kept []int
	var wrong error
	var refused []Column // by ReadOptions.Strict
	for j, name := range t.Names {
		if s.plain > 0 && j >= s.plain {
			t.Kinds[j], kept = Number, append(kept, j)
			continue
		}
		c, err := s.settleColumn(t, j, found[j], sums[j])
		if err == nil && found[j] == nil && c.LeftOut == "" {
			err = w.ambiguous(j, s.file, name, s.options)
		}
		switch {
		case err != nil && s.options.Lenient:
			c = Column{Name: name, Kind: Number, LeftOut: err.Error(), Missing: c.Missing}
		case err != nil && c.LeftOut != "" && s.options.Strict:
			refused = append(refused, Column{Name: name, LeftOut: c.LeftOut})
			fallthrough
		case err != nil:
			wrong = cmp.Or(wrong, err)
		}
		if c.Place = before + j; c.LeftOut != "" {
			s.leftOut = append(s.leftOut, c)
			continue
		}
		if c.Kind.hasLevels() && found[j] != nil && found[j].nones > 0 {
			t.mark(name, "None", found[j].nones)
		}
		t.Kinds[j], t.Levels[j], kept = c.Kind, c.Levels, append(kept, j)
	}
	t.LeftOut = s.leftOut
	switch {
	case len(refused) > 1:
		var names []string
		for _, c := range refused {
			names = append(names, c.Name)
		}
		why := strings.Join(LeftOutLines(refused, 3), "; ")
		return s.options.refuse(s.file, "columns cannot be used: "+strings.ReplaceAll(why, "left out: ", ""), names...)
	case wrong != nil:
		return wrong
	case !s.options.Lenient && (len(kept) == 0 || kept[0] == s.plain && s.plain > 0):
		return s.noColumn()
	}
	keep(t, kept)
	numberKinds(t)
	return nil
}

func (s *source) noColumn() error {
	return fmt.Errorf("%s: no column can be used; %s", s.file, strings.Join(LeftOutLines(s.leftOut, 3), "; "))
}

func numberKinds(t *Table) {
	whole, bits := slices.Repeat([]bool{true}, t.D), slices.Repeat([]bool{true}, t.D)
	for at := 0; at < len(t.Values); at += t.D {
		for j := range whole {
			if x := t.Values[at+j]; whole[j] && t.Observed[at+j] {
				whole[j] = x == math.Trunc(x)
				bits[j] = bits[j] && (x == 0 || x == 1)
			}
		}
	}
	for j, kind := range t.Kinds {
		switch {
		case kind != "":
		case whole[j] && bits[j]:
			t.Kinds[j], t.Levels[j] = Binary, []string{"0", "1"}
		case whole[j]:
			t.Kinds[j] = Whole
		default:
			t.Kinds[j] = Number
		}
	}
}

// settleColumn fails if the user must correct the column: a number with a slip, or an unusable
// column that is requested or read with ReadOptions.Strict.
func (s *source) settleColumn(t *Table, j int, found *texts, sums ColumnSums) (c Column, err error) {
	o, name := s.options, t.Names[j]
	declared, wanted := o.declared(name), o.Strict || slices.Contains(o.Columns, name)
	if found == nil {
		c = kindOfNumbers(t, j, sums, o)
		switch {
		case c.Kind == Identifier && declared == "" && o.Strict && sums.Fault(name) == nil:
			c.Kind, c.LeftOut = "", ""
		case c.LeftOut != "" && wanted:
			return c, o.refuse(s.file, cmp.Or(sums.Fault(name), error(&ColumnError{name, c.LeftOut})).Error(), name)
		}
		return c, nil
	}
	missing := t.N - sums.Number
	faulty := declared == Number || declared == Whole
	if declared == "" && !found.typed {
		style, numbers := s.numberLike(found.names, found.counts, o)
		if numbers && !wanted {
			return Column{Name: name, Kind: Number, LeftOut: style.leftOut(name), Finding: style.finding(name), Distinct: len(found.names), Missing: missing}, nil
		}
		faulty = numbers || 2*found.numbers >= len(found.names) // slips among numbers, or numbers with marks and units
	}
	if faulty {
		return Column{Missing: missing}, found.fault()
	}
	c = kindOfTexts(name, found, declared)
	c.Missing = missing
	if s.all[s.chosen[j]].Kind == format.Nothing {
		c.Kind, c.LeftOut = FreeText, "lists or structures"
	}
	switch {
	case declared.hasLevels() && c.Distinct > MostLevels:
		return c, fmt.Errorf("%s: column %q has %d different values; the maximum for a column of levels is %d; leave it out (ReadOptions.Exclude), or merge values", s.file, printable.Cell(name), c.Distinct, MostLevels)
	case c.LeftOut != "" && wanted:
		return c, o.refuse(s.file, (&ColumnError{name, c.LeftOut}).Error(), name)
	case c.LeftOut != "":
		return c, nil
	case c.Kind == Binary && len(c.Levels) != 2:
		return c, fmt.Errorf("%s: column %q has %d levels, but a binary column has two; declare it nominal", s.file, printable.Cell(name), len(c.Levels))
	case !found.fixed && !found.typed:
		inOrder(&c, s.dialect)
	}
	recode(t, j, found.names, c.Levels)
	return c, nil
}

func (o ReadOptions) refuse(file, why string, names ...string) error {
	it := "it"
	if len(names) > 1 {
		it = "them"
	}
	if len(o.Columns) > 0 {
		return fmt.Errorf("%s: %s; remove %s from ReadOptions.Columns", file, why, it)
	}
	return fmt.Errorf("%s: %s; leave %s out with ReadOptions.Exclude %s", file, why, it, shell.List(names))
}

func keep(t *Table, columns []int) {
	n, d := 0, len(columns)
	if d == t.D && t.Marks == nil { // no cell is left out
		return
	}
	for i := range t.N {
		from, seen := i*t.D, false
		for k, j := range columns {
			t.Values[n*d+k], t.Observed[n*d+k] = t.Values[from+j], t.Observed[from+j]
			seen = seen || t.Observed[n*d+k]
		}
		if seen {
			t.Lines[n] = t.Lines[i]
			n++
		}
	}
	t.Dropped += t.N - n
	var names []string
	var kinds []Kind
	var levels [][]string
	for _, j := range columns {
		names, kinds, levels = append(names, t.Names[j]), append(kinds, t.Kinds[j]), append(levels, t.Levels[j])
	}
	t.Names, t.Kinds, t.Levels, t.N, t.D = names, kinds, levels, n, d
	t.Values, t.Observed, t.Lines = t.Values[:n*d], t.Observed[:n*d], t.Lines[:n]
}

// fixedKinds returns options that give all blocks of a file the kinds of its first rows. If a file
// cannot be opened again, kinds are not detected.
func fixedKinds(path string, o ReadOptions) (_ ReadOptions, leftOut []Column, err error) {
	if !o.Coded {
		return o, nil, nil
	}
	if about, err := os.Stat(path); path == Stdin || err != nil || !about.Mode().IsRegular() {
		o.Coded = false
		return o, nil, nil
	}
	s, err := openColumns(path, o)
	if err != nil {
		return o, nil, err
	}
	defer s.Close()
	first, texts, err := s.block(math.MaxInt, true)
	if err == io.EOF {
		err = s.noRows()
	}
	if err != nil {
		return o, nil, err
	}
	t := first.table
	_, after := s.next(s.chosen, false)
	coded := slices.Clone(texts)
	s.datesAsNumbers(t, texts)
	kinds, kept, sums := map[string]Column{}, []string(nil), columnSums(t)
	for j, name := range s.names {
		c := Column{Name: name}
		if coded[j] != nil || after == io.EOF { // a constant column of numbers may vary in later rows
			if c, err = s.settleColumn(t, j, texts[j], sums[j]); err != nil {
				return o, nil, err
			}
			switch {
			case coded[j] != texts[j]:
				c.LeftOut = "dates or times, which need the whole table"
			case c.LeftOut == "" && c.Kind == Nominal:
				c.LeftOut = nominalReason
			}
		} else if o.declared(name) == "" && !slices.Contains(o.Columns, name) && !o.Strict && numbersRows(t, j) {
			c.Kind, c.LeftOut = Identifier, "different whole numbers, no two equal in the first rows"
		}
		if c.LeftOut != "" {
			s.leftOut = append(s.leftOut, c)
			continue
		}
		if kept = append(kept, name); coded[j] != nil && c.Levels != nil {
			kinds[name] = c
		}
	}
	if kept == nil {
		return o, nil, s.noColumn()
	}
	o.Columns, o.Exclude, o.Kinds, o.Nominal, o.Coded = kept, nil, kinds, nil, false
	return o, s.leftOut, nil
}

func (o ReadOptions) setKinds(t *Table, leftOut []Column) {
	t.LeftOut = leftOut
	if len(o.Kinds) == 0 {
		return
	}
	t.Kinds, t.Levels = slices.Repeat([]Kind{Number}, t.D), make([][]string, t.D)
	for j, name := range t.Names {
		if c, ok := o.Kinds[name]; ok {
			t.Kinds[j], t.Levels[j] = c.Kind, c.Levels
		}
	}
}

// LeftOutLines returns one line for each reason to leave out columns, with at most most names.
func LeftOutLines(columns []Column, most int) (lines []string) {
	for k, c := range columns {
		same := func(o Column) bool { return o.LeftOut == c.LeftOut }
		if slices.IndexFunc(columns, same) < k {
			continue
		}
		var names []string
		for _, o := range columns[k:] {
			if same(o) {
				names = append(names, cmp.Or(printable.Cell(o.Name), "the first column"))
			}
		}
		if len(names) > most {
			names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
		}
		lines = append(lines, fmt.Sprintf("left out: %s: %s", strings.Join(names, ", "), c.LeftOut))
	}
	return lines
}

// KindsOf returns kinds and levels for ReadOptions.Kinds, to read another file with the same columns.
func KindsOf(t *Table) map[string]Column {
	kinds := map[string]Column{}
	for j, name := range t.Names {
		if t.Kinds != nil {
			kinds[name] = Column{Name: name, Kind: t.Kinds[j], Levels: t.Levels[j]}
		}
	}
	return kinds
}

const nominalReason = "nominal, not a number; network without Spec.Steps.Method, fit Spec.Model.Kind mixture and impute accept such columns"

// NumbersOnly removes the nominal columns and returns them. It fails if no column is left.
func NumbersOnly(t *Table) (numbers *Table, nominal []Column, err error) {
	var names []string
	for j, name := range t.Names {
		if KindOf(t, j) == Nominal {
			nominal = append(nominal, Column{Name: name, Kind: Nominal, Levels: t.Levels[j], LeftOut: nominalReason})
		} else {
			names = append(names, name)
		}
	}
	if nominal == nil {
		return t, nil, nil
	}
	if names == nil {
		return nil, nominal, errors.New("every column is nominal, but numbers are needed")
	}
	if numbers, err = t.Select(names); err != nil {
		return nil, nominal, err
	}
	rows := withValues(numbers, nil)
	if len(rows) < t.N {
		numbers = only(numbers, rows)
		numbers.Dropped = t.Dropped + t.N - len(rows)
	}
	numbers.LeftOut = append(slices.Clone(t.LeftOut), nominal...)
	return numbers, nominal, nil
}
