package fitted

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
)

// Hold says what imputed values of a column (d of them) may be. The zero value leaves
// them as they are.
type Hold struct {
	Low, High []float64 // ends that values beyond are moved to; nil for none
	Step      []float64 // values are rounded to multiples of it; 0 for not. nil for no column
}

// Apply moves the missing cells of completed rows (n·draws, d) into the ends, then rounds
// them to the nearest multiple that is neither beyond these nor outside the model's domain.
// Where the domain leaves none a value stays as it was. It gives how many it changed.
func (h Hold) Apply(f *Model, t *data.Table, values []float64, draws int) (changed int) {
	inside := f.allowed(t)
	for at := range values {
		i, j := at/t.D/draws, at%t.D
		if t.Observed[i*t.D+j] {
			continue
		}
		row, was := values[at-j:at-j+t.D], values[at]
		for _, v := range h.candidates(j, was) {
			row[j] = v
			if inside.contains(i, row) {
				break
			}
			row[j] = was
		}
		if row[j] != was {
			changed++
		}
	}
	return changed
}

// candidates are the values of column j that x may become, best first.
func (h Hold) candidates(j int, x float64) []float64 {
	low, high := math.Inf(-1), math.Inf(1)
	if h.Low != nil {
		low, high = h.Low[j], h.High[j]
	}
	held := min(max(x, low), high)
	if h.Step == nil || h.Step[j] == 0 {
		return []float64{held}
	}
	step := h.Step[j]
	nearest := math.Round(held / step)
	other := nearest + 1
	if nearest*step > held {
		other = nearest - 1
	}
	var fit []float64
	for _, k := range []float64{nearest, other} {
		if v := multiple(k, step); low <= v && v <= high {
			fit = append(fit, v)
		}
	}
	return append(fit, held)
}

// multiple is k·step without the digits that a product of binary numbers adds.
func multiple(k, step float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(k*step, 'g', 15, 64), 64)
	if err != nil {
		return k * step
	}
	return v
}

// mostDecimals is the finest grid that columns are taken to lie on.
const mostDecimals = 6

// Grids are the steps of a table's columns: 1 where all observed values are whole, 0.1 with
// one decimal place, and so on; 0 where more than six decimals occur, or nothing is observed.
func Grids(t *data.Table) []float64 {
	steps := make([]float64, t.D)
	for j := range t.D {
		most := -1
		for _, v := range t.Column(j) {
			most = max(most, decimals(v))
		}
		if most >= 0 && most <= mostDecimals {
			steps[j] = multiple(1, math.Pow(10, -float64(most)))
		}
	}
	return steps
}

// decimals is how many places a number has after its point.
func decimals(v float64) int {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	for i := range text {
		if text[i] == '.' {
			return len(text) - i - 1
		}
	}
	return 0
}

// Ranges are the least and the largest observed value of a table's columns, infinite where
// nothing is observed.
func Ranges(t *data.Table) (low, high []float64) {
	for j := range t.D {
		x := t.Column(j)
		if len(x) == 0 {
			x = []float64{math.Inf(-1), math.Inf(1)}
		}
		low, high = append(low, floats.Min(x)), append(high, floats.Max(x))
	}
	return low, high
}
