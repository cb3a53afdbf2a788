package data

// Counted says of a table that its rows were made from the moments of others (data/moments),
// and stand for them. Values are standardised.
type Counted struct {
	Rows      int       // for how many rows the table's stand
	Counts    []float64 // (N) how often each row of the table counts
	Scale     Scale     // in which Values are given
	Own       []int     // (d) rows that have each column
	Low, High []float64 // (d) least and greatest value of each column, in its own units
	Pairs     *Pairs    // of a table without rows; else nil
}

// Pairs are sums over the rows that have both columns of a pair, (d, d) and symmetric.
type Pairs struct {
	Cross  []float64 // Σ z_j z_k, standardised
	Number []float64
}

// RowCount is for how many rows the table's stand: N, where they are neither counted nor a sample.
func (t *Table) RowCount() int {
	switch {
	case t.Counted != nil:
		return t.Counted.Rows
	case t.Sampled != nil:
		return t.Sampled.Rows
	}
	return t.N
}

// ObservedIn is the number of rows that have column j.
func (t *Table) ObservedIn(j int) (n int) {
	switch {
	case t.Counted != nil:
		return t.Counted.Own[j]
	case t.Sampled != nil:
		return t.Sampled.Own[j]
	}
	for k := j; k < len(t.Observed); k += t.D {
		if t.Observed[k] {
			n++
		}
	}
	return n
}

// Count is how often row i counts.
func (t *Table) Count(i int) float64 {
	if t.Counted != nil {
		return t.Counted.Counts[i]
	}
	return 1
}

// missing is the number of missing cells of the rows for which the table's stand.
func (c *Counted) missing() (cells int) {
	for _, own := range c.Own {
		cells += c.Rows - own
	}
	return cells
}

// LargestValue is up to what size an observed cell may be.
const LargestValue = largest

// SmallestDeviation is that of a column which can be standardised.
const SmallestDeviation = smallest

// CheckNames refuses columns' names that are empty, equal or hold control characters, and none.
func CheckNames(names []string) error { return checkNames(names) }
