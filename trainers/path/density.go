package path

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"missingscore/internal/setting"
)

// density chooses the λ whose share of edges is nearest to a given one.
type density struct{ plain }

const densityMust = "the share of edges must be a number from 0 to 1"

func (density) name() string { return "density" }

func (density) form() string { return "density=F (share of edges)" }

func (density) parse(value string) (s Selection, err error) {
	s.Kind = "density"
	if s.Density, err = strconv.ParseFloat(value, 64); err != nil {
		return s, errors.New(densityMust)
	}
	return s, nil
}

func (density) resolve(s Selection, _ int) (Selection, error) {
	if !(s.Density >= 0 && s.Density <= 1) {
		return s, setting.Errorf("select", fmt.Sprintf("density=%v", s.Density), densityMust)
	}
	return s, nil
}

func (density) judges() bool { return false }

func (density) describe(s Selection, _, _ bool) string { return fmt.Sprintf("density %g", s.Density) }

func (density) choose(_ context.Context, r *Run) (choice, error) {
	var scores []float64
	for _, p := range r.State.Points {
		scores = append(scores, math.Abs(float64(p.Edges)/float64(r.candidates())-r.Config.Select.Density))
	}
	return r.least(scores), nil
}
