package losses

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// sparse is a positive definite matrix (d, d) whose columns have about so many neighbours.
func sparse(d int, neighbours float64, rng *rand.Rand) []float64 {
	p := make([]float64, d*d)
	for j := range d {
		for k := range j {
			if rng.Float64() < neighbours/float64(d) {
				v := rng.NormFloat64()
				p[j*d+k], p[k*d+j] = v, v
			}
		}
	}
	for j := range d {
		p[j*d+j] = 0.5
		for k := range d {
			if k != j {
				p[j*d+j] += max(p[j*d+k], -p[j*d+k])
			}
		}
	}
	return p
}

// some are columns, each with a probability.
func some(d int, share float64, rng *rand.Rand) (at []int) {
	for j := range d {
		if rng.Float64() < share {
			at = append(at, j)
		}
	}
	return at
}

// The parts are the inverse of the block that gonum's general inversion gives, 0 between them;
// so for every density, from a diagonal matrix to a full one, and where elimination has no,
// a small and a large core.
func TestPrincipalInverse(t *testing.T) {
	const d = 90
	rng := rand.New(rand.NewPCG(1, 1))
	c := newPrincipalInverse(d)
	eliminated, several := 0, 0
	for _, neighbours := range []float64{0, 1.5, 3, 6, 15, 60, 90} {
		p := sparse(d, neighbours, rng)
		c.prepare(p)
		require.Equal(t, neighbours > 30, c.first == nil)
		for _, share := range []float64{0, 0.05, 0.5, 0.8, 1} {
			at := some(d, share, rng)
			logDet, ok := c.invert(at)
			require.True(t, ok)
			m := len(at)
			if m == 0 {
				require.Zero(t, logDet)
				continue
			}
			block := mat.NewDense(m, m, nil)
			for a, j := range at {
				for b, k := range at {
					block.Set(a, b, p[j*d+k])
				}
			}
			want, _ := mat.LogDet(block)
			require.InDelta(t, want, logDet, 1e-10)
			var inverse mat.Dense
			require.NoError(t, inverse.Inverse(block))
			sum, members := make([]float64, d*d), []int{}
			c.addTo(sum, 2)
			for a, j := range at {
				for b, k := range at {
					require.InDelta(t, 2*inverse.At(a, b), sum[j*d+k], 1e-10)
				}
			}
			from, to := make([]float64, d), make([]float64, d)
			for j := range from {
				from[j] = rng.NormFloat64()
			}
			c.apply(from, to, -1, make([]float64, d))
			for a, j := range at {
				by := 0.0
				for b, k := range at {
					by -= inverse.At(a, b) * from[k]
				}
				require.InDelta(t, by, to[j], 1e-10)
			}
			for _, q := range c.parts {
				members = append(members, q.at...)
				if len(q.at) >= leastEliminated && !slices.IsSorted(q.at) {
					eliminated++
				}
			}
			several += len(c.parts) - 1
			slices.Sort(members)
			require.Equal(t, at, members)
		}
	}
	require.Greater(t, eliminated, 5)
	require.Greater(t, several, 20)
}

// A block that is not positive definite is refused by whichever part has it.
func TestPrincipalInverseOfIndefinite(t *testing.T) {
	const d = 60
	rng := rand.New(rand.NewPCG(2, 1))
	p := sparse(d, 2, rng)
	for j := range d {
		q := slices.Clone(p)
		q[j*d+j] = -0.1
		c := newPrincipalInverse(d)
		c.prepare(q)
		_, ok := c.invert(all(d))
		require.False(t, ok, fmt.Sprint("column ", j))
	}
}

// Moments and likelihood with P's zeros looked at are those without.
func TestMomentsOfASparsePrecision(t *testing.T) {
	const d, n = 40, 30
	rng := rand.New(rand.NewPCG(3, 1))
	eta, x, mask, weight := make([]float64, d), make([]float64, n*d), make([]float64, n*d), make([]float64, n)
	for j := range eta {
		eta[j] = rng.NormFloat64()
	}
	for i := range n {
		weight[i] = 0.5 + rng.Float64()
		for j := range d {
			if rng.Float64() > 0.3+0.5*float64(i%2) {
				x[i*d+j], mask[i*d+j] = rng.NormFloat64(), 1
			}
		}
	}
	for _, neighbours := range []float64{1, 4, 12} {
		p := sparse(d, neighbours, rng)
		by, whole := newGaussianMoments(d, product), newGaussianMoments(d, product)
		require.NoError(t, by.collect(eta, p, x, mask, weight))
		require.NoError(t, whole.prepare(p))
		require.NotNil(t, whole.gaps.first)
		whole.gaps.first = nil
		require.NoError(t, whole.collect(eta, p, x, mask, weight))
		require.Positive(t, whole.byCells.n)
		require.Positive(t, by.byGaps.n)
		require.InDeltaSlice(t, whole.second, by.second, 1e-9)
		require.InDeltaSlice(t, whole.sum, by.sum, 1e-9)
		require.InDelta(t, whole.logLikelihood, by.logLikelihood, 1e-9)
	}
}

// The marginal loss and its gradients with P's zeros looked at are those without, and the
// gradient is that of differences.
func TestMarginalOfASparsePrecision(t *testing.T) {
	const d, n = 40, 20
	rng := rand.New(rand.NewPCG(4, 1))
	in := blocks(d, n)
	for _, neighbours := range []float64{1, 4, 12} {
		in[1] = sparse(d, neighbours, rng)
		by, whole := newMarginalKernel(d, product), newMarginalKernel(d, product)
		var got, want, moved [1]float64
		require.NoError(t, by.run(got[:], in))
		require.NoError(t, whole.run(want[:], in))
		require.NotNil(t, whole.byMissing.of.first)
		whole.byMissing.of.first = nil // and so it stays while P does
		require.NoError(t, whole.run(want[:], in))
		require.True(t, whole.byObserved.used)
		require.InDelta(t, want[0], got[0], 1e-9)
		require.InDeltaSlice(t, whole.gradMu, by.gradMu, 1e-9)
		require.InDeltaSlice(t, whole.gradP, by.gradP, 1e-9)
		gradP := slices.Clone(by.gradP)
		for range 10 {
			const step = 1e-5
			j, k := rng.IntN(d), rng.IntN(d)
			difference := 0.0
			for _, sign := range []float64{1, -1} {
				in[1][j*d+k] += sign * step
				if j != k {
					in[1][k*d+j] += sign * step
				}
				require.NoError(t, by.run(moved[:], in))
				difference += sign * moved[0] / (2 * step)
				in[1][j*d+k] -= sign * step
				if j != k {
					in[1][k*d+j] -= sign * step
				}
			}
			slope := gradP[j*d+k]
			if j != k {
				slope += gradP[k*d+j]
			}
			require.InDelta(t, slope, difference, 1e-4*(1+max(slope, -slope)))
		}
	}
}
