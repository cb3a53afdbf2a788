package losses

import "missingscore/graph"

// others is, for draw k, the mean of f over the row's other draws:
// (Σ_l f_l − f_k)/(r−1).
func others(b *graph.Builder, f graph.Node, r int) graph.Node {
	return b.Scale(1/float64(r-1), b.Sub(b.GroupRepeat(b.GroupSum(f, r), r), f))
}

// otherPairs is, for draw k, the unbiased estimate of E[s]² from the other draws:
// u_k = ((Σ_{l≠k} s_l)² − Σ_{l≠k} s_l²)/((r−1)(r−2)).
func otherPairs(b *graph.Builder, s graph.Node, r int) graph.Node {
	sum := others(b, s, r)              // Σ/(r−1)
	square := others(b, b.Square(s), r) // Σ²/(r−1)
	n := float64(r - 1)
	return b.Scale(1/(n*float64(r-2)), b.Sub(b.Scale(n*n, b.Square(sum)), b.Scale(n, square)))
}
