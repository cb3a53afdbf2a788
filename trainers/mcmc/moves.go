package mcmc

import (
	"errors"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/graph/model"
)

// Moves are Hamiltonian moves, as those of HMC, of chains that somebody else keeps: groups
// of them, one target each, that of a row's missing cells given its observed ones. Targets,
// states and step sizes may change from one Begin to the next. It is for one goroutine at a
// time.
type Moves struct{ hmc }

// NewMoves prepares for so many groups of size chains. It fails if the model has no log
// density.
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

// Begin puts the chains at x (groups·size, d), with the model as it now is. observed
// (groups, d) marks what stays, 1 = observed; scale (d) are the columns' deviations and
// step (groups) the step sizes in them.
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

// Move proposes a move for every chain and leaves in accept (groups) the mean probability
// with which a group's were taken.
func (w *Moves) Move(accept []float64, rng *rand.Rand) error {
	err := w.iterate(rng)
	for i, g := range w.groups {
		accept[i] = g.accept
	}
	return err
}

// SetStep changes a group's step size.
func (w *Moves) SetStep(group int, step float64) { w.groups[group].step = step }

// States are the chains' (groups·size, d). The memory is overwritten by the next move.
func (w *Moves) States() []float64 { return w.x }
