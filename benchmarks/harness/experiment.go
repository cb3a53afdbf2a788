// Package harness runs the cells of experiments, whole, in shards or one at a time, and stores
// finished cells so that an interrupted run continues.
package harness

import (
	"encoding/json"
	"io"

	"missingscore/benchmarks/cells"
)

// Experiment is a named grid of cells.
type Experiment struct {
	Name     string // as in "run NAME"
	Title    string
	Source   string // section and figure of the paper, or a page of this project
	Settings []byte // {"full": {…}, "smoke": {…}}; "ours" lists the settings that the paper does not state

	// Grid returns the cells for one size of settings. Key columns are the setting, then
	// replicate, then method. It does not read data files.
	Grid func(settings json.RawMessage, replicates int) (cells.Grid, error)
}

// SettingsOf returns the settings of size "full" or "smoke".
func (e Experiment) SettingsOf(size string) (json.RawMessage, error) {
	m, err := newManifest(e, Options{Smoke: size == "smoke"})
	return m.Settings, err
}

// Options of a run.
type Options struct {
	Out        string
	Smoke      bool   // use the small settings
	Replicates int    // 0: as in the settings
	Shard      int    // from 1 to Shards
	Shards     int    // 0: all cells
	Workers    int    // concurrent cells; 0: number of processors
	Config     []byte // settings that replace the experiment's own; nil: none
	Cell       string // run only the cell with this key, joined by commas

	Progress func(experiment string, done, total int) // may be nil
	Log      io.Writer                                // failures, skipped cells and notes; nil: discarded
}
