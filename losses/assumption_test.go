package losses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/losses"
)

// What each loss takes missing cells for: docs/theory/index.md#assumptions. A new one has to
// say it.
func TestLossesSayWhatTheyAssume(t *testing.T) {
	want := map[string]losses.Assumption{
		"marginal": losses.MCAR, "gaussian-marginal": losses.MCAR, "direct": losses.MCAR, "complete": losses.MCAR,
		"complete-data": losses.MAR, "gaussian-complete": losses.MAR,
	}
	for name, l := range losses.Losses {
		require.NotEmpty(t, l.Needs().Assumes, name)
		if assumes, ok := want[name]; ok {
			require.Equal(t, assumes, l.Needs().Assumes, name)
		}
	}
	require.Contains(t, losses.MCAR.String(), "completely at random (MCAR)")
	require.Equal(t, losses.MCAR.String(), losses.Assumption("").String())
	words := map[string]bool{}
	for _, a := range []losses.Assumption{losses.MCAR, losses.MAR, losses.KnownLaw, losses.EstimatedLaw, losses.NoGaps, losses.NoneHolds} {
		words[a.String()] = true
	}
	require.Len(t, words, 6)
}
