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

// ReadPrecision reads what WritePrecision wrote; a path that ends in .gz is
// decompressed. With names, row and column j of the result belong to names[j],
// whatever their order in the file; columns not asked for are left out, and the
// rest is then the precision given those left out, not of the rest alone.
//
// It fails, naming line and column, if a cell is not a finite number, the matrix
// is not square or not symmetric (1e-8 of the entry or of √(P_jj P_kk)), a name is empty or occurs
// twice, or a name asked for is absent.
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

// square is a symmetric table: value[j][k] is row j, column k.
type square struct {
	header []string
	column map[string]int
	value  [][]float64
}

// readSquare reads a header and as many rows as it has names, and checks that they are
// symmetric.
func readSquare(path string, r io.Reader) (*square, error) {
	s := squareReader{path: path, csv: csv.NewReader(r)}
	s.csv.FieldsPerRecord = -1
	t, err := s.header()
	if err != nil {
		return nil, err
	}
	lines, err := s.rows(t)
	if err != nil {
		return nil, err
	}
	if d := len(t.header); len(t.value) != d {
		return nil, fmt.Errorf("%s: not square: %d rows, the header has %d names", path, len(t.value), d)
	}
	return t, t.symmetric(path, lines)
}

// squareReader reads the records of a square. Its errors name file and line.
type squareReader struct {
	path string
	csv  *csv.Reader
}

// next is the next record; at the end the error is io.EOF itself.
func (s *squareReader) next() ([]string, error) {
	record, err := s.csv.Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("%s:%d: %w", s.path, parse.Line, parse.Err)
	}
	return record, err
}

// header starts a square with its names, which must be there and differ.
func (s *squareReader) header() (*square, error) {
	header, err := s.next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty", s.path)
	} else if err != nil {
		return nil, err
	}
	t := &square{header: header, column: make(map[string]int, len(header))}
	for k, name := range header {
		if name == "" {
			return nil, fmt.Errorf("%s:1: column %d has no name (from R, write with row.names = FALSE)", s.path, k+1)
		}
		if j, twice := t.column[name]; twice {
			return nil, fmt.Errorf("%s:1: columns %d and %d are both named %q", s.path, j+1, k+1, printable.Cell(name))
		}
		t.column[name] = k
	}
	return t, nil
}

// rows reads the values of t, at most as many rows as it has names, and gives their lines.
func (s *squareReader) rows(t *square) (lines []int, err error) {
	d := len(t.header)
	lines = make([]int, 0, d)
	for {
		record, err := s.next()
		if err == io.EOF {
			return lines, nil
		} else if err != nil {
			return nil, err
		}
		line, _ := s.csv.FieldPos(0)
		if len(record) != d || len(t.value) == d {
			return nil, fmt.Errorf("%s:%d: not square: row %d has %d cells, the header has %d names", s.path, line, len(t.value)+1, len(record), d)
		}
		row, err := s.numbers(record, t.header)
		if err != nil {
			return nil, err
		}
		t.value, lines = append(t.value, row), append(lines, line)
	}
}

// numbers are the cells of the record read last, all finite.
func (s *squareReader) numbers(record, header []string) ([]float64, error) {
	row := make([]float64, len(record))
	for k, cell := range record {
		v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			line, _ := s.csv.FieldPos(k)
			return nil, fmt.Errorf("%s:%d: column %q: %q is not a finite number", s.path, line, printable.Cell(header[k]), printable.Cell(cell))
		}
		row[k] = v
	}
	return row, nil
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
