package descent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A third of the losses of stalledIterations that rose ends the fit; a tenth makes it wild.
func TestStall(t *testing.T) {
	for rose, want := range map[int][2]bool{0: {}, 9: {}, 10: {false, true}, 33: {false, true}, 34: {true, true}} {
		var s Stall
		loss := 1.
		for turn := range stalledIterations {
			require.False(t, s.reached() || s.wild())
			if loss--; turn > 0 && turn <= rose {
				loss += 2
			}
			s.note(1e-4, loss)
		}
		require.Equal(t, want, [2]bool{s.reached(), s.wild()}, rose)
		for turn := stalledIterations; turn < 10*stalledIterations; turn++ {
			loss--
			s.note(1e-4, loss)
			require.Equal(t, turn == 10*stalledIterations-1 || 10*s.Rose >= s.Count, s.wild())
		}
		s.note(4e-5, loss)
		require.Equal(t, 1, s.Count)
	}
}
