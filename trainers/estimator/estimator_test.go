package estimator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/estimator"
	"missingscore/trainers/estimatortest"
)

func TestEstimators(t *testing.T) {
	for _, e := range estimator.All {
		t.Run(e.Name, func(t *testing.T) { estimatortest.Run(t, e.Name) })
	}
}

func TestUnknownEstimator(t *testing.T) {
	_, err := estimator.ByName("vae")
	require.EqualError(t, err, `there is no method "vae"; methods are var, iw, variw, exact, exact-mc, em, em-full, zeroed, full`)
}
