package trainers

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Selection chooses the λ of a path.
type Selection struct {
	Kind    string  `json:"kind"`    // "ebic", "density" or "none" (the smallest λ)
	Density float64 `json:"density"` // of "density": share of all pairs that are edges
	Gamma   float64 `json:"gamma"`   // of "ebic"; 0 is BIC
}

// DefaultGamma is below the 0.5 of bootnet, because the criterion judges the
// path's shrunken estimates, whose likelihood understates what an edge brings:
// with 0.5 and half of the cells missing it left simulated stars empty
// (benchmarks/README.md).
const DefaultGamma = 0.25

// ParseSelection reads ebic, density=F or none.
func ParseSelection(s string) (Selection, error) {
	kind, value, has := strings.Cut(s, "=")
	switch {
	case kind == "density" && has:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return Selection{}, fmt.Errorf("density=%s: the share of edges must be a number from 0 to 1", value)
		}
		return Selection{Kind: "density", Density: f}, nil
	case s == "ebic":
		return Selection{Kind: "ebic", Gamma: DefaultGamma}, nil
	case s == "none":
		return Selection{Kind: "none"}, nil
	}
	return Selection{}, fmt.Errorf("selection %q: it is ebic, density=F (as density=0.1) or none", s)
}

// score rates the points, smaller is better, and says which is chosen.
func (s Selection) score(r *pathRun) (scores []float64, chosen int) {
	points := r.state.Points
	switch s.Kind {
	case "none":
		return nil, len(points) - 1
	case "density":
		d := r.table.D
		for _, p := range points {
			scores = append(scores, math.Abs(float64(p.Edges)/float64(d*(d-1)/2)-s.Density))
		}
	default:
		scores = r.ebic(s.Gamma)
	}
	for i, v := range scores {
		if v < scores[chosen] {
			chosen = i
		}
	}
	return scores, chosen
}
