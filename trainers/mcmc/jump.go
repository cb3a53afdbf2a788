package mcmc

import (
	"math"
	"math/rand/v2"
)

// jump proposes an independent point y for every chain, each free coordinate from
// N(Centre_j, Scale_j²) =: ν, and accepts it with probability min(1, q(y) ν(x) / q(x) ν(y))
// (Tierney 1994, "Markov Chains for Exploring Posterior Distributions", section 2.3.3).
func (h *hmc) jump(rng *rand.Rand) error {
	copy(h.y, h.x)
	h.each(func(i, j int, g *group) {
		v := rng.NormFloat64()
		u := (h.x[i] - h.Centre[j]) / h.Scale[j]
		h.p[i] = 0.5 * (v*v - u*u) // log ν(x) − log ν(y)
		h.y[i] = h.Centre[j] + h.Scale[j]*v
	})
	log, score, err := h.model.At(h.y)
	if err != nil {
		return err
	}
	for c := range h.chains {
		ratio := log[c] - h.log[c]
		for j := range h.d {
			if h.groups[c/h.size].free[j] {
				ratio += h.p[c*h.d+j]
			}
		}
		if u := rng.Float64(); !(u < math.Exp(ratio)) || !h.inside(c, h.y[c*h.d:(c+1)*h.d]) {
			continue
		}
		h.move(c, log, score)
	}
	return nil
}
