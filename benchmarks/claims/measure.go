// Package claims tests sentences that state an outcome on the results of experiments. The unit is a replicate: its numbers for two
// methods come from the same table with the same gaps, so methods are compared within
// it, the settings of a replicate are averaged first, and the t-interval is that of the
// replicates' averages. Replicates that lack a number of either method are left out and
// counted; if the method that a sentence favours diverged in one, the sentence does not
// hold on the strength of the others. Where a sentence needs k comparisons each interval
// has level 1 − 0.05/k (Bonferroni), so that a verdict is wrong with probability 0.05 at most.
package claims

// Measure is a number that methods are compared by: a value column, or the last
// epoch of one that runs along training.
type Measure struct {
	Column string
	Name   string // in words
	// Smaller is better, and methods are compared by the ratio of their numbers, or, if
	// Differences, by the difference; otherwise larger is better, and it is by the difference.
	Smaller     bool
	Differences bool
	Along       string            // the setting column that varies; "" for none
	Where       map[string]string // which lines: setting column → value
	Back        int               // so many places before the last epoch of the list
	Risk        float64           // that a verdict is wrong; 0 is 0.05
	// Margin is the ratio, or the difference, up to which there is said to be none; 0 is 1.1, or 0.02.
	Margin float64
}

// ratio tells whether methods are compared by it.
func (m Measure) ratio() bool { return m.Smaller && !m.Differences }

// share is the measure with its risk shared by k tests.
func (m Measure) share(k int) Measure {
	if m.Risk == 0 {
		m.Risk = 0.05
	}
	m.Risk /= float64(max(1, k))
	return m
}

// level of each of k intervals of which none may be wrong.
func (m Measure) level(k int) float64 { return 1 - m.share(k).Risk }

// With is the measure of lines whose column has the value, too.
func (m Measure) With(column, value string) Measure {
	where := map[string]string{column: value}
	for k, v := range m.Where {
		where[k] = v
	}
	m.Where = where
	return m
}
