package fitted

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data/transform"
)

const (
	mostLevels  = 20
	sharedValue = 5 // cells that a level has on average at least
)

// levels is the function of a column of few values: each stands for an interval of a number
// behind it, whose ends are the standard normal's quantiles of the shares of the cells below;
// T(value) lies within, at the quantile of the middle of its share.
type levels struct{ values, cuts, middles []float64 }

// levelsOf is nil for a column that has many values: more than 20, or one in five of its cells.
func levelsOf(x []float64) *levels {
	sorted := slices.Sorted(slices.Values(x))
	l := &levels{values: slices.Compact(slices.Clone(sorted))}
	if len(l.values) > mostLevels || len(x) < sharedValue*len(l.values) {
		return nil
	}
	n := float64(len(x))
	for k, v := range l.values {
		from := float64(sort.SearchFloat64s(sorted, v))
		to := n
		if k+1 < len(l.values) {
			to = float64(sort.SearchFloat64s(sorted, l.values[k+1]))
			l.cuts = append(l.cuts, distuv.UnitNormal.Quantile(to/n))
		}
		l.middles = append(l.middles, distuv.UnitNormal.Quantile((from+to)/2/n))
	}
	return l
}

// Kind implements transform.Function.
func (l *levels) Kind() string { return "levels" }

// Check implements transform.Function.
func (l *levels) Check(float64) error { return nil }

// Forward implements transform.Function.
func (l *levels) Forward(x float64) float64 { return l.middles[floats.NearestIdx(l.values, x)] }

// Inverse implements transform.Function.
func (l *levels) Inverse(y float64) float64 { return l.values[sort.SearchFloat64s(l.cuts, y)] }

// Slope implements transform.Function: there is none.
func (l *levels) Slope(float64) (log, curvature float64) { return 0, 0 }

// Bounds implements transform.Function.
func (l *levels) Bounds(_, _ float64) (float64, float64) { return math.Inf(-1), math.Inf(1) }

var _ transform.Function = (*levels)(nil)
