package descent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/em"
)

// A hundred turns of which none moves half as little as the first, and a third of which lower
// the likelihood, are rounding's; fewer, or with a likelihood that only grows, are not.
func TestStall(t *testing.T) {
	for lower, want := range map[int]bool{33: false, 34: true} {
		var s Stall
		likelihood := 1.
		for turn := range stalledTurns {
			require.False(t, s.reached())
			if likelihood++; turn > 0 && turn <= lower {
				likelihood -= 2
			}
			s.note(&em.State{Relative: 1e-4, Likelihood: likelihood})
		}
		require.Equal(t, want, s.reached(), lower)
		s.note(&em.State{Relative: 4e-5, Likelihood: likelihood})
		require.Equal(t, 1, s.Turns)
	}
}
