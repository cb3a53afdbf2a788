package em

import "context"

// Ascend is a turn that takes an acceleration back under which the likelihood fell: the next
// one then starts from the last minimisation step's solution, where an exact turn never has a
// lower likelihood than the turn before (Dempster, Laird & Rubin 1977). back says that it was
// taken back, and nothing came of the turn.
func (t Turns) Ascend(ctx context.Context, s *State, minimise Minimiser) (back bool, err error) {
	before, accelerated := *s, len(s.Anderson.X) > 1
	err = t.Turn(ctx, s, minimise)
	if err != nil || !accelerated || s.Likelihood >= before.Likelihood {
		return false, err
	}
	count := s.Count
	*s = before
	s.Count = count
	s.Anderson.Forget()
	t.Settle(s)
	return true, nil
}
