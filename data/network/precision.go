package network

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/printable"
)

// WritePrecision writes p, shape (d, d), as CSV: a header with the d names,
// then d rows. It fails if sizes differ.
func WritePrecision(w io.Writer, names []string, p mat.Symmetric) error {
	d := p.SymmetricDim()
	if len(names) != d {
		return fmt.Errorf("network: %d names for a precision of size %d", len(names), d)
	}
	c := csv.NewWriter(w)
	c.Write(printable.Texts(names))
	row := make([]string, d)
	for j := range d {
		for k := range row {
			row[k] = number(p.At(j, k))
		}
		c.Write(row)
	}
	c.Flush()
	return c.Error()
}

// ReadPrecision reads what WritePrecision wrote; a path that ends in .gz is decompressed. With names, row and
// column j of the result belong to names[j], whatever their order in the file; columns not asked for are left
// out, and the rest is then the precision given those left out, not of the rest alone.
//
// It fails, naming line and column, if a cell is not a finite number, the matrix is not square or not symmetric
// (1e-8 of the entry or of √(P_jj P_kk)), a name is empty or occurs twice, or a name asked for is absent.
func ReadPrecision(path string, names []string) (*mat.SymDense, error) {
	f, err := data.OpenText(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := readSquare(path, f)
	if err != nil {
		return nil, err
	}
	if names == nil {
		names = t.header
	}
	at := make([]int, len(names))
	var absent []string
	for j, name := range names {
		k, ok := t.column[name]
		if !ok {
			k, ok = t.column[printable.Text(name)]
		}
		if !ok {
			absent = append(absent, strconv.Quote(name))
		}
		at[j] = k
	}
	if absent != nil {
		return nil, fmt.Errorf("%s: no column named %s", path, strings.Join(absent, ", "))
	}
	p := mat.NewSymDense(len(names), nil)
	for j := range names {
		for k := j; k < len(names); k++ {
			p.SetSym(j, k, t.value[at[j]][at[k]])
		}
	}
	return p, nil
}

type square struct {
	header []string
	column map[string]int
	value  [][]float64
}

// readSquare reads a header and as many rows as it has names, and checks that they are
// symmetric. Errors name file and line.
func readSquare(path string, r io.Reader) (*square, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	t := &square{column: map[string]int{}}
	var lines []int
	for {
		record, err := in.Read()
		var parse *csv.ParseError
		switch {
		case err == io.EOF && t.header == nil:
			return nil, fmt.Errorf("%s: the file is empty", path)
		case err == io.EOF && len(t.value) != len(t.header):
			return nil, fmt.Errorf("%s: not square: %d rows, the header has %d names", path, len(t.value), len(t.header))
		case err == io.EOF:
			return t, t.symmetric(path, lines)
		case errors.As(err, &parse):
			return nil, fmt.Errorf("%s:%d: %w", path, parse.Line, parse.Err)
		case err != nil:
			return nil, err
		}
		line, _ := in.FieldPos(0)
		if t.header == nil {
			if err := t.names(path, record); err != nil {
				return nil, err
			}
			continue
		}
		if d := len(t.header); len(record) != d || len(t.value) == d {
			return nil, fmt.Errorf("%s:%d: not square: row %d has %d cells, the header has %d names", path, line, len(t.value)+1, len(record), d)
		}
		row := make([]float64, len(record))
		for k, cell := range record {
			if row[k], err = strconv.ParseFloat(strings.TrimSpace(cell), 64); err != nil || math.IsNaN(row[k]) || math.IsInf(row[k], 0) {
				line, _ := in.FieldPos(k)
				return nil, fmt.Errorf("%s:%d: column %q: %q is not a finite number", path, line, printable.Cell(t.header[k]), printable.Cell(cell))
			}
		}
		t.value, lines = append(t.value, row), append(lines, line)
	}
}

// names takes the header, whose names must be there and differ.
func (t *square) names(path string, header []string) error {
	for k, name := range header {
		if name == "" {
			return fmt.Errorf("%s:1: column %d has no name (from R, write with row.names = FALSE)", path, k+1)
		}
		if j, twice := t.column[name]; twice {
			return fmt.Errorf("%s:1: columns %d and %d are both named %q", path, j+1, k+1, printable.Cell(name))
		}
		t.column[name] = k
	}
	t.header = header
	return nil
}

// symmetric says where t is not symmetric, or nil.
func (t *square) symmetric(path string, lines []int) error {
	for j := range t.value {
		for k := range j {
			low, up := t.value[j][k], t.value[k][j]
			// An inverse computed elsewhere has rounding noise where the truth is 0, hence the diagonal.
			scale := math.Sqrt(math.Abs(t.value[j][j])) * math.Sqrt(math.Abs(t.value[k][k]))
			if math.Abs(low-up) > 1e-8*max(math.Abs(low), math.Abs(up), scale) {
				return fmt.Errorf("%s:%d: column %q: not symmetric: %v here, %v in line %d, column %q",
					path, lines[j], t.header[k], low, up, lines[k], t.header[j])
			}
		}
	}
	return nil
}
