package estimator_test

import (
	"testing"

	"missingscore/trainers/estimator"
	"missingscore/trainers/estimatortest"
)

func TestEstimators(t *testing.T) {
	for _, e := range estimator.All {
		t.Run(e.Name, func(t *testing.T) { estimatortest.Run(t, e.Name) })
	}
}
