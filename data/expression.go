package data

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"missingscore/internal/printable"
)

// Marks of the table in a series matrix file.
const (
	seriesBegin = "!series_matrix_table_begin"
	seriesEnd   = "!series_matrix_table_end"
)

// ReadExpression reads gene expressions, a row for each sample and a column for each
// gene, and keeps the genes observed in at least a share present of the samples. The
// file, decompressed if its name ends in .gz, is one of
//
//   - a series matrix of NCBI's GEO, known by its first character '!': lines
//     beginning with '!' are about the series; between !series_matrix_table_begin
//     and !series_matrix_table_end stands a table separated by tabs, genes in rows,
//     named in its first column "ID_REF", and samples in columns. It is transposed;
//   - a CSV with samples in rows and a header of genes, read by ReadCSV's rules.
//
// o.Columns chooses genes before present does. It refuses, by file and line, a
// series matrix that is cut short, a gene that comes twice, what is no number; and
// what NewTable refuses of the genes that are left.
func ReadExpression(path string, present float64, o ReadOptions) (*Table, error) {
	f, err := openInput(path, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var t *Table
	if first, _ := f.Peek(1); string(first) == "!" {
		t, err = readSeries(f, path, o)
	} else {
		t, err = ParseCSV(f, path, o)
	}
	if err != nil {
		return nil, err
	}
	dropped := t.Dropped
	if t, err = t.Present(present); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if t, err = t.usable(path); err != nil {
		return nil, err
	}
	t.Dropped += dropped
	return t, nil
}

// readSeries is the transposed table of a series matrix, with every gene chosen.
func readSeries(r io.Reader, file string, o ReadOptions) (*Table, error) {
	s, err := seriesSheet(r, file)
	if err != nil {
		return nil, err
	}
	if s.header[0] != "ID_REF" {
		return nil, fmt.Errorf("%s:%d: the first column is %q instead of \"ID_REF\"; download the series matrix once more", file, s.top, printable.Cell(s.header[0]))
	}
	place, genes := make(map[string]int, len(s.rows)), make([]string, len(s.rows))
	for i, row := range s.rows {
		if k, twice := place[row[0]]; twice {
			return nil, s.cellError(i, 0, fmt.Errorf("stands on line %d already", s.lines[k]), "keep one of the two")
		}
		place[row[0]], genes[i] = i, row[0]
	}
	all := genes
	if len(o.Columns) > 0 {
		if _, err := choose(genes, o.Columns); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		genes = o.Columns
	}
	if genes, err = o.without(genes, all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := checkNames(genes); err != nil {
		return nil, fmt.Errorf("%s: column \"ID_REF\": %w", file, err)
	}
	t := blank(genes, len(s.header)-1)
	for k, gene := range genes {
		i := place[gene]
		for j, cell := range s.rows[i][1:] {
			if o.missing(cell) {
				continue
			}
			x, err := s.number(cell)
			if err != nil {
				return nil, s.cellError(i, j+1, err, s.advice(o, cell, err))
			}
			t.set(j, k, x)
		}
	}
	return t, nil
}

// seriesSheet is the table between the marks, as it stands in the file.
func seriesSheet(r io.Reader, file string) (*sheet, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", file, err)
	}
	begin, line, found := lineOf(text, seriesBegin)
	if !found {
		return nil, fmt.Errorf("%s: no line %s; if this is a CSV, its first name must not begin with '!'", file, seriesBegin)
	}
	table := text[begin:]
	table = table[bytes.IndexByte(table, '\n')+1:]
	end, _, found := lineOf(table, seriesEnd)
	if !found {
		return nil, fmt.Errorf("%s: no line %s, the file is cut short; download it once more", file, seriesEnd)
	}
	numbered := append(bytes.Repeat([]byte("\n"), line), table[:end]...) // blank lines in place of what stands above
	return readSheet(bytes.NewReader(numbered), file, ReadOptions{Comma: '\t', Decimal: '.'})
}

// lineOf is where the line that consists of these words starts, and its number from 1.
func lineOf(text []byte, words string) (at, number int, found bool) {
	for line := range bytes.Lines(text) {
		number++
		if strings.TrimSpace(string(line)) == words {
			return at, number, true
		}
		at += len(line)
	}
	return 0, 0, false
}
