package mcmc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// φ(x)(1 + 0.9 tanh x) has the mean 0.9 E[x tanh x], and the variance 1 less its square.
func TestFactor(t *testing.T) {
	const chains, steps, far = 4000, 20_000, 9.0
	mean := 0.0
	for i := range steps {
		x := far * (2*(float64(i)+0.5)/steps - 1)
		mean += 2 * far / steps * distuv.UnitNormal.Prob(x) * 0.9 * x * math.Tanh(x)
	}
	o := Options{WarmUp: 60, Draws: LeastDraws, Factor: func(x []float64) (factor, jump float64) {
		return math.Log1p(0.9 * math.Tanh(x[0])), 0
	}}
	m := model.NewGaussian(1, model.CholeskyFactor)
	r, err := HMC(t.Context(), m, nil, make([]float64, chains), o, stream.New(1, stream.Initial))
	require.NoError(t, err)
	sd := math.Sqrt(1 - mean*mean)
	require.InDelta(t, mean, stat.Mean(r.Last, nil), 4.5*sd/math.Sqrt(chains))
	require.InDelta(t, sd, stat.StdDev(r.Last, nil), 4.5*sd/math.Sqrt(2*chains))
	o.Factor = nil
	plain, err := HMC(t.Context(), m, nil, make([]float64, chains), o, stream.New(1, stream.Initial))
	require.NoError(t, err)
	require.InDelta(t, 0, stat.Mean(plain.Last, nil), 4.5/math.Sqrt(chains))
	require.Less(t, r.Accept, plain.Accept-0.03, "the factor rejects too")
}
