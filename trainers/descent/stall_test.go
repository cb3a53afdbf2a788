package descent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/gaussian/em"
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

// Turns are wild where nothing came of a hundred, ten of which lowered the likelihood, or of a thousand.
func TestWild(t *testing.T) {
	for lower, want := range map[int]bool{10: true, 9: false, 0: false} {
		var s Stall
		likelihood := 1.
		for turn := range stalledTurns {
			require.False(t, s.wild())
			if likelihood++; turn > 0 && turn <= lower {
				likelihood -= 2
			}
			s.note(&em.State{Relative: 1e-4, Likelihood: likelihood})
		}
		require.Equal(t, want, s.wild(), lower)
		for turn := stalledTurns; turn < 10*stalledTurns; turn++ {
			likelihood++
			s.note(&em.State{Relative: 1e-4, Likelihood: likelihood})
			require.Equal(t, turn == 10*stalledTurns-1 || 10*s.Lower >= s.Turns, s.wild())
		}
	}
}
