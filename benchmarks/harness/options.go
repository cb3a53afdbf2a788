package harness

// Options of a run. Zero values mean the defaults named here.
type Options struct {
	Out        string
	Smoke      bool   // the small settings
	Replicates int    // those of the settings
	Shard      int    // this one, from 1 …
	Shards     int    // … of so many; 0: all cells
	Workers    int    // cells at a time; the processors
	Config     []byte // in place of the experiment's own settings: {"full": …, "smoke": …}
	Cell       string // only this one, its key joined by commas

	Progress func(experiment string, done, total int)
	Failed   func(Failure)
	Skipped  func(experiment string, why error) // all of it, or some cells: what they need is not here
	Note     func(experiment, note string)      // before its cells
}

// Failure is a cell that failed.
type Failure struct {
	Experiment string
	Cell       string // as Options.Cell takes it
	Replicate  string
	Err        error
}
