package simulate_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

func inverse(t *testing.T, p mat.Symmetric) *mat.SymDense {
	t.Helper()
	var c mat.Cholesky
	require.True(t, c.Factorize(p))
	var s mat.SymDense
	require.NoError(t, c.InverseTo(&s))
	return &s
}

// The paper's covariance: eigenvalues of the first nine from 0.5 to 1.5, and
// X_10 = X_1/2 + Z/2 with Var Z = Var X_1.
func TestSimulateNormal(t *testing.T) {
	g, err := simulate.Normal(10, stream.New(1, 1))
	require.NoError(t, err)
	s := inverse(t, g.Precision)
	for j := range 9 {
		require.Equal(t, 0.5, g.Mean[j])
		require.InDelta(t, s.At(0, j)/2, s.At(9, j), 1e-10)
	}
	require.InDelta(t, 0.5, g.Mean[9], 1e-15)
	require.InDelta(t, s.At(0, 0)/2, s.At(9, 9), 1e-10)
	var e mat.EigenSym
	require.True(t, e.Factorize(s.SliceSym(0, 9), false))
	for _, v := range e.Values(nil) {
		require.True(t, v > 0.5-1e-9 && v < 1.5+1e-9, "%v", v)
	}
	other, err := simulate.Normal(10, stream.New(2, 1))
	require.NoError(t, err)
	require.False(t, mat.EqualApprox(g.Precision, other.Precision, 1e-3))
}

func TestNetworks(t *testing.T) {
	const d, repeats = 20, 200
	counts := map[string]float64{}
	for r := range repeats {
		rng := stream.New(uint64(r), 1)
		for name, make := range map[string]func() (simulate.Gaussian, error){
			"star":  func() (simulate.Gaussian, error) { return simulate.Star(d, rng) },
			"dense": func() (simulate.Gaussian, error) { return simulate.Dense(d, rng) },
			"stars": func() (simulate.Gaussian, error) { return simulate.Stars(d, 5, rng) },
		} {
			g, err := make()
			require.NoError(t, err)
			var e mat.EigenSym
			require.True(t, e.Factorize(g.Precision, false))
			require.InDelta(t, 0.2, e.Values(nil)[0], 1e-9, name)
			weight := 0.0
			for j := range d {
				require.Equal(t, 1.0, g.Precision.At(j, j))
				for k := j + 1; k < d; k++ {
					v := g.Precision.At(j, k)
					if v == 0 {
						continue
					}
					counts[name]++
					if weight == 0 {
						weight = v
					}
					require.Equal(t, weight, v)
					require.Positive(t, v)
					require.False(t, name == "star" && j > 0)
					require.False(t, name == "stars" && j > 4)
				}
			}
		}
	}
	// binomial counts: mean ± 4 standard errors over the repeats
	for name, c := range map[string]struct{ pairs, p float64 }{"star": {19, 0.9}, "dense": {190, 0.5}, "stars": {85, 17.1 / 85}} {
		require.InDelta(t, c.pairs*c.p, counts[name]/repeats, 4*math.Sqrt(c.pairs*c.p*(1-c.p)/repeats), name)
	}
	_, err := simulate.Stars(5, 5, stream.New(1, 1))
	require.ErrorContains(t, err, "5 centres among 5 nodes")
	_, err = simulate.Star(1, stream.New(1, 1))
	require.ErrorContains(t, err, "at least 2 nodes")
}
