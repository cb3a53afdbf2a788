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

// ReadPrecision reads what WritePrecision wrote; the file may be in any format and with any
// separator that data.ReadFile knows. With names, row and column j of the result belong to
// names[j]. Omitted columns are conditioned on, not marginalised out.
//
// It fails, naming line and column, if a cell is not finite, the matrix is not square or not
// symmetric (relative to the entry or √(P_jj P_kk), tolerance 1e-8), a name is empty or repeated,
// or a requested name is absent.
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

// nearly reports whether two elements are equal up to rounding, relative to their size or the
// diagonal's: computed inverses have noise where the truth is 0.
func nearly(low, up, a, b float64) bool {
	return math.Abs(low-up) <= 1e-8*max(math.Abs(low), math.Abs(up), math.Sqrt(math.Abs(a))*math.Sqrt(math.Abs(b)))
}
