package path

import (
	"context"
	"math"
)

// choose rates the points and says which is chosen: that with the smallest score,
// for "stars" the last below its bound, for "none" the last. An unfinished point is
// chosen only where none is finished.
func (r *Run) choose(ctx context.Context) (scores []float64, chosen int, err error) {
	s, points := r.Config.Select, r.State.Points
	finished := len(r.unfinished()) < len(points)
	out := func(i int) bool { return finished && points[i].Unfinished }
	switch s.Kind {
	case "none":
		for chosen = len(points) - 1; out(chosen); chosen-- {
		}
		return nil, chosen, nil
	case "density":
		d := r.Table.D
		for _, p := range points {
			scores = append(scores, math.Abs(float64(p.Edges)/float64(d*(d-1)/2)-s.Density))
		}
	case "cv":
		scores = r.State.Resampled.crossValidated(s.parts(r.Table.N, r.Engine.Config.Seed))[:len(points)]
	case "stars": // the densest network that is stable enough
		scores = r.State.Resampled.instability()[:len(points)]
		for i, v := range scores {
			if v <= s.Beta && !out(i) {
				chosen = i
			}
		}
		return scores, chosen, nil
	default:
		if scores, err = r.ebic(ctx, *s.Gamma); err != nil {
			return nil, 0, err
		}
	}
	for chosen = 0; out(chosen); chosen++ {
	}
	for i, v := range scores {
		if !out(i) && (v < scores[chosen] || math.IsNaN(scores[chosen])) {
			chosen = i
		}
	}
	return scores, chosen, nil
}
