package claims

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// meanAnytime is the mean of x and the half width of its anytime interval.
func meanAnytime(x []float64, level float64) (mean, half float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean, anytimeFactor(len(x), level) * stat.StdErr(sd, float64(len(x)))
}

// differenceAnytime is that of the means of independent samples, each of which holds at half of
// the risk: the half widths add up, for no sequence of Welch's kind is known.
func differenceAnytime(x, y []float64, level float64) (difference, half float64) {
	each := 1 - (1-level)/2
	meanX, halfX := meanAnytime(x, each)
	meanY, halfY := meanAnytime(y, each)
	return meanX - meanY, halfX + halfY
}

// anytimeFactor is the half width, in units of the standard error s/√n, of an interval for the
// mean of n normal values that holds at every n ≥ m at once, m = LeastReplicates: whoever looks
// after each replicate and stops when he likes what he sees is wrong with probability 1 − level
// at most. It is the confidence sequence of Lai (On confidence sequences, Annals of Statistics 4,
// 1976, 265–280), which Wang and Ramdas explain (Anytime-valid t-tests and confidence sequences for
// Gaussian means with unknown variance, arXiv 2310.03722): with v² = Σ(x_i − x̄)²/n,
//
//	P(|x̄_n − μ| ≥ v_n √((b n)^(1/n) − 1) for some n ≥ m) ≤ 2 (1 − F(a) + a f(a)),  b = (1 + a²/(m−1))^m / m,
//
// F and f being the distribution function and the density of Student's t with m−1 degrees of
// freedom. For v_n = s √((n−1)/n) the half width is s/√n times √((n−1) ((b n)^(1/n) − 1)).
func anytimeFactor(n int, level float64) float64 {
	const m = float64(LeastReplicates)
	a := firstLook(1 - level)
	logB := m*math.Log1p(a*a/(m-1)) - math.Log(m)
	return math.Sqrt(float64(n-1) * math.Expm1((logB+math.Log(float64(n)))/float64(n)))
}

// firstLook is the a with 2 (1 − F(a) + a f(a)) = risk, by bisection: the left side falls from 1
// at 0 to 0. At the first look |t| ≥ a lies outside.
func firstLook(risk float64) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: LeastReplicates - 1}
	above := func(a float64) bool { return 2*(t.Survival(a)+a*t.Prob(a)) > risk }
	low, high := 0.0, 1.0
	for above(high) {
		low, high = high, 2*high
	}
	for range 60 {
		if middle := (low + high) / 2; above(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
