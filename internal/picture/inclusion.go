package picture

import (
	"errors"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"missingscore/data/network"
)

// Inclusion draws each pair's share of resamples that have it as an edge against its
// estimate: at the top are edges that hardly depend on the sample. Pairs of which one of
// the two is not known are left out; it fails if none is left.
func Inclusion(pairs []network.Edge) (*plot.Plot, error) {
	var positive, negative plotter.XYs
	for _, e := range pairs {
		u := e.Uncertainty
		switch at := (plotter.XY{X: u.Estimate, Y: u.Inclusion}); {
		case math.IsNaN(at.X) || math.IsNaN(at.Y):
		case at.X < 0:
			negative = append(negative, at)
		default:
			positive = append(positive, at)
		}
	}
	if len(positive)+len(negative) == 0 {
		return nil, errors.New("picture: no pair has an inclusion share")
	}
	p := blank("Estimates and how often resamples have the edge", "partial correlation", "inclusion")
	p.Add(dots(blue, positive), dots(red, negative))
	p.Y.Min, p.Y.Max = 0, 1
	return p, nil
}
