package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/data/format"
)

// Cells holds a table's file as text, and some of its columns as numbers.
type Cells struct {
	Header  []string
	Rows    [][]string // as in the file, without space around cells
	Columns []int      // positions of the table's columns
	Table   *Table     // one row for each of Rows, including rows without a value

	sheet *sheet // the file
	marks ReadOptions
	used  []bool // columns of the table; others are only carried
}

// ReadCells reads the columns o.Columns by the rules of ReadCSV, but accepts constant and empty
// columns and a single row. It takes levels from o.Kinds and detects no kinds.
func ReadCells(path string, o ReadOptions) (*Cells, error) {
	s, err := openSheet(path, o)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Columns {
		if !slices.Contains(s.header, name) {
			return nil, fmt.Errorf("%s: no column %q, which the model needs; there are: %s", s.at(s.top), name, listing(s.header))
		}
	}
	columns, err := s.find(o.Columns)
	if err != nil {
		return nil, err
	}
	o.Coded = false
	o = s.styled(o)
	s.emptyMarks(columns, o)
	r, err := s.source(o)
	if err != nil {
		return nil, err
	}
	r.chosen, r.names = columns, slices.Clone(o.Columns)
	all, _, err := r.block(math.MaxInt, false)
	if err == nil {
		err = all.written.ask(s.file, r.names, o)
	}
	if err != nil {
		return nil, err
	}
	o.setKinds(all.table, nil)
	c := &Cells{Header: s.header, Rows: s.rows, Columns: columns, Table: all.table, sheet: s, marks: o, used: make([]bool, len(s.header))}
	for _, j := range columns {
		c.used[j] = true
	}
	return c, nil
}

var longColumns = []string{".imp", ".id"}

// CheckLong fails if a column of the table is named .imp or .id, which several draws need.
func (c *Cells) CheckLong() error {
	for _, name := range longColumns {
		if slices.Contains(c.Header, name) {
			return fmt.Errorf("the table has a column %q, a name that several draws need: rename it, leave it out, or make one draw", name)
		}
	}
	return nil
}

