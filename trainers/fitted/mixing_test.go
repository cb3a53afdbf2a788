package fitted_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/fitted"
	"missingscore/trainers/mcmc"
)

// Chains have met where R̂ is at most 1.05 pooled, and at most 1.2 in every row.
func TestMixingConverged(t *testing.T) {
	for m, want := range map[mcmc.Mixing]bool{
		{RHat: 1.05, Worst: 1.2}: true, {RHat: 1.06, Worst: 1.1}: false, {RHat: 1.01, Worst: 1.21}: false,
	} {
		require.Equal(t, want, (&fitted.Mixing{Mixing: m}).Converged(), m)
	}
}
