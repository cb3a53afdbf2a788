// Package mcar tests whether cells are missing completely at random (MCAR): for each column with gaps, whether
// its being observed depends on what the other columns hold (docs/theory/complete-data.md#mar-test). It sees
// cells missing at random, where the marginal losses are biased; it cannot see a column that hides itself.
package mcar

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"missingscore/data"
	"missingscore/data/gaussian"
	"missingscore/internal/panics"
)

// level is the corrected p below which a column's gaps are taken to depend on others.
const level = 0.05

// Column is what is found of one column with gaps.
type Column struct {
	Name    string
	Missing int // rows that lack it

	// P is that of the test, NaN where there is nothing to test with; Corrected is P by
	// Holm's correction for the number of columns tested, so that with cells missing
	// completely at random one table in twenty has a Corrected below 0.05 anywhere.
	P, Corrected float64
	Joint        bool // one regression on all Predictors; otherwise one test for each
	Predictors   int  // columns that could be used
	// Predictor is the column that goes with the gaps most clearly by itself, and
	// Direction says where it lies in rows that lack this column: "low" or "high", or the level of
	// a binary one.
	Predictor, Direction string
}

// Depends says that the column's gaps depend on others.
func (c Column) Depends() bool { return c.Corrected < level }

// Where says in what rows the column is missing more often, as "x is low". Where the correction leaves nothing
// of the test, which difference is the clearest is chance: it is "no sign of dependence" then.
func (c Column) Where() string {
	switch {
	case c.Predictor == "":
		return "too few to test"
	case c.Corrected >= 1:
		return "no sign of dependence"
	}
	return c.Predictor + " is " + c.Direction
}

// String says which cells are missing where, as "y is missing more often where x is low
// (p = 0.002)", p after correction.
func (c Column) String() string {
	switch {
	case c.Predictor == "":
		return fmt.Sprintf("%s cannot be tested: no other column has enough rows with and without it", c.Name)
	case c.Corrected >= 1:
		return fmt.Sprintf("whether %s is missing shows %s on other columns (p = 1)", c.Name, c.Where())
	}
	p := FormatP(c.Corrected)
	if p[0] != '<' {
		p = "= " + p
	}
	return fmt.Sprintf("%s is missing more often where %s (p %s)", c.Name, c.Where(), p)
}

// FormatP is p for reading: with two digits, "< 1e-15" below that, "–" for none.
func FormatP(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < 1e-15:
		return "< 1e-15"
	}
	return fmt.Sprintf("%.2g", p)
}

// MarshalJSON writes p as null where there is none.
func (c Column) MarshalJSON() ([]byte, error) {
	number := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	return json.Marshal(struct {
		Column     string   `json:"column"`
		Missing    int      `json:"missing"`
		P          *float64 `json:"p"`
		Corrected  *float64 `json:"p_corrected"`
		Predictors int      `json:"predictors"`
		Predictor  string   `json:"predictor"`
		Direction  string   `json:"direction"`
	}{c.Name, c.Missing, number(c.P), number(c.Corrected), c.Predictors, c.Predictor, c.Direction})
}

const (
	leastRows = 5  // with a predictor observed, both where the column is missing and where it is not
	perTerm   = 10 // rows of the rarer kind for each term of a regression, or there is none
)

// Test tests each column with gaps, in the order of the columns; none without gaps. It
// draws nothing: the same table gives the same numbers, in any units of its columns.
//
// "Column j is observed" is tested against the other columns: x̂, their gaps filled by their conditional mean
// under a normal model of all, and whether those cells were observed, for gaps may come in blocks, which is no
// sign against MCAR. The test is a score test with the variance of its rows, with as many degrees of freedom as
// there are predictors. x̂ never makes use of x_j, which is known only where j is observed. Where there are
// fewer than ten rows of the rarer kind for each term, each predictor is tested by itself instead, by its ranks
// in the rows that have it, and P is Bonferroni's over them.
//
// At most 100 000 rows are tested, of more than 10 columns as many as have a million cells, of more than 138
// 2·10¹⁰/d³, but not below 5000, evenly through the table: what they do not show does no harm.
func Test(t *data.Table) []Column { return TestBy(1, t) }

// TestBy is Test by several workers, each at other columns.
func TestBy(workers int, t *data.Table) []Column {
	if t.Counted != nil {
		return nil
	}
	at := withGaps(t)
	if at == nil {
		return nil
	}
	// Rows are copied, ranked and filled, and regressions on all others of all columns take some n d³ steps.
	some := evenly(t, max(fitRows, min(100_000, mostCells/t.D, int(2e10/math.Pow(float64(t.D), 3)))))
	z := some
	if scale := data.StandardScale(some); some == t {
		z = scale.Standardised(t)
	} else {
		z, _ = scale.InPlace(some)
	}
	out := newWork(z, fitRows).tests(workers, at)
	for a, j := range at {
		out[a].Name, out[a].Missing = t.Names[j], t.RowCount()-t.ObservedIn(j)
	}
	holm(out)
	return out
}

