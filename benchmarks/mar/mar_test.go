package mar

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

// Covariances 0.8, 0.5 and 0.4: partial correlations (0.8 − 0.4 · 0.5)/√((1 − 0.16)(1 − 0.25)) and
// 0.
func TestChain(t *testing.T) {
	p := chain(0.8, 0.5)
	var sigma mat.Dense
	require.NoError(t, sigma.Inverse(p))
	require.True(t, mat.EqualApprox(&sigma, mat.NewDense(3, 3, []float64{1, 0.8, 0.4, 0.8, 1, 0.5, 0.4, 0.5, 1}), 1e-12))
	rho := network.PartialCorrelations(p)
	require.InDelta(t, 0.6/0.7937253933193772, rho[0], 1e-12)
	require.Zero(t, rho[1])
}

// Changing hidden cells does not change the mask.
func TestHiddenAtRandom(t *testing.T) {
	for name, c := range designs {
		t.Run(name, func(t *testing.T) {
			d := c.precision.SymmetricDim()
			whole, err := simulate.Gaussian{Mean: make([]float64, d), Precision: c.precision}.Sample(500, stream.New(1, stream.Simulate))
			require.NoError(t, err)
			hidden := make([]int, d)
			for i := range whole.N {
				row := whole.Values[i*d : (i+1)*d]
				mask := func() []bool {
					seen := make([]bool, d)
					for j := range seen {
						seen[j] = true
					}
					c.hide(row, seen, stream.New(1, stream.Hide, uint64(i)))
					return seen
				}
				before := mask()
				for j, seen := range before {
					if !seen {
						row[j] += 5
						hidden[j]++
					}
				}
				require.Equal(t, before, mask())
			}
			require.Zero(t, hidden[0])
			for j, n := range hidden {
				require.Less(t, n, 400, "column %d", j+1)
			}
			require.Positive(t, slices.Max(hidden))
			table, err := c.table(100, 1)
			require.NoError(t, err)
			require.Positive(t, table.Missing())
		})
	}
}

// The marginal loss adds the false edge x–z.
func TestRun(t *testing.T) {
	s := settings{Rows: 2000}
	run := func(m method, c design) []string {
		values, err := s.run(t.Context(), c, m, 1)
		require.NoError(t, err)
		require.Len(t, values, 7)
		return values[4:6]
	}
	c := designs["hidden where low"]
	require.Equal(t, []string{"0", "0"}, run(methodOf(peer), c))
	marginal := methodOf("exact")
	marginal.Network = true
	require.Equal(t, []string{"0", "1"}, run(marginal, c))
	turned := c
	turned.precision = chain(-0.8, 0.5)
	found, err := turned.table(2000, 1)
	require.NoError(t, err)
	_, p, err := methodOf(peer).estimate(t.Context(), found, 1)
	require.NoError(t, err)
	signs, alarms := mistakes(network.PartialCorrelations(c.precision), network.PartialCorrelations(p))
	require.Equal(t, 1, signs)
	require.Zero(t, alarms)
}

func methodOf(name string) (m method) {
	m.Fit.Method = name
	return m
}
