// Package harness runs experiments: their cells into folders of results, whole, in shards,
// or one at a time, and goes on where a run was stopped.
package harness

import (
	"encoding/json"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/markdown"
)

// Experiment is a grid of cells, the pictures and tables of their results, and the sentences
// that they test: the paper's, or those of this project's own documents. Each is a package
// in a folder of its own, and a line in package reproduce's list.
type Experiment struct {
	Name   string // as in "missingscore reproduce NAME"
	Title  string
	Source string // section and figure of the paper, or the document that it is of
	// Settings is its config.json, embedded: {"full": {…}, "smoke": {…}}. Every setting
	// is written out; "ours" lists those that the paper does not state.
	Settings []byte

	// Grid gives the cells for settings of one size and a number of replicates. Keys
	// are setting columns, then replicate, then method. But for the columns that the grid
	// names as Clock, the same seed gives the same line anywhere. The data that cells read
	// need not be here.
	Grid func(settings json.RawMessage, replicates int) (cells.Grid, error)
	// Figures draws what has been run; nil: none. Cells may be missing.
	Figures func(settings json.RawMessage, r cells.Results) ([]figures.Figure, error)
	// Tables are those of README.md and of the report; nil: none. Cells may be missing.
	Tables func(settings json.RawMessage, r cells.Results) ([]markdown.Table, error)
	Claims []claims.Claim
}

// SettingsOf gives the settings of a size, "full" or "smoke", as Grid takes them.
func (e Experiment) SettingsOf(size string) (json.RawMessage, error) {
	m, err := newManifest(e, Options{Smoke: size == "smoke"})
	return m.Settings, err
}
