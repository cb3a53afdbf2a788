package descent

import (
	"missingscore/graph/model"
	"missingscore/internal/setting"
)

// Parameters that steps with noise leave behind go to and fro about those that they come to. With
// a share a the fit is the running mean
//
//	θ̄ ← θ̄ + (θ − θ̄) / max(1, a t)
//
// after step t, as the polynomial-decay averaging of Shamir & Zhang 2013 ("Stochastic gradient descent
// for non-smooth optimization", §4). Its weights grow as t^(1/a − 1): the last a of the steps made,
// however many these are, have about two thirds of the weight. The steps go on from θ.

const mostAveraged = 0.5 // share of the steps

// resolveAverage fills in the share of the model's own, if it has one.
func (c Config) resolveAverage(training model.Training, p Problem) (Config, error) {
	switch {
	case c.Average == nil && !p.Penalised && training.Average > 0:
		c.Average = &training.Average
	case c.Average != nil && p.Penalised && *c.Average > 0:
		return c, setting.Errorf("average", *c.Average, "a mean of couplings is 0 only where all of them were, and the penalty is to make them so; leave it out, or the penalty")
	}
	return c, nil
}

// average takes the parameters after a step into their mean.
func (a *adam) average() {
	s, share := a.State, a.Fit.Config.Average
	if share == nil || *share == 0 {
		return
	}
	params := a.Model.Params()
	if s.Average == nil {
		for _, p := range params {
			s.Average = append(s.Average, make([]float64, len(p.Value)))
		}
	}
	by := 1 / max(1, *share*float64(s.Iteration))
	for i, p := range params {
		mean := s.Average[i]
		for k, v := range p.Value {
			mean[k] += by * (v - mean[k])
		}
	}
}

// swapAverage exchanges the model's parameters for their mean.
func (a *adam) swapAverage() {
	for i, mean := range a.State.Average {
		for k, p := 0, a.Model.Params()[i]; k < len(mean); k++ {
			mean[k], p.Value[k] = p.Value[k], mean[k]
		}
	}
}

// takeAverage puts the model to the mean of its parameters, which stays as it is.
func (a *adam) takeAverage() {
	for i, mean := range a.State.Average {
		copy(a.Model.Params()[i].Value, mean)
	}
}
