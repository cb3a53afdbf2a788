package graphs

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/stream"
)

func TestRandomNetworks(t *testing.T) {
	positive, edges := 0, 0
	for seed := range uint64(40) {
		g, err := Random(20, stream.New(seed, stream.Simulate))
		require.NoError(t, err)
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(g.Precision, false))
		require.InDelta(t, 0.2, eigen.Values(nil)[0], 1e-9)
		for j := range 20 {
			for k := range j {
				if g.Precision.At(j, k) != 0 {
					edges++
				}
				if g.Precision.At(j, k) > 0 {
					positive++
				}
			}
		}
	}
	const pairs, p = 40 * 190, 3. / 19
	require.InDelta(t, p*pairs, edges, 4*math.Sqrt(pairs*p*(1-p)))
	require.InDelta(t, float64(edges)/2, positive, 4*math.Sqrt(float64(edges))/2)
	_, err := Random(3, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	_, err = Random(2, stream.New(1, stream.Simulate))
	require.EqualError(t, err, "d = 2: a network with signs at random needs at least 3 nodes")
}

// Hubs and chains by their degrees, and their smallest eigenvalue.
func TestShapes(t *testing.T) {
	for kind, want := range map[string][]int{"hub": {9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1}, "chain": {1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1}} {
		g, err := ByName(kind, 14, stream.New(1, stream.Simulate))
		require.NoError(t, err)
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(g.Precision, false))
		require.InDelta(t, 0.2, eigen.Values(nil)[0], 1e-9)
		for j, degree := range want {
			for k := range 14 {
				if k != j && g.Precision.At(j, k) != 0 {
					degree--
				}
			}
			require.Zero(t, degree, "%s, node %d", kind, j)
		}
	}
	for _, kind := range Kinds {
		_, err := ByName(kind, 12, stream.New(1, stream.Simulate))
		require.NoError(t, err)
		require.NoError(t, Check(kind))
	}
	_, err := ByName("ring", 12, stream.New(1, stream.Simulate))
	require.EqualError(t, err, `graph "ring": it is one of [random hub chain star dense uneven]`)
	require.Error(t, Check("ring"))
}

// Of many nodes the smallest eigenvalue is 0.2 up to the tolerance of Lanczos's method: P less
// 0.1999 is positive definite, less 0.2001 it is not.
func TestWideNetworks(t *testing.T) {
	g, err := Random(wide, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	for less, definite := range map[float64]bool{0.1999: true, 0.2001: false} {
		p := mat.NewSymDense(wide, nil)
		p.CopySym(g.Precision)
		for j := range wide {
			p.SetSym(j, j, p.At(j, j)-less)
		}
		var factor mat.Cholesky
		require.Equal(t, definite, factor.Factorize(p))
	}
}

// On an uneven star some pair of leaves correlates more than the centre with a leaf; on the
// paper's none does.
func TestUnevenStarMisleadsCorrelations(t *testing.T) {
	misled := func(kind string) bool {
		g, err := ByName(kind, 20, stream.New(3, stream.Simulate))
		require.NoError(t, err)
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(g.Precision, false))
		require.InDelta(t, 0.2, eigen.Values(nil)[0], 1e-9)
		var c mat.Dense
		require.NoError(t, c.Inverse(g.Precision))
		least, most := 1.0, 0.0 // of edges, of other pairs
		for k := range 20 {
			for j := range k {
				r := math.Abs(c.At(j, k)) / math.Sqrt(c.At(j, j)*c.At(k, k))
				if g.Precision.At(j, k) != 0 {
					least = min(least, r)
				} else {
					most = max(most, r)
				}
			}
		}
		return most > 1.1*least
	}
	require.True(t, misled("uneven"))
	require.False(t, misled("star"))
	_, err := ByName("uneven", 2, stream.New(1, stream.Simulate))
	require.EqualError(t, err, "d = 2: an uneven star needs at least 3 nodes")
}
