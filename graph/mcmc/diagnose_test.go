package mcmc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

// Autoregressive chains x_t = ρ x_(t−1) + noise have the effective size N (1−ρ)/(1+ρ);
// chains whose means differ with variance v, beside 1 within, have R-hat √(1+v).
func TestDiagnose(t *testing.T) {
	const chains, n = 40, 4000
	for _, c := range []struct{ rho, apart float64 }{{0, 0}, {0.6, 0}, {0, 1}, {0.3, 3}} {
		rng := stream.New(1, 1)
		traces := make([][]float64, chains)
		for k := range traces {
			shift := math.Sqrt(c.apart) * math.Copysign(1, float64(k%2)-0.5)
			x := rng.NormFloat64()
			for range n {
				x = c.rho*x + math.Sqrt(1-c.rho*c.rho)*rng.NormFloat64()
				traces[k] = append(traces[k], x+shift)
			}
		}
		rhat, size := diagnose(traces)
		require.InDelta(t, math.Sqrt(1+c.apart*2*chains/(2*chains-1)), rhat, 0.01)
		if c.apart == 0 {
			require.InEpsilon(t, chains*n*(1-c.rho)/(1+c.rho), size, 0.1)
		} else {
			require.Less(t, size, 200.)
		}
	}
}
