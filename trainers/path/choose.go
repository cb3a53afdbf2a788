package path

import "math"

// choose rates the points and says which is chosen: that with the smallest score,
// for "stars" the last below its bound.
func (r *Run) choose() (scores []float64, chosen int, err error) {
	s, points := r.Config.Select, r.State.Points
	switch s.Kind {
	case "none":
		return nil, len(points) - 1, nil
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
			if v <= s.Beta {
				chosen = i
			}
		}
		return scores, chosen, nil
	default:
		if scores, err = r.ebic(*s.Gamma); err != nil {
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
