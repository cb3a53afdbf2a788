package regpath

import (
	"math"
	"sort"
)

// needed is the number of half samples that must contain a chosen edge.
func needed(share float64) int { return int(math.Ceil(share*2*halvings - 1e-9)) }

// halfSize returns the largest q, at least 1, with falseEdges at most s.FalseEdges.
func halfSize(pairs int, s Selection) int {
	return max(1, sort.Search(pairs, func(q int) bool { // the bound grows with q
		bound, _, _ := falseEdges(pairs, q+1, s.Share)
		return bound > s.FalseEdges
	}))
}

// falseEdges bounds the expected number of chosen edges with a selection probability of at most θ =
// q/pairs in a half sample, as under random selection of pairs. With B halvings, networks of at
// most q edges, and edges chosen in a share τ of the 2B networks (Shah & Samworth 2013):
//
//	sharp     pairs · min(D(θ², 2τ − 1, B, −1/2), D(θ, τ, 2B, −1/4)),   see tailBound
//	unimodal  C q²/pairs,  C = 1/(2(2τ − 1 − 1/(2B))) for τ ≤ 3/4, else 4(1 − τ + 1/(2B))/(1 + 1/B)
//	any       q²/((2τ − 1) pairs)
//
// sharp holds for r-concave, unimodal for unimodal distributions of the shares, any always
// (Meinshausen & Bühlmann 2010). All are at most pairs.
func falseEdges(pairs, q int, share float64) (sharp, unimodal, any float64) {
	p, theta, tau := float64(pairs), float64(q)/float64(pairs), float64(needed(share))/(2*halvings)
	least := min(tailBound(theta*theta, needed(share)-halvings, halvings, -1./2), tailBound(theta, needed(share), 2*halvings, -1./4))
	any = min(p, theta*float64(q)/(2*tau-1))
	const b = halvings
	factor := 4 * (1 - tau + 1./(2*b)) / (1 + 1./b)
	if tau <= 0.75 {
		factor = 1 / (2 * (2*tau - 1 - 1./(2*b)))
	}
	if unimodal = factor * theta * float64(q); !(tau > min(0.5+theta*theta, 0.5+1./(2*b)+0.75*theta*theta)) {
		unimodal = any
	}
	unimodal = min(unimodal, any)
	return min(p*least, unimodal), unimodal, any
}

// tailBound returns D(η, t, B, r) of Shah & Samworth 2013: the largest P(X ≥ t/B) over X on {0,
// 1/B, …, 1} with E X ≤ η and r-concave probabilities f, r < 0, that is f^r convex on the support;
// 1/r must be an integer. The maximum has the form
//
//	f(i/B) ∝ (a + i)^(1/r)   for i ≤ k,
//
// for some a > 0 and k ≥ t, and the rest at (k + 1)/B with mean η. The bound is 1 if t ≤ 2ηB, where
// the curve cannot fall.
func tailBound(eta float64, t, b int, r float64) float64 {
	c := curve{mean: eta * float64(b), power: int(math.Round(-1 / r))}
	first := int(math.Ceil(2*c.mean)) + 1
	if t < first {
		return 1
	}
	above, largest := steepest, 0.0
	for k := first; k <= b; k++ {
		a := c.shift(k, above)
		if k >= t {
			largest = max(largest, c.largest(t, k-1, a, above))
		}
		above = a
	}
	return largest
}

// curve is f(i) ∝ (a + i)^−power with a given mean.
type curve struct {
	mean  float64
	power int
}

// Bounds of a.
const (
	flattest = 1e-12
	steepest = 1e5
)

// shift returns the a at which f on {0, …, k} has the mean, which increases with a.
func (c curve) shift(k int, above float64) float64 {
	low, high := math.Log(flattest), math.Log(above)
	for range 100 {
		middle := (low + high) / 2
		sum, moment := c.sums(math.Exp(middle), k)
		if moment > c.mean*sum {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Exp(low)
}

// sums returns Σ f(i) and Σ i f(i) over i ≤ k, not normalised.
func (c curve) sums(a float64, k int) (sum, moment float64) {
	for i := 0; i <= k; i++ {
		f := 1.0
		for range c.power {
			f *= a / (a + float64(i)) // relative to i = 0, because a may be small
		}
		sum, moment = sum+f, moment+float64(i)*f
	}
	return sum, moment
}

// largest returns the maximum of P(X ≥ t) over a in [low, high] by golden-section search.
func (c curve) largest(t, k int, low, high float64) float64 {
	tail := func(logA float64) float64 {
		a := math.Exp(logA)
		sum, moment := c.sums(a, k)
		before, _ := c.sums(a, t-1)
		k1 := float64(k + 1)
		return 1 - (k1-c.mean)*before/(k1*sum-moment)
	}
	golden := (math.Sqrt(5) - 1) / 2
	x, y := math.Log(low), math.Log(high)
	best := max(tail(x), tail(y))
	for range 60 {
		u, v := y-golden*(y-x), x+golden*(y-x)
		if at, further := tail(u), tail(v); at > further {
			y, best = v, max(best, at)
		} else {
			x, best = u, max(best, further)
		}
	}
	return best
}
