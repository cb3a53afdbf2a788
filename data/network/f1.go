package network

// F1 is 2 hits / (2 hits + false edges + edges not found) of an estimate of the same size as
// the truth: the harmonic mean of the share of found edges that are true and the share of
// true edges that are found. 0 where neither has an edge.
func F1(truth, estimate Adjacency) float64 {
	hits, all := 0, 0
	for i, edge := range truth.Edge {
		if edge {
			all++
		}
		if estimate.Edge[i] {
			all++
		}
		if edge && estimate.Edge[i] {
			hits++
		}
	}
	return 2 * float64(hits) / float64(max(1, all))
}
