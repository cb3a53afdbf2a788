package data

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"missingscore/internal/atomicfile"
)

// Cells is a table's file as text, with some of its columns as numbers.
type Cells struct {
	Header  []string
	Rows    [][]string // as in the file, but for space around cells
	Columns []int      // places of the table's columns
	Table   *Table     // one row for each of Rows, also where no cell has a value
	Comma   rune
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
			return nil, fmt.Errorf("%s:%d: no column %q, which the model needs; there are: %s", path, s.top, name, listing(s.header))
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
	if o.Comma == 0 {
		o.Comma = ','
	}
	return &Cells{Header: s.header, Rows: s.rows, Columns: columns, Table: t, Comma: o.Comma}, nil
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

// WriteCompleted writes the cells with the table's gaps filled from values, which hold
// draws of each row (n·draws, d): one draw as the same table, several one after the other
// below two more columns, .imp for the draw and .id from 1 for the row. .imp = 0 are the
// rows as they were, NA in each gap, as as.mids of R's mice wants its long format. What
// was there stays as it was read. A name in .gz is compressed.
func (c *Cells) WriteCompleted(path string, values []float64, draws int) error {
	return writeRows(path, c.Comma, func(write func([]string) error) error {
		header := c.Header
		if draws > 1 {
			header = slices.Concat(longColumns, header)
		}
		if err := write(header); err != nil {
			return err
		}
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
			row[j] = format(values[a])
		}
	}
	return row
}

// WriteNumbers writes numbers (n, columns) below a header, NaN as empty cells. A name
// in .gz is compressed.
func WriteNumbers(path string, header []string, values []float64) error {
	return writeRows(path, ',', func(write func([]string) error) error {
		if err := write(header); err != nil {
			return err
		}
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

// writeRows writes a file, whole or not at all.
func writeRows(path string, comma rune, fill func(write func([]string) error) error) error {
	return atomicfile.Write(path, func(w io.Writer) (err error) {
		if strings.HasSuffix(path, ".gz") {
			z := gzip.NewWriter(w)
			defer func() {
				if closing := z.Close(); err == nil {
					err = closing
				}
			}()
			w = z
		}
		out := csv.NewWriter(w)
		out.Comma = comma
		if err := fill(out.Write); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	})
}
