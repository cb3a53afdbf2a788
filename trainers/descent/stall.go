package descent

import "missingscore/trainers/gaussian/em"

// Stall counts the turns since one last moved half as little as the turn before the count,
// and those among them that lowered the likelihood, which an exact turn never does.
type Stall struct {
	Least      float64 // the relative movement that the count began with
	Turns      int
	Lower      int
	Likelihood float64 // after the last turn
}

const (
	stalledTurns = 100
	mostStalled  = 1e-2 // relative movement that rounding may leave
)

// note counts a turn.
func (l *Stall) note(s *em.State) {
	if l.Turns == 0 || s.Relative < l.Least/2 {
		*l = Stall{Least: s.Relative, Likelihood: s.Likelihood}
	}
	if l.Turns++; s.Likelihood < l.Likelihood {
		l.Lower++
	}
	l.Likelihood = s.Likelihood
}

// reached says that what is left is rounding: in so many turns nothing came of it, and a
// third of them lowered the likelihood.
func (l *Stall) reached() bool { return l.Turns >= stalledTurns && 3*l.Lower >= l.Turns }

// wild says that the acceleration leads nowhere: nothing came of a hundred turns, a tenth of
// which lowered the likelihood, or of a thousand.
func (l *Stall) wild() bool {
	return l.Turns >= stalledTurns && 10*l.Lower >= l.Turns || l.Turns >= 10*stalledTurns
}
