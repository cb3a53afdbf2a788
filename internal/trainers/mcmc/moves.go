package mcmc

import (
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/graph/model"
)

// NewMoves makes chains for Begin and Move: groups of size chains with one target each.
func NewMoves(m model.Model, s *domain.Domain, groups, size, leapfrog int) (*Chains, error) {
	d, n := m.Dim(), groups*size
	h := &Chains{Options: Options{Leapfrog: leapfrog, Observed: make([]float64, n*d)}, domain: s, of: m, chains: n, d: d, size: size}
	for range groups {
		h.groups = append(h.groups, &group{observed: make([]float64, d), free: make([]bool, d)})
	}
	return h, h.begin(make([]float64, n*d))
}

// Begin sets the chains to x (groups·size, d); observed (groups, d) marks fixed coordinates, scale
// (d) are standard deviations, the units of step sizes.
func (h *Chains) Begin(x, observed, scale []float64) error {
	copy(h.x, x)
	for i, g := range h.groups {
		copy(g.observed, observed[i*h.d:(i+1)*h.d])
		g.scale = scale
		g.hold(h.domain, x[i*h.size*h.d:(i*h.size+1)*h.d])
		for c := i * h.size; c < (i+1)*h.size; c++ {
			copy(h.Observed[c*h.d:], g.observed)
		}
	}
	h.model.Renew()
	return h.evaluate()
}

// Move moves every chain by groups of step sizes step (groups), writes each group's mean acceptance
// to accept (groups), and returns the chains (groups·size, d). The next move overwrites them.
func (h *Chains) Move(step, accept []float64, rng *rand.Rand) ([]float64, error) {
	for i, g := range h.groups {
		g.step = step[i]
	}
	err := h.iterate(rng)
	for i, g := range h.groups {
		accept[i] = g.accept
	}
	return h.x, err
}
