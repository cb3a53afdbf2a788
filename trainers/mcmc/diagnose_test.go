package mcmc

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/internal/stream"
)

// Autoregressive chains x_t = ρ x_(t−1) + noise have means of variance τ/n over n
// steps, τ = (1+ρ)/(1−ρ), hence the effective size N/τ; chains whose means differ with
// variance v, beside 1 within, have R-hat √(1+v) but for terms in 1/n.
func TestDiagnose(t *testing.T) {
	const chains, n, repeats = 40, 2000, 12
	const m, half = 2 * chains, n / 2.
	for _, c := range []struct{ rho, apart float64 }{{0, 0}, {0.6, 0}, {0, 1}, {0.3, 3}} {
		var rhats, sizes []float64
		for k := range repeats {
			rng := stream.New(1, uint64(k))
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
			rhats, sizes = append(rhats, rhat), append(sizes, size)
		}
		near := func(want float64, x []float64) {
			mean, sd := stat.MeanStdDev(x, nil)
			require.InDelta(t, want, mean, 4.03*sd/math.Sqrt(repeats)) // t(11) has its 1 − 1e−3 quantile at 4.03
		}
		tau := (1 + c.rho) / (1 - c.rho)
		near(math.Sqrt((half-1)/half+(c.apart*m/(m-1)+tau/half)/(1-tau/half)), rhats)
		if c.apart == 0 {
			near(chains*n/tau, sizes)
		} else {
			require.Less(t, slices.Max(sizes), 200.)
		}
	}
}
