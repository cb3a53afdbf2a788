package mcmc

import (
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/graph/model"
)

// Moves makes HMC moves for chains that the caller keeps, in groups with one target each. It is not
// safe for concurrent use.
type Moves struct{ h Chains }

// NewMoves makes moves for groups of size chains. It fails if the model has no log density.
func NewMoves(m model.Model, s *domain.Domain, groups, size, leapfrog int) (*Moves, error) {
	d, n := m.Dim(), groups*size
	w := &Moves{Chains{Options: Options{Leapfrog: leapfrog, Observed: make([]float64, n*d)}, domain: s, of: m, chains: n, d: d, size: size}}
	for range groups {
		w.h.groups = append(w.h.groups, &group{observed: make([]float64, d), free: make([]bool, d)})
	}
	return w, w.h.begin(make([]float64, n*d))
}

// Begin sets the chains to x (groups·size, d); observed (groups, d) marks fixed coordinates, scale
// (d) are standard deviations, step (groups) step sizes in these units.
func (w *Moves) Begin(x, observed, scale, step []float64) error {
	h := &w.h
	copy(h.x, x)
	for i, g := range h.groups {
		copy(g.observed, observed[i*h.d:(i+1)*h.d])
		g.scale, g.step = scale, step[i]
		g.hold(h.domain, x[i*h.size*h.d:(i*h.size+1)*h.d])
		for c := i * h.size; c < (i+1)*h.size; c++ {
			copy(h.Observed[c*h.d:], g.observed)
		}
	}
	h.model.Renew()
	return h.evaluate()
}

// Move moves every chain and writes each group's mean acceptance to accept (groups).
func (w *Moves) Move(accept []float64, rng *rand.Rand) error {
	err := w.h.iterate(rng)
	for i, g := range w.h.groups {
		accept[i] = g.accept
	}
	return err
}

func (w *Moves) SetStep(group int, step float64) { w.h.groups[group].step = step }

// States returns the chains (groups·size, d). The next move overwrites the buffer.
func (w *Moves) States() []float64 { return w.h.x }
