package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Cells is a table's file as text, with some of its columns as numbers.
type Cells struct {
	Header  []string
	Rows    [][]string // as in the file, but for space around cells
	Columns []int      // places of the table's columns
	Table   *Table     // one row for each of Rows, also where no cell has a value

	sheet *sheet // that it was
	marks ReadOptions
}

// ReadCells reads the columns of a file that a model needs, o.Columns, by the rules of
// ReadCSV but for those that only estimating needs: a column may be constant or empty, and
// one row is enough. Other columns are not looked at.
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
	t := blank(slices.Clone(o.Columns), len(s.rows))
	t.Lines = s.lines
	for k, j := range columns {
		column, i, problem := s.parse(j, o)
		if problem != nil {
			return nil, s.cellError(i, j, problem, s.advice(o, s.rows[i][j], problem))
		}
		for i, x := range column.Values {
			if column.Observed[i] {
				t.set(i, k, x)
			}
		}
	}
	return &Cells{Header: s.header, Rows: s.rows, Columns: columns, Table: t, sheet: s, marks: o}, nil
}

// longColumns are those that R's mice knows draws and rows by.
var longColumns = []string{".imp", ".id"}

// CheckLong refuses cells that several draws of cannot be written: a column has the name of
// one that they need.
func (c *Cells) CheckLong() error {
	for _, name := range longColumns {
		if slices.Contains(c.Header, name) {
			return fmt.Errorf("there is a column %q already, which several draws need: rename it or leave it out, or make one draw", name)
		}
	}
	return nil
}

// WriteCompleted writes, by put, the cells with the table's gaps filled from values, which hold
// draws of each row (n·draws, d): one draw as the same table, several one after the other
// below two more columns, .imp for the draw and .id from 1 for the row. .imp = 0 are the
// rows as they were, NA in each gap, as as.mids of R's mice wants its long format. What
// was there stays as it was read. The file is of the format that its name says, or of the one
// that was read (WriteFormat).
func (c *Cells) WriteCompleted(put Put, path string, values []float64, draws int) error {
	columns, err := c.written(values, draws)
	if err != nil {
		return err
	}
	return writeRows(put, path, c.sheet, columns, func(write func([]string) error) error {
		if draws == 1 {
			return c.eachRow(func(i int) error { return write(c.completed(i, values[i*c.Table.D:])) })
		}
		for k := range draws + 1 {
			if err := c.eachRow(func(i int) error {
				row := c.incomplete(i)
				if k > 0 {
					row = c.completed(i, values[(i*draws+k-1)*c.Table.D:])
				}
				return write(slices.Concat([]string{fmt.Sprint(k), fmt.Sprint(i + 1)}, row))
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *Cells) eachRow(visit func(i int) error) error {
	for i := range c.Rows {
		if err := visit(i); err != nil {
			return err
		}
	}
	return nil
}

// incomplete are the cells of row i with NA in its gaps.
func (c *Cells) incomplete(i int) []string {
	row := slices.Clone(c.Rows[i])
	for a, j := range c.Columns {
		if !c.Table.Observed[i*c.Table.D+a] {
			row[j] = "NA"
		}
	}
	return row
}

// completed are the cells of row i with its gaps filled from values (d).
func (c *Cells) completed(i int, values []float64) []string {
	row := slices.Clone(c.Rows[i])
	for a, j := range c.Columns {
		if !c.Table.Observed[i*c.Table.D+a] {
			row[j] = c.sheet.dialect.format(values[a])
		}
	}
	return row
}

// written are the columns of the completed table: of the kind that they were, or that their cells
// are. Whole numbers whose gaps are filled by others are numbers.
func (c *Cells) written(values []float64, draws int) ([]column, error) {
	columns := make([]column, len(c.Header))
	for j, name := range c.Header {
		columns[j] = column{name, c.kindOf(j)}
		if columns[j].kind == asNothing {
			return nil, fmt.Errorf("%s: column %q holds lists or structures, which cannot be written; leave it out of the file", c.sheet.file, name)
		}
	}
	for a, j := range c.Columns {
		for i := range c.Rows {
			for k := i * draws; k < (i+1)*draws && !c.Table.Observed[i*c.Table.D+a]; k++ {
				x := values[k*c.Table.D+a]
				whole := x == math.Trunc(x) && math.Abs(x) < 1<<53
				if bit := x == 0 || x == 1; !whole || columns[j].kind == asBoolean && !bit {
					columns[j].kind = asNumbers
				}
			}
		}
	}
	if draws == 1 {
		return columns, nil
	}
	return slices.Concat([]column{{longColumns[0], asWhole}, {longColumns[1], asWhole}}, columns), nil
}

// kindOf column j, by its file or else by its cells.
func (c *Cells) kindOf(j int) kind {
	if c.sheet.kinds != nil && c.sheet.kinds[j].kind != asText {
		return c.sheet.kinds[j].kind
	}
	found, of := false, asWhole
	for _, row := range c.Rows {
		if c.marks.missing(row[j]) {
			continue
		}
		found = true
		if _, err := c.sheet.number(row[j]); err != nil {
			return asText
		}
		if _, err := strconv.ParseInt(row[j], 10, 64); err != nil {
			of = asNumbers
		}
	}
	if !found {
		return asText
	}
	return of
}

// WriteNumbers writes, by put, numbers (n, columns) below a header, NaN as missing cells, to a file of the
// format that its name says.
func WriteNumbers(put Put, path string, header []string, values []float64) error {
	columns := make([]column, len(header))
	for j, name := range header {
		columns[j] = column{name, asNumbers}
	}
	return writeRows(put, path, nil, columns, func(write func([]string) error) error {
		row := make([]string, len(header))
		for part := range slices.Chunk(values, len(header)) {
			for j, x := range part {
				row[j] = ""
				if x == x {
					row[j] = format(x)
				}
			}
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	})
}