func withGaps(t *data.Table) (columns []int) {
	for j := range t.D {
		if t.ObservedIn(j) < t.RowCount() {
			columns = append(columns, j)
		}
	}
	return columns
}

// The normal distribution is fitted loosely: any fill makes a valid test.
const (
	turns = 50
	limit = 1e-3
)

// work is a standardised table being tested. What its columns share is made when it is first asked for.
type work struct {
	table  *data.Table
	room   int                     // numbers of filled tables that are held at once, or one such table
	ranks  []func() *ranked        // of each column
	normal func() *gaussian.Normal // of all columns
	alike  func() []int            // see findAlike
}

// newWork fills gaps by a normal distribution that is fitted to so many rows at most.
func newWork(t *data.Table, fitRows int) *work {
	w := &work{table: t, room: mostFilled, normal: sync.OnceValue(func() *gaussian.Normal { return gaussian.Fit(evenly(t, fitRows), turns, limit) })}
	w.alike = sync.OnceValue(w.findAlike)
	for k := range t.D {
		w.ranks = append(w.ranks, sync.OnceValue(func() *ranked { return w.rank(k) }))
	}
	return w
}

func (w *work) seen(i, j int) bool { return w.table.Observed[i*w.table.D+j] }

func missing(t *data.Table, j int) (count int) {
	for k := j; k < len(t.Observed); k += t.D {
		if !t.Observed[k] {
			count++
		}
	}
	return count
}

const (
	fitRows    = 5000    // that the normal distribution of a test is fitted to, at most
	mostCells  = 1 << 20 // of the rows that are tested, but for these
	mostFilled = 1 << 21 // room for filled tables
)

// evenly takes so many rows, in steps of one length through the table; twice as many, and so on,
// where a column would not vary in them.
func evenly(t *data.Table, most int) *data.Table {
	for ; most < t.N; most *= 2 {
		rows := make([]int, most)
		for i := range rows {
			rows[i] = i * t.N / most
		}
		if some, err := t.Rows(rows); err == nil {
			return some
		}
	}
	return t
}

// tests is what there is to say of some columns, but for names, numbers of missing cells and corrections.
func (w *work) tests(workers int, columns []int) []Column {
	out, joints := make([]Column, len(columns)), make([]*joint, len(columns))
	together(workers, columns, func(a, j int) { out[a], joints[a] = w.look(j) })
	var whole, part []int // places of joint tests with all other columns for predictors, and with fewer
	for a, r := range joints {
		switch {
		case r != nil && r.whole(w.table.D):
			whole = append(whole, a)
		case r != nil:
			part = append(part, a)
		}
	}
	together(workers, part, func(_, a int) { out[a].P = robustScore(w.design(joints[a], w.fill(joints[a].predictors))) })
	if whole == nil {
		return out
	}
	all := gaussian.NewFiller(w.table, nil)
	for some := range slices.Chunk(whole, max(1, w.room/len(all.X))) {
		var columns []int
		for _, a := range some {
			columns = append(columns, joints[a].column)
		}
		filled := all.Without(w.normal(), columns, workers)
		together(workers, some, func(b, a int) { out[a].P = robustScore(w.design(joints[a], filled[b])) })
	}
	return out
}

func together(workers int, list []int, do func(place, of int)) {
	pool := panics.NewGroup()
	pool.SetLimit(max(1, workers))
	for place, of := range list {
		pool.Go(func() error {
			do(place, of)
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		panic(err)
	}
}

// look is what the predictors of column j say one by one, with the strictest p of them; and where
// there are rows enough the test by which all together are to be asked for it.
func (w *work) look(j int) (Column, *joint) {
	single := w.single(j)
	c := Column{P: math.NaN(), Corrected: math.NaN(), Predictors: len(single)}
	if len(single) == 0 {
		return c, nil
	}
	best := slices.MaxFunc(single, func(a, b association) int { return cmp.Compare(a.square, b.square) })
	c.Predictor, c.Direction = w.table.Names[best.predictor], "high"
	if best.low {
		c.Direction = "low"
	}
	if k := best.predictor; data.KindOf(w.table, k) == data.Binary && w.table.Levels[k][0] != "0" {
		c.Direction = w.table.Levels[k][1]
		if best.low {
			c.Direction = w.table.Levels[k][0]
		}
	}
	c.P = min(1, float64(len(single))*survival(best.square))
	r := w.newJoint(j, predictors(single))
	c.Joint = r != nil
	return c, r
}

// holm fills in Corrected: the i-th smallest of m p becomes max over those up to it of
// (m − i + 1) p (Holm 1979).
func holm(columns []Column) {
	var order []int
	for i, c := range columns {
		if !math.IsNaN(c.P) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(columns[a].P, columns[b].P) })
	largest := 0.0
	for rank, i := range order {
		largest = max(largest, min(1, float64(len(order)-rank)*columns[i].P))
		columns[i].Corrected = largest
	}
}
