package data

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"missingscore/internal/printable"
)

// Kind is the type of a column's cells.
type Kind string

// Kinds of columns. The first five can be modelled; the others are left out of a model.
const (
	Number     Kind = "number"     // decimal numbers
	Whole      Kind = "whole"      // whole numbers
	Ordered    Kind = "ordered"    // levels in an order
	Binary     Kind = "binary"     // two levels
	Nominal    Kind = "nominal"    // 3 to MostLevels levels without an order
	Date       Kind = "date"       // dates or times; a number if Kinds say so
	Identifier Kind = "identifier" // a name or number of the row
	FreeText   Kind = "text"       // text with too many distinct values for levels
	Constant   Kind = "constant"   // one value
	Empty      Kind = "empty"      // no value
)

// MostLevels is the maximum number of levels of a nominal column.
const MostLevels = 50

func (k Kind) usable() bool {
	switch k {
	case Number, Whole, Ordered, Binary, Nominal:
		return true
	}
	return false
}

// Column describes a column of a file and the reason if it is left out.
type Column struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Levels  []string `json:"levels,omitempty"`   // as the file writes them, in the order of their codes; nil for numbers
	Counts  []int    `json:"counts,omitempty"`   // rows that have each level
	LeftOut string   `json:"left_out,omitempty"` // why the table does not have the column; "" if it does
	Finding string   `json:"finding,omitempty"`  // of a column of texts that hold numbers: how many cells, two of them with their numbers, and the flag; LeftOut if the flag alone does not use it

	Distinct int `json:"distinct,omitempty"` // distinct values of a text column or an identifier
	Missing  int `json:"missing,omitempty"`  // rows of the file without a value

	Place int    `json:"-"` // among the requested columns of the file
	where string // file and line that set the kind; "" if detected
}

// ReadKinds reads kinds from a table with the columns column, kind and levels. Levels are a CSV
// line, in order; an empty cell means detected.
func ReadKinds(path string) (map[string]Column, error) {
	s, err := openSheet(path, ReadOptions{})
	if err != nil {
		return nil, err
	}
	if len(s.header) < 2 || s.header[0] != "column" || s.header[1] != "kind" || len(s.header) == 3 && s.header[2] != "levels" || len(s.header) > 3 {
		return nil, fmt.Errorf("%s: expected the columns column, kind and levels; found: %s", path, listing(s.header))
	}
	kinds := map[string]Column{}
	for i, row := range s.rows {
		c := Column{Name: row[0], Kind: Kind(row[1]), where: s.at(s.lines[i])}
		switch {
		case kinds[c.Name].where != "":
			return nil, fmt.Errorf("%s: column %q has a kind already (%s); keep one of the two", c.where, printable.Cell(c.Name), kinds[c.Name].where)
		case !slices.Contains(allKinds, c.Kind):
			return nil, fmt.Errorf("%s: column %q: there is no kind %q; kinds are: %s", c.where, printable.Cell(c.Name), printable.Cell(row[1]), kindNames())
		}
		if len(row) == 3 && row[2] != "" && c.Kind.hasLevels() {
			if c.Levels, err = csv.NewReader(strings.NewReader(row[2])).Read(); err != nil {
				return nil, fmt.Errorf("%s: column %q: its levels cannot be read; write a,b,c, with a level that has a comma in quotation marks", c.where, printable.Cell(c.Name))
			}
			if len(newTexts(c.Levels, s.dialect).names) < len(c.Levels) || len(c.Levels) < 2 || len(c.Levels) > MostLevels || c.Kind == Binary && len(c.Levels) != 2 {
				return nil, fmt.Errorf("%s: column %q: %d levels are listed; a column needs 2 to %d different levels, a binary one 2", c.where, printable.Cell(c.Name), len(c.Levels), MostLevels)
			}
		}
		kinds[c.Name] = c
	}
	return kinds, nil
}

var allKinds = []Kind{Number, Whole, Ordered, Binary, Nominal, Date, Identifier, FreeText, Constant, Empty}

func kindNames() string {
	var names []string
	for _, k := range allKinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// WriteKinds writes the format of ReadKinds.
func WriteKinds(w io.Writer, columns []Column) error {
	out := csv.NewWriter(w)
	out.Write([]string{"column", "kind", "levels"})
	for _, c := range columns {
		if c.Name == "" { // row names
			continue
		}
		levels := ""
		if c.Kind.hasLevels() {
			var line strings.Builder
			list := csv.NewWriter(&line)
			list.Write(c.Levels)
			list.Flush()
			levels = strings.TrimSuffix(line.String(), "\n")
		}
		out.Write([]string{c.Name, string(c.Kind), levels})
	}
	out.Flush()
	return out.Error()
}

// Coded returns the level names of column j; nil for a column of numbers.
func Coded(t *Table, j int) []string {
	if t.Levels == nil {
		return nil
	}
	return t.Levels[j]
}

// KindOf returns the kind of column j, Number if Kinds is nil.
func KindOf(t *Table, j int) Kind {
	if t.Kinds == nil {
		return Number
	}
	return t.Kinds[j]
}

// Block is a run of adjacent columns that encode one column: K − 1 utilities of a nominal column
// with K levels (docs/theory/ordinal.md). Their observed cells all hold the row's level, from 0.
type Block struct {
	Name   string
	First  int      // index of its first column
	Width  int      // K − 1, or 1
	Levels []string // nil for numbers
}
