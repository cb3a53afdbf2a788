package trainers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers"
	"missingscore/trainers/estimatortest"
)

func TestEstimators(t *testing.T) {
	for _, e := range trainers.Estimators {
		t.Run(e.Name, func(t *testing.T) { estimatortest.Run(t, e.Name) })
	}
}

func TestUnknownEstimator(t *testing.T) {
	_, err := trainers.EstimatorByName("vae")
	require.EqualError(t, err, `there is no method "vae"; methods are var, iw, variw, exact, exact-mc, em, em-full, zeroed, full`)
}
