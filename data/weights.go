package data

import (
	"errors"
	"fmt"
	"slices"
)

// Weighted is the table with sampling weights: row i stands for a number of units of the
// population in proportion to weights[i], so that every mean over rows is Σ w_i x_i / Σ w_i
// (docs/theory/weights.md). Rows of weight 0 are left out; weights that are all equal are
// none. It fails where there is a weight for other than each row, or one is no finite number
// of 0 or more, and where NewTable would of the rows that are left.
func (t *Table) Weighted(weights []float64) (*Table, error) {
	if t.Counted != nil {
		return nil, errors.New("rows that stand for moments have no weights of their own")
	}
	if len(weights) != t.N {
		return nil, fmt.Errorf("%d weights for %d rows", len(weights), t.N)
	}
	var rows []int
	for i, w := range weights {
		if !(w >= 0 && w <= largest) {
			return nil, fmt.Errorf("row %d: the weight %g must be a number from 0 to %g", i+1, w, largest)
		}
		if w > 0 {
			rows = append(rows, i)
		}
	}
	w := *t
	w.Weights = slices.Clone(weights)
	kept := w.only(rows)
	kept.Dropped = t.Dropped
	if err := kept.check(); err != nil {
		return nil, fmt.Errorf("of the rows whose weight is not 0: %w", err)
	}
	return kept, nil
}

// weigh makes weights of mean 1 those of the rows; nil where all are equal.
func (t *Table) weigh(weights []float64) {
	most := slices.Max(weights)
	if most == slices.Min(weights) {
		return
	}
	sum := 0.0
	for _, w := range weights { // in units of the largest, lest the sum be beyond float64
		sum += w / most
	}
	t.Weights = make([]float64, len(weights))
	for i, w := range weights {
		t.Weights[i] = w / most * float64(len(weights)) / sum
	}
}

// Weight is what row i counts in sums: Count, times its sampling weight.
func (t *Table) Weight(i int) float64 {
	if t.Weights != nil {
		return t.Weights[i]
	}
	return t.Count(i)
}

// EffectiveRows are as many rows without weights as tell as much of a mean (Kish 1965),
//
//	n_eff = (Σ w_i)² / Σ w_i²,
//
// RowCount where there are no weights.
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

// Efficiency is the share of its rows that a table's weights leave, n_eff / n; 1 without.
func (t *Table) Efficiency() float64 {
	if t.Weights == nil {
		return 1
	}
	return t.EffectiveRows() / float64(t.N)
}

// ColumnWeights are the weights of the observed cells of column j, in the order of Column; nil
// where there are none.
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

// WeightsError says which column is none of weights, and why.
type WeightsError struct{ Problem string }

func (e *WeightsError) Error() string { return e.Problem }

// ReadWeighted reads a table as ReadFile does, whose column of sampling weights is none of the
// columns read: see Weighted. A weight that is missing, negative or no number is an error that
// names its cell, a column that cannot be one of weights a *WeightsError.
func ReadWeighted(path, column string, o ReadOptions) (*Table, error) {
	if slices.Contains(o.Columns, column) {
		return nil, &WeightsError{fmt.Sprintf("%q holds the weights of rows and cannot be among the columns of the model: leave it out of them", column)}
	}
	in, err := openInput(path, true)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	weights, err := in.column(column, o)
	if err != nil {
		return nil, err
	}
	if err := in.rewind(); err != nil {
		return nil, err
	}
	if o.Columns == nil && !slices.Contains(o.Exclude, column) {
		o.Exclude = append(slices.Clone(o.Exclude), column)
	}
	t, err := in.table(o)
	if err != nil {
		return nil, err
	}
	of, err := weights.of(t)
	if err != nil {
		return nil, err
	}
	if t, err = t.Weighted(of); err != nil {
		return nil, fmt.Errorf("%s: %w; look at the column %q", in.name, err, column)
	}
	return t, nil
}

// weightColumn are the cells of a column of a file that have a number.
type weightColumn struct {
	file, name string
	rowwise    bool // the file has rows and no lines
	values     []float64
	lines      []int
}

// column reads the cells of one.
func (in *input) column(name string, o ReadOptions) (*weightColumn, error) {
	o.Columns, o.Exclude, o.Progress = []string{name}, nil, nil
	f, err := in.format()
	if err != nil {
		return nil, err
	}
	w := &weightColumn{file: in.name, name: name, rowwise: f != nil && f != &excel}
	return w, in.blocks(o, func(b *block, _ []string) error {
		w.values, w.lines = append(w.values, b.values...), append(w.lines, b.lines...)
		return nil
	})
}

// of are the weights of a table's rows, read from the same file.
func (w *weightColumn) of(t *Table) ([]float64, error) {
	out, at := make([]float64, t.N), 0
	for i, line := range t.Lines {
		for at < len(w.lines) && w.lines[at] < line {
			at++
		}
		if at == len(w.lines) || w.lines[at] != line {
			return nil, w.refuse(line, "the cell is empty, or a mark of a missing one: give the row a weight; 0 leaves it out")
		}
		if out[i] = w.values[at]; out[i] < 0 {
			return nil, w.refuse(line, fmt.Sprintf("%s is negative, and weights are 0 or more: correct it; 0 leaves the row out", format(out[i])))
		}
	}
	return out, nil
}

func (w *weightColumn) refuse(line int, why string) error {
	at := fmt.Sprintf("%s:%d", w.file, line)
	if w.rowwise {
		at = fmt.Sprintf("%s, row %d", w.file, line)
	}
	return fmt.Errorf("%s: column %q of weights: %s", at, w.name, why)
}
