// Streaming writes a table that is larger than memory, a few rows at a time: rows of a chain of
// normal columns, of which some cells are hidden (benchmarks/streaming/README.md).
//
//	go run ./benchmarks/streaming -rows 6250000 -d 20 -missing 0.1 -out table.parquet
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"missingscore/internal/stream"
)

// setting is what is written.
type setting struct {
	rows, d int
	missing float64
	group   int // rows of a row group of Parquet
	out     string
}

func main() {
	var s setting
	flag.IntVar(&s.rows, "rows", 6_250_000, "rows")
	flag.IntVar(&s.d, "d", 20, "columns")
	flag.Float64Var(&s.missing, "missing", 0.1, "share of the cells that are missing")
	flag.IntVar(&s.group, "group", 1<<17, "rows of a row group of Parquet")
	flag.StringVar(&s.out, "out", "table.parquet", "file, of Parquet or in .csv")
	flag.Parse()
	if err := s.write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// correlation is that of a column with the next: the precision of a chain has −0.6/(1 − 0.6²) for
// neighbours and 0 for other pairs.
const correlation = 0.6

// row draws row number i, NaN in hidden cells, from a stream of its own.
func (s setting) row(i int, x []float64, from *stream.Stream) {
	rng := from.At(1, stream.Simulate, uint64(i))
	last := 0.0
	for j := range x {
		z := rng.NormFloat64()
		if j > 0 {
			z = correlation*last + math.Sqrt(1-correlation*correlation)*z
		}
		x[j], last = z, z
	}
	for j := range x {
		if rng.Float64() < s.missing {
			x[j] = math.NaN()
		}
	}
}

// write writes the table.
func (s setting) write() (err error) {
	file, err := os.Create(s.out)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	to := bufio.NewWriterSize(file, 1<<20)
	if strings.HasSuffix(s.out, ".csv") {
		err = s.csv(to)
	} else {
		err = s.parquet(to)
	}
	if err != nil {
		return err
	}
	return to.Flush()
}

func (s setting) csv(to io.Writer) error {
	var line []byte
	for j := range s.d {
		line = append(append(line, name(j)...), ',')
	}
	x, from := make([]float64, s.d), new(stream.Stream)
	for i := range s.rows {
		line[len(line)-1] = '\n'
		if _, err := to.Write(line); err != nil {
			return err
		}
		s.row(i, x, from)
		line = line[:0]
		for _, v := range x {
			if v == v {
				line = strconv.AppendFloat(line, v, 'g', -1, 64)
			}
			line = append(line, ',')
		}
	}
	line[len(line)-1] = '\n'
	_, err := to.Write(line)
	return err
}

func (s setting) parquet(to io.Writer) error {
	columns := parquet.Group{}
	for j := range s.d {
		columns[name(j)] = parquet.Compressed(parquet.Optional(parquet.Leaf(parquet.DoubleType)), &parquet.Snappy)
	}
	schema := parquet.NewSchema("table", columns)
	out := parquet.NewGenericWriter[any](to, schema)
	x, from := make([]float64, s.d), new(stream.Stream)
	row := make(parquet.Row, s.d)
	for i := range s.rows {
		s.row(i, x, from)
		for j, v := range x {
			if v == v {
				row[j] = parquet.DoubleValue(v).Level(0, 1, j)
			} else {
				row[j] = parquet.NullValue().Level(0, 0, j)
			}
		}
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
		if (i+1)%s.group == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// name of a column: a schema sorts its columns by name.
func name(j int) string { return fmt.Sprintf("x%05d", j+1) }
