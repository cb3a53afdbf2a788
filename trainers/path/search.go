package path

import (
	"context"
	"math"
	"slices"
)

const (
	coarse         = 4    // networks from one that the search for a criterion's least comes by to the next
	coarseTogether = 2    // such networks are looked at before it asks whether to go on
	coarsePatience = 4    // such networks in a row without a better one end it
	coarseRise     = 0.25 // of what the best is better than the first, and autoMargin: one worse than the best by more ends it
)

// search looks for the network of the least score, those of points from the sparsest on:
// every fourth, until four in a row are not better than the best so far or one is a quarter of
// the way back up from the best to the first, whose edges then cost far more than they explain;
// then those around the best. networks gives so many of them, or all where there are fewer;
// look prepares the scores of some points, in any order and more than once.
func search(networks func(number int) ([]int, error), look func(points []int) error, score func(point int) float64) (best int, err error) {
	var all []int
	least, at := math.Inf(1), 0
	idle := 0 // networks since the best
	visit := func(points []int) error {
		if err := look(points); err != nil {
			return err
		}
		for _, p := range points {
			if idle++; score(p) < least {
				least, at, idle = score(p), slices.Index(all, p), 0
			}
		}
		return nil
	}
	for first := 0; ; {
		if all, err = networks(first + coarse*coarseTogether); err != nil {
			return 0, err
		}
		if first >= len(all) {
			break
		}
		var points []int
		for ; first < len(all) && len(points) < coarseTogether; first += coarse {
			points = append(points, all[first])
		}
		if err := visit(points); err != nil {
			return 0, err
		}
		gain, rise := score(all[0])-least, score(points[len(points)-1])-least
		if idle >= coarsePatience || gain > 0 && rise > max(autoMargin, coarseRise*gain) {
			break
		}
	}
	err = visit(all[max(0, at-coarse+1):min(len(all), at+coarse)])
	return all[at], err
}

// shared are the values of all points by those of networks: one whose network is that of
// the point before has its value.
func (r *Run) shared(networks []int, values []float64) []float64 {
	out := slices.Clone(values)
	for i := range out {
		if n, _ := slices.BinarySearch(networks, i+1); n > 0 && !r.State.Points[i].Unfinished {
			out[i] = out[networks[n-1]]
		}
	}
	return out
}

// networksTo are the networks of the path, which is first made as far as to so many of them
// if it is made as they are needed.
func (r *Run) networksTo(ctx context.Context, number int) (networks []int, err error) {
	for networks = r.networks(); r.asNeeded() && (len(networks) < number || len(r.unfinished()) == len(r.State.Points)) && !r.ended(); networks = r.networks() {
		if err := r.pathTo(ctx, len(r.State.Points)+1); err != nil {
			return nil, err
		}
	}
	return networks, nil
}

// networks are the finished points whose network is not that of the finished one before.
func (r *Run) networks() (points []int) {
	var last []bool
	for i, p := range r.State.Points {
		if p.Unfinished && len(r.unfinished()) < len(r.State.Points) {
			continue
		}
		if edges := r.adjacency(p).Edge; !slices.Equal(edges, last) {
			points, last = append(points, i), edges
		}
	}
	return points
}
