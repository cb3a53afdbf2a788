package network

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// WritePrecision writes p, shape (d, d), as CSV: a header with the d names,
// then d rows. It fails if sizes differ.
func WritePrecision(w io.Writer, names []string, p mat.Symmetric) error {
	d := p.SymmetricDim()
	if len(names) != d {
		return fmt.Errorf("network: %d names for a precision of size %d", len(names), d)
	}
	c := csv.NewWriter(w)
	c.Write(names)
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

// ReadPrecision reads what WritePrecision wrote; a path that ends in .gz is
// decompressed. With names, row and column j of the result belong to names[j],
// whatever their order in the file; columns not asked for are left out, and the
// rest is then the precision given those left out, not of the rest alone.
//
// It fails, naming line and column, if a cell is not a finite number, the matrix
// is not square or not symmetric (1e-8 of the entry or of √(P_jj P_kk)), a name is empty or occurs
// twice, or a name asked for is absent.
func ReadPrecision(path string, names []string) (*mat.SymDense, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	t, err := readSquare(path, r)
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

// square is a symmetric table: value[j][k] is row j, column k.
type square struct {
	header []string
	column map[string]int
	value  [][]float64
}

func readSquare(path string, r io.Reader) (*square, error) {
	text := bufio.NewReader(r)
	// Spreadsheets put a byte order mark before the first name.
	if mark, _ := text.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		text.Discard(3)
	}
	c := csv.NewReader(text)
	c.FieldsPerRecord = -1
	next := func() ([]string, error) {
		record, err := c.Read()
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			return nil, fmt.Errorf("%s:%d: %w", path, parse.Line, parse.Err)
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return record, err
	}

	header, err := next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty", path)
	} else if err != nil {
		return nil, err
	}
	t := &square{header: header, column: make(map[string]int, len(header))}
	for k, name := range header {
		if name == "" {
			return nil, fmt.Errorf("%s:1: column %d has no name (from R, write with row.names = FALSE)", path, k+1)
		}
		if j, twice := t.column[name]; twice {
			return nil, fmt.Errorf("%s:1: columns %d and %d are both named %q", path, j+1, k+1, name)
		}
		t.column[name] = k
	}

	d := len(header)
	lines := make([]int, 0, d)
	for {
		record, err := next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		if len(record) != d || len(t.value) == d {
			return nil, fmt.Errorf("%s:%d: not square: row %d has %d cells, the header has %d names", path, line, len(t.value)+1, len(record), d)
		}
		row := make([]float64, d)
		for k, cell := range record {
			row[k], err = strconv.ParseFloat(strings.TrimSpace(cell), 64)
			if err != nil || math.IsNaN(row[k]) || math.IsInf(row[k], 0) {
				line, _ := c.FieldPos(k)
				return nil, fmt.Errorf("%s:%d: column %q: %q is not a finite number", path, line, header[k], cell)
			}
		}
		t.value, lines = append(t.value, row), append(lines, line)
	}
	if len(t.value) != d {
		return nil, fmt.Errorf("%s: not square: %d rows, the header has %d names", path, len(t.value), d)
	}
	for j := range d {
		for k := range j {
			low, up := t.value[j][k], t.value[k][j]
			// An inverse computed elsewhere has rounding noise where the truth is 0, hence the diagonal.
			scale := math.Sqrt(math.Abs(t.value[j][j] * t.value[k][k]))
			if math.Abs(low-up) > 1e-8*max(math.Abs(low), math.Abs(up), scale) {
				return nil, fmt.Errorf("%s:%d: column %q: not symmetric: %v here, %v in line %d, column %q",
					path, lines[j], header[k], low, up, lines[k], header[j])
			}
		}
	}
	return t, nil
}
