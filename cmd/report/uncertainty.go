package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"missingscore/cmd/picture"
	"missingscore/data/network"
	"missingscore/trainers"
	"missingscore/trainers/inference"
)

const (
	forestPairs    = 40   // intervals that a picture shows, at most
	shownInclusion = 0.25 // of resamples, of a pair that is no edge of the network, to be shown
)

// drawUncertainty draws what is known of the pairs: intervals, p values, inclusion.
func drawUncertainty(r *trainers.NetworkResult) (out []drawing, err error) {
	if r.Inference == nil {
		return nil, nil
	}
	shown := forest(r.Network)
	if len(shown) > 0 {
		p, err := picture.Forest("Partial correlations with their intervals", "partial correlation", shown)
		if err != nil {
			return nil, err
		}
		out = append(out, drawing{"intervals", fmt.Sprintf("The %d pairs of the largest estimates, with their intervals: grey where 0 is inside.", len(shown)), p, 16 * vg.Centimeter, picture.ForestHeight(len(shown))})
	}
	var p []float64
	resampled := false
	for _, e := range r.Network.Pairs {
		if u := e.Uncertainty; !math.IsNaN(u.P) {
			p = append(p, u.P)
		}
		resampled = resampled || !math.IsNaN(e.Uncertainty.Inclusion) && !math.IsNaN(e.Uncertainty.Estimate)
	}
	if len(p) > 0 {
		drawn, err := picture.PValues(p)
		if err != nil {
			return nil, err
		}
		out = append(out, drawing{"pvalues", "p values of all pairs. Pairs without an edge are spread evenly, at the height of the part on the right; what stands above that on the left are edges.", drawn, 12 * vg.Centimeter, 8 * vg.Centimeter})
	}
	if resampled {
		drawn, left, err := picture.Inclusion(r.Network.Pairs)
		if err != nil {
			return nil, err
		}
		caption := "Each pair: its estimate, and the share of resamples whose network has it as an edge."
		if left > 0 {
			caption += fmt.Sprintf(" The pairs with the largest shares are drawn; the %d others are in pairs.csv.", left)
		}
		out = append(out, drawing{"inclusion", caption, drawn, 12 * vg.Centimeter, 8 * vg.Centimeter})
	}
	return out, nil
}

// forest are the pairs with the largest estimates, from the most positive to the most
// negative, with their nodes' labels.
func forest(n *network.Network) []network.Edge {
	var pairs []network.Edge
	for _, e := range n.Pairs {
		u := e.Uncertainty
		if absent := u.Estimate == 0 && !(u.Inclusion >= shownInclusion); !math.IsNaN(u.Estimate) && !absent {
			e.From, e.To = n.Label(e.From), n.Label(e.To)
			pairs = append(pairs, e)
		}
	}
	slices.SortStableFunc(pairs, func(a, b network.Edge) int {
		return cmp.Compare(math.Abs(b.Uncertainty.Estimate), math.Abs(a.Uncertainty.Estimate))
	})
	pairs = pairs[:min(len(pairs), forestPairs)]
	slices.SortStableFunc(pairs, func(a, b network.Edge) int { return cmp.Compare(b.Uncertainty.Estimate, a.Uncertainty.Estimate) })
	return pairs
}

// inferenceText says how the uncertainty was found.
func inferenceText(c inference.Config) string {
	text := fmt.Sprintf("%s: %s; intervals of %g %%", c.Kind, inference.Kinds[c.Kind].Note, 100*c.Level)
	if inference.Kinds[c.Kind].Resamples {
		text = fmt.Sprintf("%d × %s", c.Resamples, text)
	}
	return text
}
