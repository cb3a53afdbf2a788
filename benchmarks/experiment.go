package benchmarks

import (
	"encoding/json"
	"errors"

	"gonum.org/v1/plot"
)

// ErrAbsent says that data which an experiment needs is not on this computer: others
// that are asked for along with it run without it.
var ErrAbsent = errors.New("the table is not here")

// Experiment is one of the paper's: a grid of cells, the pictures of their
// results, and the sentences of the paper that they test. Each is a package in a
// folder of its own, and a line in package reproduce's list.
type Experiment struct {
	Name   string // as in "missingscore reproduce NAME"
	Title  string
	Source string // section and figure of the paper
	// Settings is its config.json, embedded: {"full": {…}, "smoke": {…}}. Every setting
	// is written out; "ours" lists those that the paper does not state.
	Settings []byte

	// Grid gives the cells for settings of one size and a number of replicates. Keys
	// are setting columns, then replicate, then method. A cell's line has no clock in
	// it: the same seed gives the same line anywhere. The data that cells read need not be here.
	Grid func(settings json.RawMessage, replicates int) (Grid, error)
	// Figures draws what has been run; cells may be missing.
	Figures func(settings json.RawMessage, r Results) ([]Figure, error)
	Claims  []Claim
}

// Grid is what an experiment runs: one line of Key and Value columns for each cell.
type Grid struct {
	Key, Value []string // column names
	Cells      []Cell
	Present    func() error // ErrAbsent where data that the cells read is not here; may be nil
	Notes      []string     // what the user should know, as how data differ from the paper's
}

// Results are the lines of the finished cells, in the order of the grid.
type Results struct {
	Columns []string
	Lines   [][]string
}

// Figure is a picture with its caption.
type Figure struct {
	Name, Caption string // of the file, without suffix; of the report
	Plot          *plot.Plot
	Width, Height float64 // centimetres
}

// Claim is a sentence of the paper that states an outcome, with its test.
type Claim struct {
	ID    string
	Quote string // the paper's words
	Where string // section of the paper
	Test  func(r Results) (Verdict, error)
}

// Outcome of a claim.
type Outcome string

const (
	Holds       Outcome = "holds"
	DoesNotHold Outcome = "does not hold"
	Undecided   Outcome = "undecided"
)

// Verdict is what the cells run say about a claim: the effect that decides, paired
// over replicates, with its 95 % interval.
type Verdict struct {
	Outcome           Outcome
	Measure           string // what the effect is, in words, and its unit
	Effect, Low, High float64
	Replicates        int
	Evidence          string // one or two sentences: numbers per method, and why where it fails
}
