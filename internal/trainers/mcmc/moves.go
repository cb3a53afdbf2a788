package mcmc

import (
	"errors"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/graph/model"
)

// Moves makes HMC moves for chains that the caller keeps, in groups with one target each. It is not
// safe for concurrent use.
type Moves struct{ hmc }

// NewMoves makes moves for groups of size chains. It fails if the model has no log density.
func NewMoves(m model.Model, s *domain.Domain, groups, size, leapfrog int) (*Moves, error) {
	d := m.Dim()
	w := &Moves{hmc{Options: Options{Leapfrog: leapfrog}, domain: s, chains: groups * size, d: d, size: size}}
	var err error
	if w.hmc.model, err = model.NewEvaluator(m, w.chains, true); err != nil {
		return nil, err
	}
	if w.hmc.model.ScoreOnly() {
		return nil, errors.New("the model gives a score but no log density, which Metropolis steps need")
	}
	for range groups {
		w.groups = append(w.groups, &group{observed: make([]float64, d), free: make([]bool, d)})
	}
	n := w.chains * d
	w.Observed, w.energy, w.log = make([]float64, n), make([]float64, w.chains), make([]float64, w.chains)
	w.x, w.y, w.p, w.score = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	return w, nil
}

// Begin sets the chains to x (groups·size, d); observed (groups, d) marks fixed coordinates, scale
// (d) are standard deviations, step (groups) step sizes in these units.
func (w *Moves) Begin(x, observed, scale, step []float64) error {
	copy(w.x, x)
	for i, g := range w.groups {
		copy(g.observed, observed[i*w.d:(i+1)*w.d])
		g.scale, g.step = scale, step[i]
		for j, o := range g.observed {
			g.free[j] = o == 0
		}
		if w.domain != nil {
			w.domain.Section(&g.section, x[i*w.size*w.d:(i*w.size+1)*w.d], g.observed)
		}
		for c := i * w.size; c < (i+1)*w.size; c++ {
			copy(w.Observed[c*w.d:], g.observed)
		}
	}
	w.hmc.model.Renew()
	w.hmc.model.SetMask(w.Observed)
	log, score, err := w.hmc.model.At(w.x)
	copy(w.log, log)
	copy(w.score, score)
	return err
}

// Move moves every chain and writes each group's mean acceptance to accept (groups).
func (w *Moves) Move(accept []float64, rng *rand.Rand) error {
	err := w.iterate(rng)
	for i, g := range w.groups {
		accept[i] = g.accept
	}
	return err
}

func (w *Moves) SetStep(group int, step float64) { w.groups[group].step = step }

// States returns the chains (groups·size, d). The next move overwrites the buffer.
func (w *Moves) States() []float64 { return w.x }
