package path

import (
	"fmt"
	"strconv"
	"strings"

	"missingscore/internal/setting"
)

// Selection chooses the λ of a path. Zero values mean the defaults named here.
type Selection struct {
	Kind    string   `json:"kind"`            // "ebic" (the default), "cv", "stars", "density" or "none" (the smallest λ)
	Density float64  `json:"density"`         // of "density": share of all pairs that are edges
	Gamma   *float64 `json:"gamma,omitempty"` // of "ebic"; 0 is BIC; nil: DefaultGamma
	Folds   int      `json:"folds"`           // of "cv"; 5
	Beta    float64  `json:"beta"`            // of "stars": the largest instability; 0.05
}

// Kinds are the values of Selection.Kind.
var Kinds = []string{"ebic", "cv", "stars", "density", "none"}

// Resolve fills zero values for a table of so many rows and checks the rest.
func (s Selection) Resolve(rows int) (Selection, error) {
	setting.Default(&s.Kind, "ebic")
	if err := setting.OneOf("select", s.Kind, Kinds...); err != nil {
		return s, err
	}
	switch s.Kind {
	case "ebic":
		if s.Gamma == nil {
			s.Gamma = new(DefaultGamma)
		}
		return s, setting.NotNegative(setting.Field{Name: "gamma", Value: *s.Gamma})
	case "cv":
		if setting.Default(&s.Folds, DefaultFolds); s.Folds < 2 || s.Folds > rows {
			return s, setting.Errorf("select", fmt.Sprintf("cv=%d", s.Folds), "from 2 folds to one for each of the table's %d rows are possible", rows)
		}
	case "stars":
		if setting.Default(&s.Beta, DefaultBeta); !(s.Beta > 0 && s.Beta < 0.5) {
			return s, setting.Errorf("select", fmt.Sprintf("stars=%v", s.Beta), "the largest instability must be between 0 and 0.5")
		}
	case "density":
		if !(s.Density >= 0 && s.Density <= 1) {
			return s, setting.Errorf("select", fmt.Sprintf("density=%v", s.Density), "the share of edges must be from 0 to 1")
		}
	}
	return s, nil
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
			return Selection{}, setting.Errorf("select", s, "the share of edges must be a number from 0 to 1")
		}
		return Selection{Kind: "density", Density: f}, nil
	case kind == "cv":
		folds := DefaultFolds
		if has {
			var err error
			if folds, err = strconv.Atoi(value); err != nil || folds < 2 {
				return Selection{}, setting.Errorf("select", s, "the number of folds must be 2 or more")
			}
		}
		return Selection{Kind: "cv", Folds: folds}, nil
	case kind == "stars":
		beta := DefaultBeta
		if has {
			var err error
			if beta, err = strconv.ParseFloat(value, 64); err != nil || !(beta > 0 && beta < 0.5) {
				return Selection{}, setting.Errorf("select", s, "the largest instability must be a number between 0 and 0.5")
			}
		}
		return Selection{Kind: "stars", Beta: beta}, nil
	case s == "ebic":
		return Selection{Kind: "ebic"}, nil
	case s == "none":
		return Selection{Kind: "none"}, nil
	}
	return Selection{}, setting.Errorf("select", s, "it is ebic, cv, cv=FOLDS, stars, stars=BETA, density=F (as density=0.1) or none")
}

// Judges says whether a criterion on the data chooses, which may point off the path.
func (s Selection) Judges() bool { return s.Kind == "ebic" || s.Kind == "cv" || s.Kind == "stars" }
