package data

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
