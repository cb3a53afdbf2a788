package path

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Selection chooses the λ of a path.
type Selection struct {
	Kind    string  `json:"kind"`    // "ebic", "cv", "stars", "density" or "none" (the smallest λ)
	Density float64 `json:"density"` // of "density": share of all pairs that are edges
	Gamma   float64 `json:"gamma"`   // of "ebic"; 0 is BIC
	Folds   int     `json:"folds"`   // of "cv"; 5
	Beta    float64 `json:"beta"`    // of "stars": the largest instability; 0.05
}

// DefaultGamma is below the 0.5 of bootnet, because the criterion judges the
// path's shrunken estimates, whose likelihood understates what an edge brings:
// with 0.5 and half of the cells missing it left simulated stars empty
// (benchmarks/README.md).
const DefaultGamma = 0.25

const (
	DefaultFolds = 5    // of "cv"
	DefaultBeta  = 0.05 // of "stars", as its authors
)

// ParseSelection reads ebic, cv, cv=FOLDS, stars, stars=BETA, density=F or none.
func ParseSelection(s string) (Selection, error) {
	kind, value, has := strings.Cut(s, "=")
	switch {
	case kind == "density" && has:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return Selection{}, fmt.Errorf("density=%s: the share of edges must be a number from 0 to 1", value)
		}
		return Selection{Kind: "density", Density: f}, nil
	case kind == "cv":
		folds := DefaultFolds
		if has {
			var err error
			if folds, err = strconv.Atoi(value); err != nil || folds < 2 {
				return Selection{}, fmt.Errorf("cv=%s: the number of folds must be 2 or more", value)
			}
		}
		return Selection{Kind: "cv", Folds: folds}, nil
	case kind == "stars":
		beta := DefaultBeta
		if has {
			var err error
			if beta, err = strconv.ParseFloat(value, 64); err != nil || !(beta > 0 && beta < 0.5) {
				return Selection{}, fmt.Errorf("stars=%s: the largest instability must be a number between 0 and 0.5", value)
			}
		}
		return Selection{Kind: "stars", Beta: beta}, nil
	case s == "ebic":
		return Selection{Kind: "ebic", Gamma: DefaultGamma}, nil
	case s == "none":
		return Selection{Kind: "none"}, nil
	}
	return Selection{}, fmt.Errorf("selection %q: it is ebic, cv, cv=FOLDS, stars, stars=BETA, density=F (as density=0.1) or none", s)
}

// judges says whether a criterion on the data chooses, which may point off the path.
func (s Selection) judges() bool { return s.Kind == "ebic" || s.Kind == "cv" || s.Kind == "stars" }

// score rates the points and says which is chosen: that with the smallest score,
// for "stars" the last below its bound.
func (s Selection) score(r *pathRun) (scores []float64, chosen int, err error) {
	points := r.state.Points
	switch s.Kind {
	case "none":
		return nil, len(points) - 1, nil
	case "density":
		d := r.table.D
		for _, p := range points {
			scores = append(scores, math.Abs(float64(p.Edges)/float64(d*(d-1)/2)-s.Density))
		}
	case "cv":
		scores = r.state.Resampled.crossValidated(s.parts(r.table.N, r.config.Seed))[:len(points)]
	case "stars": // the densest network that is stable enough
		scores = r.state.Resampled.instability()[:len(points)]
		for i, v := range scores {
			if v <= s.Beta {
				chosen = i
			}
		}
		return scores, chosen, nil
	default:
		if scores, err = r.ebic(s.Gamma); err != nil {
			return nil, 0, err
		}
	}
	for i, v := range scores {
		if v < scores[chosen] {
			chosen = i
		}
	}
	return scores, chosen, nil
}
