package compare

import (
	"fmt"
	"math"
	"slices"

	"missingscore/trainers/inference"
)

// structure is M = max over pairs of |w₁ − w₂|.
func structure(differences []float64) (m float64) {
	for _, v := range differences {
		m = max(m, math.Abs(v))
	}
	return m
}

// strength is Σ |w|.
func strength(weights []float64) (sum float64) {
	for _, w := range weights {
		sum += math.Abs(w)
	}
	return sum
}

// same is the share of a statistic by which another may be smaller and still as large: the
// same rows in another order sum up differently.
const same = 1e-9

// pValue is (1 + #{null ≥ observed}) / (1 + N) of N values under the null hypothesis, which
// is never 0 and holds its level at any N (Phipson and Smyth 2010).
func pValue(observed float64, null []float64) float64 {
	reached := 1.0
	for _, v := range null {
		if v >= observed-same*observed {
			reached++
		}
	}
	return reached / (1 + float64(len(null)))
}

// radius is the half width of the interval around a difference that holds what a test at
// 1 − level does not refuse, if permuted differences are spread as the difference is around
// its own truth: the k-th largest of their sizes, k = ⌊(1 − level)(1 + N)⌋. It does not
// reach 0 just where p ≤ 1 − level. NaN where N is too small for the level, and where it is
// 0: so few permuted networks have the pair as an edge that they say nothing of its spread.
func radius(sizes []float64, level float64) float64 {
	k := int((1-level)*float64(1+len(sizes)) + 1e-9)
	if k < 1 || k > len(sizes) {
		return math.NaN()
	}
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	if c := sorted[len(sorted)-k]; c > 0 {
		return c
	}
	return math.NaN()
}

// test fills in pairs and statistics with their p values.
func (r *Result) test(names []string, weights [2][]float64, made []Permutation) error {
	var good []Permutation
	reason := ""
	for _, m := range made {
		switch {
		case m.Failure == "":
			good = append(good, m)
		case reason == "":
			reason = m.Failure
		}
		if m.Unconverged {
			r.Unconverged++
		}
	}
	if r.Failed = len(made) - len(good); len(good) == 0 {
		return fmt.Errorf("none of %d permutations has two networks; the first failed because: %s", len(made), reason)
	}
	if r.Failed > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d permutations failed and are left out of p values; the first because: %s", r.Failed, len(made), reason))
	}
	if r.Unconverged > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("in %d of %d permutations a network has not converged; it is used as it is", r.Unconverged, len(made)))
	}
	differences := make([]float64, len(weights[0]))
	for i := range differences {
		differences[i] = weights[0][i] - weights[1][i]
	}
	r.Strengths = [2]float64{strength(weights[0]), strength(weights[1])}
	r.Structure.Observed, r.Strength.Observed = structure(differences), math.Abs(r.Strengths[0]-r.Strengths[1])
	var m, s []float64
	for _, p := range good {
		m, s = append(m, structure(p.Differences)), append(s, p.Strength)
	}
	r.Structure.P, r.Strength.P = pValue(r.Structure.Observed, m), pValue(r.Strength.Observed, s)
	r.pairs(names, weights, good)
	return nil
}

// pairs fills in the differences of pairs.
func (r *Result) pairs(names []string, weights [2][]float64, good []Permutation) {
	i := 0
	for j, from := range names {
		for _, to := range names[j+1:] {
			d := Difference{From: from, To: to, Weights: [2]float64{weights[0][i], weights[1][i]}, Value: weights[0][i] - weights[1][i]}
			sizes := make([]float64, len(good))
			for k, p := range good {
				sizes[k] = math.Abs(p.Differences[i])
			}
			half := radius(sizes, r.Config.Level)
			d.Low, d.High = max(-2, d.Value-half), min(2, d.Value+half)
			d.P = pValue(math.Abs(d.Value), sizes)
			r.Pairs = append(r.Pairs, d)
			i++
		}
	}
	p := make([]float64, len(r.Pairs))
	for i, d := range r.Pairs {
		p[i] = d.P
	}
	for i, q := range inference.BenjaminiHochberg(p) {
		r.Pairs[i].Q = q
	}
}
