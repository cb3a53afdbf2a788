package descent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStall(t *testing.T) {
	for rose, want := range map[int]bool{33: false, 34: true} {
		var s Stall
		loss := 1.
		for turn := range stalledIterations {
			require.False(t, s.reached())
			if loss--; turn > 0 && turn <= rose {
				loss += 2
			}
			s.note(1e-4, loss)
		}
		require.Equal(t, want, s.reached(), rose)
		s.note(4e-5, loss)
		require.Equal(t, 1, s.Count)
	}
}

func TestWild(t *testing.T) {
	for rose, want := range map[int]bool{10: true, 9: false, 0: false} {
		var s Stall
		loss := 1.
		for turn := range stalledIterations {
			require.False(t, s.wild())
			if loss--; turn > 0 && turn <= rose {
				loss += 2
			}
			s.note(1e-4, loss)
		}
		require.Equal(t, want, s.wild(), rose)
		for turn := stalledIterations; turn < 10*stalledIterations; turn++ {
			loss--
			s.note(1e-4, loss)
			require.Equal(t, turn == 10*stalledIterations-1 || 10*s.Rose >= s.Count, s.wild())
		}
	}
}
