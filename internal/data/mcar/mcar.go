// Package mcar tests, for each column with missing cells, whether its missingness depends on the
// values of other columns (docs/theory/complete-data.md#mar-test). It detects cells missing at
// random; it cannot detect a column that masks itself.
package mcar

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"missingscore/data"
	"missingscore/internal/data/gaussian"
	"missingscore/internal/panics"
	"missingscore/internal/strictjson"
)

// level is the corrected p value below which a column's missingness depends on others.
const level = 0.05

// Column is the test result for one column with missing cells.
type Column struct {
	Name    string
	Missing int // rows without it

	// P is NaN if the column cannot be tested; Corrected is Holm's correction for the number of
	// columns tested.
	P, Corrected float64
	Joint        bool // one regression on all Predictors; otherwise one test for each
	Predictors   int  // usable columns
	// Predictor is the column with the strongest individual association, Direction its position in
	// rows that lack this column: "low", "high" or the level of a binary column.
	Predictor, Direction string
}

func (c Column) Depends() bool { return c.Corrected < level }

// Where describes the rows in which the column is missing more often, as "x is low"; "no sign of
// dependence" if the corrected test finds nothing.
func (c Column) Where() string {
	switch {
	case c.Predictor == "":
		return "too few to test"
	case c.Corrected >= 1:
		return "no sign of dependence"
	}
	return c.Predictor + " is " + c.Direction
}

// String is, for example, "y is missing more often where x is low (p = 0.002)", with corrected p.
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

// FormatP writes p with two digits, "< 1e-15" for smaller values, "–" for NaN.
func FormatP(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < 1e-15:
		return "< 1e-15"
	}
	return fmt.Sprintf("%.2g", p)
}

// MarshalJSON writes NaN as null.
func (c Column) MarshalJSON() ([]byte, error) {
	type number = strictjson.Number
	return json.Marshal(struct {
		Column     string `json:"column"`
		Missing    int    `json:"missing"`
		P          number `json:"p"`
		Corrected  number `json:"p_corrected"`
		Predictors int    `json:"predictors"`
		Predictor  string `json:"predictor"`
		Direction  string `json:"direction"`
	}{c.Name, c.Missing, number(c.P), number(c.Corrected), c.Predictors, c.Predictor, c.Direction})
}

const (
	leastRows = 5  // with a predictor observed, both where the column is missing and where it is observed
	perTerm   = 10 // minimum rows of the rarer kind for each term of a regression
)

// TestBy tests each column with missing cells, in column order, in any units. "Column j is observed"
// is tested against the other columns, imputed by conditional means without x_j, given their
// observed marks, by a robust score test with one degree of freedom per predictor. With fewer than
// ten rows of the rarer kind per term, P is the Bonferroni minimum of rank tests of single
// predictors. At most 100 000 evenly spaced rows are tested, fewer for many columns, but at least 5000.
func TestBy(workers int, t *data.Table) []Column {
	if t.Counted != nil {
		return nil
	}
	at := withGaps(t)
	if at == nil {
		return nil
	}
	// The regressions of all columns take about n d³ steps.
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

// Any imputation gives a valid test, so the fit is loose.
const (
	turns = 50
	limit = 1e-3
)

// Shared results are computed on first use.
type work struct {
	table  *data.Table
	room   int                     // filled tables held at once, in numbers
	ranks  []func() *ranked        // of each column
	normal func() *gaussian.Normal // of all columns
	alike  func() []int            // see findAlike
}

// newWork imputes by a normal distribution fitted to at most fitRows rows.
func newWork(t *data.Table, fitRows int) *work {
	w := &work{table: t, room: mostFilled, normal: sync.OnceValue(func() *gaussian.Normal { return gaussian.Fit(evenly(t, fitRows), turns, limit) })}
	w.alike = sync.OnceValue(w.findAlike)
	for k := range t.D {
		w.ranks = append(w.ranks, sync.OnceValue(func() *ranked { return w.rank(k) }))
	}
	return w
}

func (w *work) seen(i, j int) bool { return w.table.Observed[i*w.table.D+j] }

// rarer is the smaller number of the rows with and without column j.
func (w *work) rarer(j int) int {
	n := len(w.table.Column(j)) // of these rows, if the table is a sample
	return min(n, w.table.N-n)
}

const (
	fitRows    = 5000    // maximum rows to fit the normal distribution
	mostCells  = 1 << 20 // maximum cells tested, beyond these rows
	mostFilled = 1 << 21 // numbers in filled tables
)

// evenly doubles the number of rows while a column would be constant in them.
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

func (w *work) tests(workers int, columns []int) []Column {
	out, joints := make([]Column, len(columns)), make([]*joint, len(columns))
	together(workers, columns, func(a, j int) { out[a], joints[a] = w.look(j) })
	var whole, part []int // indices of joint tests with all other columns, and with fewer
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
	each := func(_ context.Context, place int) error {
		do(place, list[place])
		return nil
	}
	if err := panics.Each(context.Background(), workers, len(list), func() (func(context.Context, int) error, error) { return each, nil }, nil); err != nil {
		panic(err)
	}
}

// look returns column j's smallest individual p, and the joint test if there are enough rows.
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

// holm makes the i-th smallest of m p values the maximum of (m − k + 1) p_k, k ≤ i (Holm 1979).
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
