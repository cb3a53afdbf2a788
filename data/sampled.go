package data

// Sampled says of a table that its rows were drawn from those of a file that is not held, and what
// is known of all of these. It is for what a large table is looked at for, as whether it is missing
// at random, and never for an estimate.
type Sampled struct {
	Rows     int    // of the file, that have a value
	Gaps     int    // of them, with a missing cell
	Own      []int  // (d) of them, that have each column
	Pairs    []int  // of them, that have both columns of each pair j < k: (0,1), (0,2), …
	Checksum string // of their observed cells
}

// PassRows is how many rows a pass over the table's rows has: those of the file, of a sample.
func (t *Table) PassRows() int {
	if t.Sampled != nil {
		return t.Sampled.Rows
	}
	return t.N
}
