package picture

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"missingscore/data/network"
)

// mostDots is how many pairs Inclusion draws.
const mostDots = 5000

// Inclusion draws each pair's share of resamples that have it as an edge against its
// estimate: at the top are edges that hardly depend on the sample. Pairs of which one of
// the two is not known are left out; it fails if none is left. Of more than mostDots those
// with the largest shares are drawn, and of equal ones those with the largest estimates; left
// is the number of the others.
func Inclusion(pairs []network.Edge) (p *plot.Plot, left int, err error) {
	known := slices.DeleteFunc(slices.Clone(pairs), func(e network.Edge) bool {
		return math.IsNaN(e.Uncertainty.Estimate) || math.IsNaN(e.Uncertainty.Inclusion)
	})
	if len(known) == 0 {
		return nil, 0, errors.New("picture: no pair has an inclusion share")
	}
	if left = max(0, len(known)-mostDots); left > 0 {
		slices.SortStableFunc(known, func(a, b network.Edge) int {
			u, v := a.Uncertainty, b.Uncertainty
			return cmp.Or(cmp.Compare(v.Inclusion, u.Inclusion), cmp.Compare(math.Abs(v.Estimate), math.Abs(u.Estimate)))
		})
		known = known[:mostDots]
	}
	var positive, negative plotter.XYs
	for _, e := range known {
		at := plotter.XY{X: e.Uncertainty.Estimate, Y: e.Uncertainty.Inclusion}
		if at.X < 0 {
			negative = append(negative, at)
		} else {
			positive = append(positive, at)
		}
	}
	p = blank("Estimates and how often resamples have the edge", "partial correlation", "inclusion")
	p.Add(dots(blue, positive), dots(red, negative))
	p.Y.Min, p.Y.Max = 0, 1
	return p, left, nil
}
