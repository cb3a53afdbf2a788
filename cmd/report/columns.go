package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"missingscore/data"
	"missingscore/data/mcar"
	"missingscore/internal/printable"
	"missingscore/trainers"
)

// Column tells what was seen of a variable: counts of cells, and the mean and standard
// deviation of the observed ones in the user's units.
type Column struct {
	Name              string
	Observed, Missing int
	Mean, Deviation   float64
}

// Share is the part of the cells that is missing, NaN without cells.
func (c Column) Share() float64 {
	return float64(c.Missing) / float64(c.Observed+c.Missing)
}

// columnsOf are the table's columns under these names, in order.
func columnsOf(t *data.Table, result *trainers.Result, names []string) (out []Column) {
	for j, name := range names {
		seen := t.ObservedIn(j)
		out = append(out, Column{Name: name, Observed: seen, Missing: t.RowCount() - seen, Mean: result.Model.Scale.Mean[j], Deviation: result.Model.Scale.Deviation[j]})
	}
	return out
}

// ColumnRows are the columns of the table, in order; of more than mostRows those with most
// missing cells, most first.
func (r Report) ColumnRows() []Column {
	if len(r.Columns) <= mostRows {
		return r.Columns
	}
	rows := slices.Clone(r.Columns)
	slices.SortStableFunc(rows, func(a, b Column) int { return cmp.Compare(b.Missing, a.Missing) })
	return rows[:mostRows]
}

// GapRows are the tests of gaps, the smallest p first, at most mostRows.
func (r Report) GapRows() []mcar.Column {
	rows := slices.Clone(r.Gaps)
	slices.SortStableFunc(rows, func(a, b mcar.Column) int {
		if math.IsNaN(a.P) != math.IsNaN(b.P) { // nothing to test with: last
			return -cmp.Compare(a.P, b.P)
		}
		return cmp.Compare(a.P, b.P)
	})
	return rows[:min(len(rows), mostRows)]
}

// writeColumns writes a line for each column: name, observed, missing, mean, deviation, and of
// the test of its gaps p, p_corrected, predictor, direction; what is not known is empty.
func writeColumns(w io.Writer, columns []Column, gaps []mcar.Column) error {
	tests := map[string]mcar.Column{}
	for _, g := range gaps {
		tests[g.Name] = g
	}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	c := csv.NewWriter(w)
	c.Write([]string{"name", "observed", "missing", "mean", "deviation", "p", "p_corrected", "predictor", "direction"})
	for _, column := range columns {
		g, tested := tests[column.Name]
		if !tested {
			g.P, g.Corrected = math.NaN(), math.NaN()
		}
		c.Write([]string{printable.Text(column.Name), strconv.Itoa(column.Observed), strconv.Itoa(column.Missing), number(column.Mean), number(column.Deviation),
			number(g.P), number(g.Corrected), printable.Text(g.Predictor), g.Direction})
	}
	c.Flush()
	return c.Error()
}
