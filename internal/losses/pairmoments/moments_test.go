package pairmoments_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/losses/pairmoments"
	"missingscore/internal/stream"
)

func gapped(t *testing.T, n, d int, missing float64) *data.Table {
	t.Helper()
	rng := stream.New(4, 1)
	table := &data.Table{N: n, D: d, Values: make([]float64, n*d), Observed: make([]bool, n*d)}
	for i := range n {
		common := rng.NormFloat64()
		for j := range d {
			at := i*d + j
			table.Values[at] = rng.NormFloat64() + 0.4*common
			if table.Observed[at] = rng.Float64() >= missing; !table.Observed[at] {
				table.Values[at] = math.NaN()
			}
		}
	}
	return table
}

func TestMomentsAreThoseOfLoops(t *testing.T) {
	const n, d = 700, 150
	table := gapped(t, n, d, 0.4)
	rng, counts := stream.New(5, 1), make([]float64, n)
	for i := range counts {
		counts[i] = float64(rng.IntN(3))
	}
	for _, c := range [][]float64{nil, counts} {
		m, err := pairmoments.Of(t.Context(), table, table.AllRows(), c, 1)
		require.NoError(t, err)
		sum, least := 0.0, math.Inf(1)
		for j := range d {
			for k := range d {
				cross, number := 0.0, 0.0
				for i := range n {
					if table.Observed[i*d+j] && table.Observed[i*d+k] {
						once := 1.0
						if c != nil {
							once = c[i]
						}
						cross += once * table.Values[i*d+j] * table.Values[i*d+k]
						number += once
					}
				}
				require.InDelta(t, cross/number, m.S[j*d+k], 1e-12)
				if j < k {
					sum += number
					least = min(least, number)
				}
			}
		}
		require.InDelta(t, sum/(d*(d-1)/2), m.Pairs, 1e-9)
		require.Equal(t, least, m.Least)
		more, err := pairmoments.Of(t.Context(), table, table.AllRows(), c, 3)
		require.NoError(t, err)
		require.Equal(t, m, more)
	}
}

// Eigenvalues by gonum; the shrinkage can be undone.
func TestShrink(t *testing.T) {
	for _, c := range []struct {
		n, d    int
		missing float64
	}{{60, 40, 0.5}, {30, 90, 0.2}, {400, 10, 0.3}, {10, 30, 0}} {
		table := gapped(t, c.n, c.d, c.missing)
		m, err := pairmoments.Of(t.Context(), table, table.AllRows(), nil, 1)
		require.NoError(t, err)
		raw := append([]float64(nil), m.S...)
		lowest := least(raw, c.d)
		require.NoError(t, m.Shrink(t.Context(), 1))
		if c.missing == 0 {
			require.Zero(t, m.Shrunk)
			require.Equal(t, raw, m.S)
			continue
		}
		require.InDelta(t, lowest, m.Lowest, 1e-6)
		require.GreaterOrEqual(t, least(m.S, c.d), -1e-9)
		largest, noise, square := 0.0, 0.0, 0.0
		together := table.PairCounts()
		for j := range c.d {
			for k := j + 1; k < c.d; k++ {
				require.InDelta(t, raw[j*c.d+k]*(1-m.Shrunk), m.S[j*c.d+k], 1e-12)
				require.InDelta(t, raw[j*c.d+k], m.At(0, j, k), 1e-12)
				r := raw[j*c.d+k] / math.Sqrt(raw[j*c.d+j]*raw[k*c.d+k])
				largest = max(largest, math.Abs(r))
				square += r * r
				noise += (1 - r*r) * (1 - r*r) * (1/float64(together[0]) - 1/float64(c.n))
				together = together[1:]
			}
			require.Equal(t, raw[j*c.d+j], m.S[j*c.d+j])
		}
		require.InDelta(t, m.Shrunk*largest, m.Moved, 1e-9)
		if lowest > 0 {
			require.InDelta(t, noise/square, m.Shrunk, 1e-9)
		} else {
			require.InDelta(t, max(noise/square, -lowest/(1-lowest)), m.Shrunk, 1e-6)
		}
		require.InDelta(t, 0.9*raw[1], m.At(0.1, 0, 1), 1e-12)
		levels := m.Levels()
		require.Zero(t, levels[0])
		require.Equal(t, m.Shrunk, levels[len(levels)-1])
		require.IsIncreasing(t, levels)
		m.ShrinkTo(0)
		require.InDeltaSlice(t, raw, m.S, 1e-12)
		require.InDelta(t, raw[1], m.At(0, 0, 1), 1e-12)
	}
}

func least(s []float64, d int) float64 {
	r := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range j + 1 {
			r.SetSym(j, k, s[j*d+k]/math.Sqrt(s[j*d+j]*s[k*d+k]))
		}
	}
	var e mat.EigenSym
	e.Factorize(r, false)
	return e.Values(nil)[0]
}

func TestTwoRows(t *testing.T) {
	table := &data.Table{N: 2, D: 2, Values: []float64{1, 0, 0, 2}, Observed: []bool{true, false, false, true}}
	m, err := pairmoments.Of(t.Context(), table, table.AllRows(), nil, 1)
	require.NoError(t, err)
	require.Zero(t, m.Least, "no row has both")
	require.NoError(t, m.Shrink(t.Context(), 1))
	require.Equal(t, []float64{1, 0, 0, 4}, m.S)

	table.Values, table.Observed = []float64{1, 0, 2, 0}, []bool{true, true, true, true}
	m, err = pairmoments.Of(t.Context(), table, table.AllRows(), nil, 1)
	require.NoError(t, err)
	require.EqualError(t, m.Shrink(t.Context(), 1), "column 2 is constant where it is observed")
}
