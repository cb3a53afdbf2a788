// Package harness runs experiments: their cells into folders of results, whole, in shards,
// or one at a time, and goes on where a run was stopped.
package harness

import (
	"encoding/json"

	"missingscore/benchmarks/cells"
)

// Experiment is a grid of cells under a name. Its package has its settings and its grid; the
// program lists it.
type Experiment struct {
	Name   string // as in "run NAME"
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
}

// SettingsOf gives the settings of a size, "full" or "smoke", as Grid takes them.
func (e Experiment) SettingsOf(size string) (json.RawMessage, error) {
	m, err := newManifest(e, Options{Smoke: size == "smoke"})
	return m.Settings, err
}