// WriteCompleted writes the table with its missing cells filled from values, draws imputations of
// each row (n·draws, d). Several draws are stacked below .imp (draw) and .id (row, from 1); .imp =
// 0 holds the original rows, as as.mids of R's mice expects.
//
// Observed cells stay as read. Carried columns keep their type if it reproduces every cell. A
// missing text becomes the table's most frequent mark, or null in typed files.
func (c *Cells) WriteCompleted(put Put, path string, values []float64, draws int) error {
	columns, err := c.kinds(values, draws)
	if err != nil {
		return err
	}
	f, _ := formatOf(path, c.sheet)
	typed, mark := f != nil, c.mark()
	names := columns
	if draws > 1 {
		for j := range columns {
			columns[j].Name = cmp.Or(columns[j].Name, "row.names") // as.mids() needs a name
		}
		names = slices.Concat([]format.Column{{Name: longColumns[0], Kind: format.Whole}, {Name: longColumns[1], Kind: format.Whole}}, columns)
	}
	return writeRows(put, path, c.sheet, names, func(write func([]string) error) error {
		first := 1
		if draws > 1 {
			first = 0 // original rows
		}
		for k := first; k <= draws; k++ {
			for i := range c.Rows {
				var row []string
				if draws > 1 {
					row = []string{strconv.Itoa(k), strconv.Itoa(i + 1)}
				}
				var filled []float64
				if k > 0 {
					filled = values[(i*draws+k-1)*c.Table.D:]
				}
				if err := write(append(row, c.row(i, columns, filled, typed, mark)...)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// row is row i with its gaps filled from values; nil values leave the gaps. Cells of typed files
// have decimal points and are empty if missing; mark is for missing cells of carried texts.
func (c *Cells) row(i int, columns []format.Column, values []float64, typed bool, mark string) []string {
	row := slices.Clone(c.Rows[i])
	for a, j := range c.Columns {
		if c.Table.Observed[i*c.Table.D+a] {
			continue
		}
		switch style := c.marks.styles[c.Header[j]]; {
		case values == nil:
			row[j] = "NA"
		case style != nil:
			row[j] = style.text(values[a] + 0) // + 0 avoids -0
		case Coded(c.Table, a) != nil:
			row[j] = c.Table.Levels[a][int(values[a])]
		case typed:
			row[j] = format.Number(values[a] + 0)
		default:
			row[j] = c.sheet.dialect.text(values[a] + 0)
		}
	}
	for j := range row {
		gap := c.missing(i, j)
		switch {
		case gap && typed && (!c.used[j] || values == nil):
			row[j] = ""
		case gap && !c.used[j] && row[j] == "" && !columns[j].Kind.Numeric():
			row[j] = mark
		case typed && columns[j].Kind.Numeric() && c.sheet.decimal == ',':
			row[j] = strings.Replace(row[j], ",", ".", 1)
		}
	}
	return row
}

// In a carried column of a file with nulls, marks are ordinary text.
func (c *Cells) missing(i, j int) bool {
	if c.sheet.rowwise && !c.used[j] {
		return c.Rows[i][j] == ""
	}
	return c.marks.missing(c.Rows[i][j])
}

// mark returns the most frequent nonempty mark of missing text cells, else NA.
func (c *Cells) mark() string {
	if c.sheet.rowwise {
		return "NA"
	}
	count := map[string]int{}
	for i, row := range c.Rows {
		for j, cell := range row {
			if cell != "" && c.missing(i, j) {
				count[cell]++
			}
		}
	}
	most := "NA"
	for _, mark := range c.marks.marks() {
		if count[mark] > count[most] {
			most = mark
		}
	}
	return most
}

// A whole-number column becomes decimal if imputed values are not whole.
func (c *Cells) kinds(values []float64, draws int) ([]format.Column, error) {
	columns := make([]format.Column, len(c.Header))
	for j, name := range c.Header {
		columns[j] = format.Column{Name: name, Kind: c.kindOf(j)}
		if columns[j].Kind == format.Nothing {
			return nil, fmt.Errorf("%s: column %q holds lists or structures, which cannot be written; leave it out of the file", c.sheet.file, name)
		}
	}
	for a, j := range c.Columns {
		if Coded(c.Table, a) != nil {
			continue
		}
		for i := range c.Rows {
			for k := i * draws; k < (i+1)*draws && !c.Table.Observed[i*c.Table.D+a]; k++ {
				if !columns[j].Kind.Keeps(format.Number(values[k*c.Table.D+a] + 0)) {
					columns[j].Kind = format.Numbers
				}
			}
		}
	}
	return columns, nil
}

func (c *Cells) kindOf(j int) format.Kind {
	a := slices.Index(c.Columns, j)
	numbers := a >= 0 && Coded(c.Table, a) == nil
	own := c.sheet.kinds[j].Kind
	kinds, otherwise := []format.Kind{own}, format.Text
	switch {
	case own == format.Nothing:
		return own
	case c.marks.styles[c.Header[j]] != nil:
		return format.Text
	case numbers && !own.Numeric():
		kinds, otherwise = []format.Kind{format.Whole}, format.Numbers
	case numbers:
		otherwise = format.Numbers
	case own == format.Mixed:
		kinds = []format.Kind{format.Whole, format.Unsigned, format.Numbers}
		if c.sheet.format != nil {
			otherwise = format.Mixed
		}
	}
	for _, k := range kinds {
		if some, all := c.keep(j, k, own == format.Mixed); all && (some || own != format.Mixed) {
			return k
		}
	}
	return otherwise
}

// keep reports whether column j has cells and whether kind k reproduces all of them. With codes,
// different cells must also be different numbers (1.2 and 1.20 are not).
func (c *Cells) keep(j int, k format.Kind, codes bool) (some, all bool) {
	texts := map[float64]string{}
	for i, row := range c.Rows {
		if c.missing(i, j) {
			continue
		}
		some = true
		cell := row[j]
		if c.sheet.decimal == ',' && k.Numeric() {
			cell = strings.Replace(cell, ",", ".", 1)
		}
		if !k.Keeps(cell) {
			return some, false
		}
		if k == format.Numbers && codes {
			x, _ := strconv.ParseFloat(cell, 64)
			if first, ok := texts[x]; ok && first != cell {
				return some, false
			}
			texts[x] = cell
		}
	}
	return some, true
}

// WriteNumbers writes numbers (n, columns) below a header; NaN is a missing cell.
func WriteNumbers(put Put, path string, header []string, values []float64) error {
	return WriteLevels(put, path, header, make([][]string, len(header)), values)
}

// WriteLevels does the work of WriteNumbers; levels[j] lists the texts of the codes 0, 1, … of
// column j, nil for numbers.
func WriteLevels(put Put, path string, header []string, levels [][]string, values []float64) error {
	columns := make([]format.Column, len(header))
	for j, name := range header {
		columns[j] = format.Column{Name: name, Kind: format.Numbers}
		if levels[j] != nil {
			columns[j].Kind = format.Text
		}
	}
	return writeRows(put, path, nil, columns, numberRows(levels, values, nil))
}

// numberRows writes values (n, d), empty where NaN or not observed.
func numberRows(levels [][]string, values []float64, observed []bool) func(write func([]string) error) error {
	return func(write func([]string) error) error {
		row, d := make([]string, len(levels)), len(levels)
		for k, x := range values {
			j := k % d
			switch {
			case x != x, observed != nil && !observed[k]:
				row[j] = ""
			case levels[j] != nil:
				row[j] = levels[j][int(x)]
			default:
				row[j] = format.Number(x)
			}
			if j < d-1 {
				continue
			}
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	}
}
