package data

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"missingscore/internal/printable"
)

// Kind says what the cells of a column are.
type Kind string

// Kinds of columns. The first five can be modelled; the others are left out of a model.
const (
	Number     Kind = "number"     // decimal numbers
	Whole      Kind = "whole"      // whole numbers
	Ordered    Kind = "ordered"    // levels in an order
	Binary     Kind = "binary"     // two levels
	Nominal    Kind = "nominal"    // 3 to MostLevels levels without an order
	Date       Kind = "date"       // dates or times; a number where Kinds say so
	Identifier Kind = "identifier" // a name or number of the row
	FreeText   Kind = "text"       // texts with too many different values for levels
	Constant   Kind = "constant"   // one value
	Empty      Kind = "empty"      // no value
)

// MostLevels is how many levels a nominal column can have.
const MostLevels = 50

// Usable says whether a model can have columns of the kind.
func (k Kind) Usable() bool {
	switch k {
	case Number, Whole, Ordered, Binary, Nominal:
		return true
	}
	return false
}

// Column is one column of a file: what it holds, and why it is left out if it is.
type Column struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Levels  []string `json:"levels,omitempty"`   // as the file writes them, in the order of their codes; nil for numbers
	Counts  []int    `json:"counts,omitempty"`   // rows that have each level
	LeftOut string   `json:"left_out,omitempty"` // why the table does not have the column; "" if it does
	Finding string   `json:"finding,omitempty"`  // of a column of texts that hold numbers: how many cells, two of them with their numbers, and the flag; LeftOut if the flag alone does not read it

	Distinct int `json:"distinct,omitempty"` // different values of a column of texts, or of an identifier
	Missing  int `json:"missing,omitempty"`  // rows of the file without a value

	Place int    `json:"-"` // among the columns of the file that were asked for
	where string // file and line that give the kind; "" if it is detected
}

// ReadKinds reads kinds of columns: a table with the columns column, kind and levels, in a format that
// ReadFile knows. Levels are listed as in a line of CSV, in their order; an empty cell has them
// detected. Errors name file and line.
func ReadKinds(path string) (map[string]Column, error) {
	s, err := openSheet(path, ReadOptions{})
	if err != nil {
		return nil, err
	}
	if len(s.header) < 2 || s.header[0] != "column" || s.header[1] != "kind" || len(s.header) == 3 && s.header[2] != "levels" || len(s.header) > 3 {
		return nil, fmt.Errorf("%s: the columns column, kind and levels are expected, and there are: %s", path, listing(s.header))
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
				return nil, fmt.Errorf("%s: column %q: its levels cannot be read; they are listed as a,b,c, a level with a comma in quotation marks", c.where, printable.Cell(c.Name))
			}
			if len(newTexts(c.Levels, s.dialect).names) < len(c.Levels) || len(c.Levels) < 2 || len(c.Levels) > MostLevels || c.Kind == Binary && len(c.Levels) != 2 {
				return nil, fmt.Errorf("%s: column %q: %d levels are listed; 2 to %d different ones are expected, and 2 of a binary column", c.where, printable.Cell(c.Name), len(c.Levels), MostLevels)
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

// WriteKinds writes the kinds of columns as ReadKinds reads them.
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

// Coded are the names of the levels of column j, which an observed cell's value numbers from 0; nil
// if the column holds numbers.
func Coded(t *Table, j int) []string {
	if t.Levels == nil {
		return nil
	}
	return t.Levels[j]
}

// KindOf is the kind of column j. Without Kinds every column is of numbers.
func KindOf(t *Table, j int) Kind {
	if t.Kinds == nil {
		return Number
	}
	return t.Kinds[j]
}

// Block is a run of adjacent columns that stand for one: the K − 1 utilities of a nominal column with
// K levels (docs/theory/ordinal.md). The observed cells of all of them hold the row's level, from 0.
type Block struct {
	Name   string
	First  int      // place of its first column
	Width  int      // K − 1, or 1
	Levels []string // nil for numbers
}
