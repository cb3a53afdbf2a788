package trainers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	_ "missingscore/nets" // the networks among the models
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Every method that a model allows fits it, whichever way its fit is stopped.
func TestEveryMethodFitsEveryModelThatAllowsIt(t *testing.T) {
	table := modes(t, 60)
	fitted := 0
	for _, kind := range []string{"gaussian", "gaussian-natural", "gaussian-network", "quartic", "mixture", "energy"} {
		p, err := trainers.Prepare(table, trainers.Spec{Model: trainers.ModelSpec{Kind: kind}})
		require.NoError(t, err)
		for _, e := range estimator.All {
			if !p.Allows(e) {
				continue
			}
			s := trainers.Spec{
				Model:   trainers.ModelSpec{Kind: kind},
				Steps:   engine.Config{Method: e.Name, Batch: 20, Draws: 3, ImputerSteps: 1, WarmUp: new(2), Seed: 1},
				Descent: descent.Config{Optimiser: "adam", Epochs: 2, Rate: 0.001},
			}
			if kind == "mixture" || kind == "energy" { // which stop by rows held out
				s.Descent.Validation = new(0.2)
			}
			r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err, "%s by %s", kind, e.Name)
			require.Len(t, r.History, 2, "%s by %s", kind, e.Name)
			fitted++
		}
	}
	require.Greater(t, fitted, 60)
}
