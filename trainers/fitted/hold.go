package fitted

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
)

// Hold restricts imputed values of d columns; the zero value does nothing.
type Hold struct {
	Low, High []float64 // limits to which values are clipped; nil for none
	Step      []float64 // values are rounded to multiples of it; 0 or nil: no rounding
}

// Apply clips missing cells of completed rows (n·draws, d) and rounds them to the nearest multiple
// inside the limits and the domain; without one, and for levels, they stay. It returns the number
// of changed values.
func (h Hold) Apply(f *Model, t *data.Table, values []float64, draws int) (changed int) {
	allowed := allowed(f, t)
	for at := range values {
		i, j := at/t.D/draws, at%t.D
		if t.Observed[i*t.D+j] || data.Coded(t, j) != nil {
			continue
		}
		row, was := values[at-j:at-j+t.D], values[at]
		for _, v := range h.candidates(j, was) {
			row[j] = v
			if allowed(i, row) {
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

// candidates are best first.
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

// multiple is k·step without binary rounding digits.
func multiple(k, step float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(k*step, 'g', 15, 64), 64) // ±Inf beyond float64
	return v
}

// mostDecimals is the finest detected grid.
const mostDecimals = 6

// Grids returns each column's grid step: 1 if all observed values are whole, 0.1 with one decimal
// place, …; 0 with more than six decimals or without observed values.
func Grids(t *data.Table) []float64 {
	steps := make([]float64, t.D)
	for j := range t.D {
		most := -1
		for _, v := range t.Column(j) {
			_, places, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
			most = max(most, len(places))
		}
		if most >= 0 && most <= mostDecimals {
			steps[j] = multiple(1, math.Pow(10, -float64(most)))
		}
	}
	return steps
}

// Ranges returns each column's observed minimum and maximum, infinite without observed values.
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

func allowed(f *Model, t *data.Table) func(i int, completed []float64) bool {
	var section domain.Section
	var mask []float64
	support, x, row := f.patterned(), make([]float64, t.D), -1 // row is the row of section
	return func(i int, completed []float64) bool {
		if !f.Transform.Row(x, completed) {
			return false
		}
		if !support.Bounded() {
			return true
		}
		if i != row {
			row, mask = i, marks(t, i)
			support.Section(&section, x, mask)
		}
		return section.Contains(x, mask)
	}
}

// Draws are far outside beyond the observed range by more than 1.5 ranges and 6 standard deviations.
// A column extrapolates if more than a third of at least 20 draws are outside the observed range.
const (
	farRanges         = 1.5
	farDeviations     = 6.
	judgedCells       = 10 // minimum number of observed cells
	extrapolatedShare = 1. / 3
	extrapolatedDraws = 20
)

// Beyond reports, per column, draws far outside the observed range.
func (r *Imputed) Beyond(t *data.Table) (problems []string) {
	for _, c := range Summarise(t, r.Values, r.Draws) {
		if o := c.Observed; c.far > 0 {
			problems = append(problems, fmt.Sprintf("%d of %d draws of %s lie far outside the observed range (%.4g to %.4g), for example %.4g", c.far, c.Imputed.N, c.Name, o.Low, o.High, c.farthest))
		}
	}
	return problems
}

// Extrapolated names columns with more than a third of the draws outside the observed range. With a
// missingness mechanism or bounds such draws may be right.
func (r *Imputed) Extrapolated(t *data.Table) (problems []string) {
	for _, c := range Summarise(t, r.Values, r.Draws) {
		if o := c.Observed; o.N >= judgedCells && c.Imputed.N >= extrapolatedDraws && c.Outside > extrapolatedShare {
			problems = append(problems, fmt.Sprintf("%.0f %% of the draws of %s lie outside the observed range (%.4g to %.4g): the model extrapolates; MatchConfig.Donors keeps to observed values", 100*c.Outside, c.Name, o.Low, o.High))
		}
	}
	return problems
}

// Moments are statistics of some values, in their units; NaN with too few values.
type Moments struct {
	N                   int
	Mean, SD, Low, High float64
}

// ColumnSummary compares the imputed and the observed values of a column.
type ColumnSummary struct {
	Column            int // from 0
	Name              string
	Observed, Imputed Moments
	Outside           float64 // share of imputed values outside the observed range

	Levels []LevelShare // of a column of levels, most frequent observed level first; else nil

	far      int     // imputed numbers far outside the observed range
	farthest float64 // of them
}

// LevelShare is the share of a level among observed and among imputed cells.
type LevelShare struct {
	Name              string
	Observed, Imputed float64
}

// Summarise compares completed rows (n·draws, d) with the observed cells of each incomplete column.
func Summarise(t *data.Table, values []float64, draws int) (columns []ColumnSummary) {
	for j, name := range t.Names {
		observed := t.Column(j)
		if len(observed) == t.N {
			continue
		}
		c := ColumnSummary{Column: j, Name: name, Observed: momentsOf(observed)}
		names, farthest := data.Coded(t, j), math.Inf(1)
		if o := c.Observed; o.N >= judgedCells && names == nil {
			sd := o.SD * math.Sqrt(float64(o.N-1)/float64(o.N))
			farthest = max(farRanges*(o.High-o.Low), farDeviations*sd)
		}
		room := farthest
		var imputed []float64
		for k := j; k < len(values); k += t.D {
			if t.Observed[k/t.D/draws*t.D+j] {
				continue
			}
			v := values[k]
			imputed = append(imputed, v)
			by := max(c.Observed.Low-v, v-c.Observed.High)
			if by > 0 {
				c.Outside++
			}
			if by > room {
				c.far++
			}
			if by > farthest {
				c.farthest, farthest = v, by
			}
		}
		c.Outside /= float64(len(imputed))
		c.Imputed = momentsOf(imputed)
		c.Levels = levelShares(names, observed, imputed)
		columns = append(columns, c)
	}
	return columns
}

func levelShares(names []string, observed, imputed []float64) (shares []LevelShare) {
	if names == nil {
		return nil
	}
	for _, name := range names {
		shares = append(shares, LevelShare{Name: name})
	}
	for _, v := range observed {
		shares[int(v)].Observed += 1 / float64(len(observed))
	}
	for _, v := range imputed {
		shares[int(v)].Imputed += 1 / float64(len(imputed))
	}
	slices.SortStableFunc(shares, func(a, b LevelShare) int { return cmp.Compare(b.Observed, a.Observed) })
	return shares
}

func momentsOf(x []float64) Moments {
	m := Moments{len(x), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if len(x) > 0 {
		m.Mean, m.SD = stat.MeanStdDev(x, nil)
		m.Low, m.High = floats.Min(x), floats.Max(x)
	}
	return m
}
