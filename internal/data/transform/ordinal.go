package transform

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
)

const OrdinalKind = "ordinal"

// MostCategories is the maximum number of categories; beyond it treat the column as a number.
const MostCategories = 40

// Ordinal is the function of an ordered column: each category is an interval of a latent standard
// normal z, whose thresholds are normal quantiles of cumulative shares
// (docs/theory/ordinal.md#eq-thresholds),
//
//	x = c  ⇔  τ_c < z ≤ τ_(c+1),   τ_c = Φ⁻¹(share of the cells below c)
//
// T(c) is the quantile of the middle of the category's share.
type Ordinal struct {
	values  []float64 // the categories, increasing
	cuts    []float64 // τ, one fewer
	middles []float64 // T of the categories
}

// NewOrdinal fits a column's observed cells; nil weights are ones.
func NewOrdinal(x, weights []float64) *Ordinal {
	f, below := &Ordinal{}, 0.
	of, total := shares(x, weights)
	for k, c := range of {
		above := below + c.weight
		f.values = append(f.values, c.value)
		f.middles = append(f.middles, distuv.UnitNormal.Quantile((below+above)/2/total))
		if k < len(of)-1 {
			f.cuts = append(f.cuts, distuv.UnitNormal.Quantile(above/total))
		}
		below = above
	}
	return f
}

func (f *Ordinal) Values() []float64 { return f.values }
func (f *Ordinal) Cuts() []float64   { return f.cuts }

// At returns f with other thresholds, as many as before.
func (f *Ordinal) At(cuts []float64) *Ordinal {
	g := &Ordinal{values: f.values, cuts: slices.Clone(cuts)}
	below := 0.
	for k := range f.values {
		above := 1.
		if k < len(cuts) {
			above = distuv.UnitNormal.CDF(cuts[k])
		}
		g.middles = append(g.middles, distuv.UnitNormal.Quantile((below+above)/2))
		below = above
	}
	return g
}

func (f *Ordinal) Kind() string { return OrdinalKind }

// Check fails for values that are not categories of the fit.
func (f *Ordinal) Check(x float64) error {
	if _, found := slices.BinarySearch(f.values, x); !found {
		return &ValueError{Kind: "place among the ordered categories", Needs: fmt.Sprintf("%s (%d values)", span(f.values), len(f.values))}
	}
	return nil
}

func span(values []float64) string {
	var words []string
	for _, v := range values {
		words = append(words, data.FormatNumber(v))
	}
	const first = 10
	if last := len(words) - 1; last > first {
		words = append(words[:first], "…", words[last])
	}
	return strings.Join(words, ", ")
}

func (f *Ordinal) Forward(x float64) float64 {
	k, found := slices.BinarySearch(f.values, x)
	if !found && k > 0 && (k == len(f.values) || x-f.values[k-1] < f.values[k]-x) {
		k--
	}
	return f.middles[k]
}

// Inverse is the category of a latent number.
func (f *Ordinal) Inverse(y float64) float64 { return f.values[sort.SearchFloat64s(f.cuts, y)] }

func (f *Ordinal) Slope(float64) (log, curvature float64) { return 0, 0 }

func (f *Ordinal) Bounds(_, _ float64) (float64, float64) { return math.Inf(-1), math.Inf(1) }

func (f *Ordinal) MarshalJSON() ([]byte, error) {
	return json.Marshal(file{Kind: f.Kind(), Categories: f.values, Thresholds: f.cuts})
}

// cuts returns the thresholds by column (data.Table.Cuts); nil if no column is ordinal.
func (c Columns) cuts() (all [][]float64) {
	for _, j := range c.Ordinal() {
		if all == nil {
			all = make([][]float64, len(c))
		}
		all[j] = c[j].(*Ordinal).cuts
	}
	return all
}

// At returns c with other thresholds (data.Table.Cuts); nil entries keep theirs.
func (c Columns) At(cuts [][]float64) Columns {
	if cuts == nil {
		return c
	}
	moved := slices.Clone(c)
	for _, j := range c.Ordinal() {
		moved[j] = c[j].(*Ordinal).At(cuts[j])
	}
	return moved
}

func (c Columns) Ordinal() (columns []int) {
	for j, f := range c {
		if _, ok := f.(*Ordinal); ok {
			columns = append(columns, j)
		}
	}
	return columns
}
