package data

import (
	"errors"
	"fmt"
	"slices"

	"missingscore/data/format"
	"missingscore/internal/setting"
)

// Weighted returns the table with sampling weights: every mean over rows becomes Σ w_i x_i / Σ w_i
// (docs/theory/weights.md). Rows of weight 0 are left out; equal weights count as none. It fails if
// a weight is negative or not finite, and where NewTable fails for the remaining rows.
func (t *Table) Weighted(weights []float64) (*Table, error) {
	if t.Counted != nil {
		return nil, errors.New("rows that represent moments cannot have weights")
	}
	if len(weights) != t.N {
		return nil, fmt.Errorf("%d weights for %d rows", len(weights), t.N)
	}
	var rows []int
	for i, w := range weights {
		if !(w >= 0 && w <= LargestValue) {
			return nil, fmt.Errorf("row %d: the weight %g must be a number from 0 to %g", i+1, w, LargestValue)
		}
		if w > 0 {
			rows = append(rows, i)
		}
	}
	w := *t
	w.Weights = slices.Clone(weights)
	kept := only(&w, rows)
	kept.Dropped = t.Dropped
	if err := check(kept); err != nil {
		return nil, fmt.Errorf("of the rows whose weight is not 0: %w", err)
	}
	return kept, nil
}

// Weights have mean 1; nil if all are equal.
func weigh(t *Table, weights []float64) {
	most := slices.Max(weights)
	if most == slices.Min(weights) {
		return
	}
	sum := 0.0
	for _, w := range weights { // scaled by the largest to avoid overflow
		sum += w / most
	}
	t.Weights = make([]float64, len(weights))
	for i, w := range weights {
		t.Weights[i] = w / most * float64(len(weights)) / sum
	}
}

// Weight is the weight of row i in sums: Count times its sampling weight.
func (t *Table) Weight(i int) float64 {
	if t.Weights != nil {
		return t.Weights[i]
	}
	return t.Count(i)
}

// EffectiveRows is the effective sample size (Kish 1965), (Σ w_i)² / Σ w_i²; RowCount without weights.
func (t *Table) EffectiveRows() float64 {
	if t.Weights == nil {
		return float64(t.RowCount())
	}
	squares := 0.0
	for _, w := range t.Weights { // of mean 1
		squares += w * w
	}
	return float64(t.N) * float64(t.N) / squares
}

// ColumnWeights returns the weights of Column(j); nil without weights.
func (t *Table) ColumnWeights(j int) (weights []float64) {
	if t.Weights == nil {
		return nil
	}
	for i, w := range t.Weights {
		if t.Observed[i*t.D+j] {
			weights = append(weights, w)
		}
	}
	return weights
}

// ReadWeighted reads a table as ReadFile does, with sampling weights from column, which must not be
// among the columns read. It fails at a weight that is missing, negative or not a number, and with
// a setting.Error if the column cannot hold weights.
func ReadWeighted(path, column string, o ReadOptions) (*Table, error) {
	if slices.Contains(o.Columns, column) {
		return nil, setting.Errorf("weights", "", "%q is the column of weights and cannot be a column of the model: leave it out", column)
	}
	s, err := openSource(path, o, true)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	at, err := s.find([]string{column})
	if err != nil {
		return nil, err
	}
	if o.Columns == nil && !slices.Contains(o.Exclude, column) {
		s.options.Exclude = append(slices.Clone(o.Exclude), column)
	}
	if err := s.choose(); err != nil {
		return nil, err
	}
	s.plain = len(s.names)
	s.chosen, s.names = append(s.chosen, at[0]), append(slices.Clone(s.names), column)
	both, err := s.gather()
	if err != nil {
		return nil, err
	}
	var rows []int
	var weights []float64
	for i := range both.N {
		last := (i+1)*both.D - 1
		w := both.Values[last]
		switch {
		case !slices.Contains(both.Observed[i*both.D:last], true):
			continue
		case !both.Observed[last]:
			return nil, fmt.Errorf("%s: column %q of weights: the weight is missing: give the row a weight, or 0 to leave it out", s.at(both.Lines[i]), column)
		case w < 0:
			return nil, fmt.Errorf("%s: column %q of weights: %s is negative; weights are 0 or more: correct it, or write 0 to leave the row out", s.at(both.Lines[i]), column, format.Number(w))
		}
		rows, weights = append(rows, i), append(weights, w)
	}
	model, err := both.Select(both.Names[:both.D-1])
	if err != nil {
		return nil, err
	}
	kept := only(model, rows)
	kept.Dropped = both.Dropped + both.N - len(rows)
	if err := acceptable(kept, s.file); err != nil {
		return nil, err
	}
	t, err := kept.Weighted(weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; look at the column %q", s.file, err, column)
	}
	return t, nil
}
