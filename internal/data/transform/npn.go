package transform

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

const mostKnots = 2000

// normalScores is the nonparanormal of Liu, Lafferty and Wasserman (2009): it maps a column's
// observed cells to normal quantiles,
//
//	T(x_(k)) = Φ⁻¹(r_k/(n+1)),   r_k the rank of x_(k) among the n observed cells,
//
// with mean ranks for ties, linear between distinct values, and beyond them along the chord of the
// outer tenth of the knots (docs/theory/transforms.md#nonparanormal). The inverse clips x to the
// column's bounds.
type normalScores struct {
	values, scores []float64 // the knots, both increasing
	lower, upper   float64   // of the column, possibly infinite
}

// fitNormalScores needs at least two different cells x; nil weights are ones.
func fitNormalScores(x, weights []float64, low, high float64) Function {
	f, below := &normalScores{lower: low, upper: high}, 0.
	of, n := shares(x, weights)
	for _, c := range of {
		rank := below + (1+c.weight)/2
		f.values = append(f.values, c.value)
		f.scores = append(f.scores, distuv.UnitNormal.Quantile(rank/(n+1)))
		below += c.weight
	}
	f.thin()
	return f
}

func (f *normalScores) thin() {
	last := len(f.scores) - 1
	if last < mostKnots {
		return
	}
	step := (f.scores[last] - f.scores[0]) / mostKnots
	kept := 0
	for k := 1; k <= last; k++ {
		if f.scores[k]-f.scores[kept] >= step || k == last {
			kept++
			f.values[kept], f.scores[kept] = f.values[k], f.scores[k]
		}
	}
	f.values, f.scores = f.values[:kept+1], f.scores[:kept+1]
}

// smooth keeps about √n of n knots: slopes between neighbouring cells are too rough for a density.
func (f *normalScores) smooth() *normalScores {
	last := len(f.values) - 1
	step := max(1, int(math.Sqrt(float64(last))))
	g := &normalScores{lower: f.lower, upper: f.upper}
	for k := 0; k < last; k += step {
		g.values, g.scores = append(g.values, f.values[k]), append(g.scores, f.scores[k])
	}
	g.values, g.scores = append(g.values, f.values[last]), append(g.scores, f.scores[last])
	return g
}

func (f *normalScores) Kind() string { return "npn" }

func (f *normalScores) Check(float64) error { return nil }

func (f *normalScores) Forward(x float64) float64 { return along(f.values, f.scores, x) }

func (f *normalScores) Inverse(y float64) float64 {
	return min(max(along(f.scores, f.values, y), f.lower), f.upper)
}

func (f *normalScores) Bounds(_, _ float64) (float64, float64) { return math.Inf(-1), math.Inf(1) }

// Slope is the slope of the piece at x, at a knot that of its neighbours' chord. Curvature is 0.
func (f *normalScores) Slope(x float64) (log, curvature float64) {
	k := sort.SearchFloat64s(f.values, x)
	last := len(f.values) - 1
	if k > 0 && k < last && f.values[k] == x {
		return math.Log((f.scores[k+1] - f.scores[k-1]) / (f.values[k+1] - f.values[k-1])), 0
	}
	_, _, slope := piece(f.values, f.scores, x)
	return math.Log(slope), 0
}

func along(from, to []float64, x float64) float64 {
	at, value, slope := piece(from, to, x)
	return value + slope*(x-at)
}

// At an inner knot piece is the left one.
func piece(from, to []float64, x float64) (at, value, slope float64) {
	last := len(from) - 1
	outer := max(1, last/10)
	k := sort.SearchFloat64s(from, x)
	switch {
	case k == 0:
		return from[0], to[0], (to[outer] - to[0]) / (from[outer] - from[0])
	case k > last:
		return from[last], to[last], (to[last] - to[last-outer]) / (from[last] - from[last-outer])
	}
	return from[k], to[k], (to[k] - to[k-1]) / (from[k] - from[k-1])
}

func (f *normalScores) MarshalJSON() ([]byte, error) {
	s := file{Kind: f.Kind(), Values: f.values, Scores: f.scores}
	if !math.IsInf(f.lower, -1) {
		s.Lower = &f.lower
	}
	if !math.IsInf(f.upper, 1) {
		s.Upper = &f.upper
	}
	return json.Marshal(s)
}

type share struct{ value, weight float64 }

// shares returns the distinct values of x, increasing, with their weights, and the total.
func shares(x, weights []float64) (of []share, total float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for _, i := range order {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		if n := len(of); n == 0 || of[n-1].value != x[i] {
			of = append(of, share{value: x[i]})
		}
		of[len(of)-1].weight += w
		total += w
	}
	return of, total
}
