package network

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/printable"
)

// WritePrecision writes p, shape (d, d), as CSV below a header with the d names.
func WritePrecision(w io.Writer, names []string, p mat.Symmetric) error {
	d := p.SymmetricDim()
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

// ReadPrecision reads the file of WritePrecision in any format of data.ReadFile. With names, row
// and column j of the result belong to names[j]; omitted columns are conditioned on, not
// marginalised out. It fails at a cell that is not finite, if the matrix is not square or not
// symmetric (tolerance 1e-8), and for names that are empty, repeated or absent.
func ReadPrecision(path string, names []string) (*mat.SymDense, error) {
	c, err := data.ReadCells(path, data.ReadOptions{})
	if err != nil {
		return nil, err
	}
	if err := data.CheckNames(c.Header); err != nil {
		return nil, fmt.Errorf("%s: %w (from R, write with row.names = FALSE)", path, err)
	}
	d := len(c.Header)
	if len(c.Rows) != d {
		return nil, fmt.Errorf("%s: not square: %d rows, the header has %d names", path, len(c.Rows), d)
	}
	values := mat.NewDense(d, d, nil)
	for j, row := range c.Rows {
		for k, cell := range row {
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("%s:%d: column %q: %q is not a finite number",
					path, c.Table.Lines[j], printable.Cell(c.Header[k]), printable.Cell(cell))
			}
			values.Set(j, k, x)
		}
	}
	for j := range d {
		for k := range j {
			if low, up := values.At(j, k), values.At(k, j); !nearly(low, up, values.At(j, j), values.At(k, k)) {
				return nil, fmt.Errorf("%s:%d: column %q: not symmetric: %v here, %v in line %d, column %q",
					path, c.Table.Lines[j], c.Header[k], low, up, c.Table.Lines[k], c.Header[j])
			}
		}
	}
	if names == nil {
		names = c.Header
	}
	at, absent := make([]int, len(names)), []string(nil)
	for j, name := range names {
		at[j] = slices.IndexFunc(c.Header, func(h string) bool {
			return h == name || h == strings.TrimSpace(printable.Text(name))
		})
		if at[j] < 0 {
			absent = append(absent, strconv.Quote(name))
		}
	}
	if absent != nil {
		return nil, fmt.Errorf("%s: no column named %s", path, strings.Join(absent, ", "))
	}
	p := mat.NewSymDense(len(names), nil)
	for j := range names {
		for k := j; k < len(names); k++ {
			p.SetSym(j, k, values.At(at[j], at[k]))
		}
	}
	return p, nil
}

// nearly reports whether two elements are equal up to rounding: computed inverses have noise at 0.
func nearly(low, up, a, b float64) bool {
	return math.Abs(low-up) <= 1e-8*max(math.Abs(low), math.Abs(up), math.Sqrt(math.Abs(a))*math.Sqrt(math.Abs(b)))
}
