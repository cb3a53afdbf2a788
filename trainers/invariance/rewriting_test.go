package invariance

import (
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
)

// rewriting says how a table is written down differently: row i of it is row Rows[i] of the
// first, column a is column j = Columns[a] as Scale[j]·(x + Shift[j]).
type rewriting struct {
	rows, columns []int
	scale, shift  []float64 // by the first table's columns
	weights       []float64 // of rows; nil: all alike
}

// same leaves a table of n rows and d columns as it is.
func same(n, d int) rewriting {
	return rewriting{rows: upTo(n), columns: upTo(d), scale: slices.Repeat([]float64{1}, d), shift: make([]float64, d)}
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// apply writes a table down.
func (w rewriting) apply(t *data.Table) (*data.Table, error) {
	out := &data.Table{N: len(w.rows), D: t.D}
	for _, j := range w.columns {
		out.Names = append(out.Names, t.Names[j])
	}
	for _, i := range w.rows {
		for _, j := range w.columns {
			out.Values = append(out.Values, w.scale[j]*(t.Values[i*t.D+j]+w.shift[j]))
			out.Observed = append(out.Observed, t.Observed[i*t.D+j])
		}
	}
	if w.weights == nil {
		return out, nil
	}
	return out.Weighted(w.weights)
}

// domain writes bounds down.
func (w rewriting) domain(s *domain.Domain) *domain.Domain {
	if s == nil {
		return nil
	}
	out := &domain.Domain{}
	for _, j := range w.columns {
		out.Lower = append(out.Lower, w.scale[j]*(s.Lower[j]+w.shift[j]))
		out.Upper = append(out.Upper, w.scale[j]*(s.Upper[j]+w.shift[j]))
	}
	return out
}
