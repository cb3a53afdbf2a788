package gaussian

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// sparse is a positive definite matrix (d, d) with a given mean number of neighbours.
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

// The parts are gonum's inverse of the whole block, 0 between them.
func TestBlocksAreInverted(t *testing.T) {
	const d = 60
	rng := rand.New(rand.NewPCG(1, 1))
	several := 0
	for _, neighbours := range []float64{0, 1.5, 3, 15, 60} {
		p, c := sparse(d, neighbours, rng), newBlocks(d, Gonum)
		c.prepare(p)
		require.Equal(t, neighbours > 20, c.first == nil)
		for _, share := range []float64{0.05, 0.5, 1} {
			var at []int
			for j := range d {
				if rng.Float64() <= share {
					at = append(at, j)
				}
			}
			block := mat.NewDense(len(at), len(at), nil)
			for a, j := range at {
				for b, k := range at {
					block.Set(a, b, p[j*d+k])
				}
			}
			of, ok := c.invert(at)
			require.True(t, ok)
			want, _ := mat.LogDet(block)
			require.InDelta(t, want, of.logDet, 1e-10)
			require.NoError(t, block.Inverse(block))
			sum := make([]float64, d*d)
			of.addTo(sum, d, 2)
			for a, j := range at {
				for b, k := range at {
					require.InDelta(t, 2*block.At(a, b), sum[j*d+k], 1e-10)
				}
			}
			members := slices.Clone(of.at)
			slices.Sort(members)
			require.Equal(t, at, members)
			several += len(of.parts) - 1
		}
		for j := range d {
			q := slices.Clone(p)
			q[j*d+j] = -0.1
			c.prepare(q)
			_, ok := c.invert(all(d))
			require.False(t, ok)
		}
	}
	require.Greater(t, several, 20)
}

func gapped(d, n int, rng *rand.Rand) (x, mask, weight []float64) {
	x, mask, weight = make([]float64, n*d), make([]float64, n*d), make([]float64, n)
	for i := range n {
		weight[i] = 0.5 + rng.Float64()
		for j := range d {
			if rng.Float64() > 0.3+0.5*float64(i%2) {
				x[i*d+j], mask[i*d+j] = rng.NormFloat64(), 1
			}
		}
	}
	return x, mask, weight
}

func TestZerosOfThePrecision(t *testing.T) {
	const d, n = 40, 30
	rng := rand.New(rand.NewPCG(3, 1))
	mu, _, _ := gapped(d, 1, rng)
	x, mask, weight := gapped(d, n, rng)
	rows := FindPatterns(mask, weight)
	for _, neighbours := range []float64{1, 4, 12} {
		p := sparse(d, neighbours, rng)
		by, whole := NewExpectation(d, Gonum), NewExpectation(d, Gonum)
		require.NoError(t, by.Over(mu, p, x, mask, weight, rows, nil))
		require.NoError(t, whole.Over(mu, p, x, mask, weight, rows, nil))
		require.NotNil(t, whole.first)
		whole.first = nil // and so it stays while P does
		require.NoError(t, whole.Over(mu, p, x, mask, weight, rows, nil))
		require.InDeltaSlice(t, whole.Second, by.Second, 1e-9)
		require.InDeltaSlice(t, whole.Sum, by.Sum, 1e-9)
		require.InDelta(t, whole.LogLikelihood, by.LogLikelihood, 1e-9)

		got, all := NewMarginal(d, Gonum), NewMarginal(d, Gonum)
		loss, err := got.Loss(mu, p, x, mask, weight)
		require.NoError(t, err)
		_, err = all.Loss(mu, p, x, mask, weight)
		require.NoError(t, err)
		all.first = nil // and so it stays while P does
		for _, byCells := range []bool{true, false} {
			all.definite = all.definite && byCells // else by missing blocks alone
			want, err := all.Loss(mu, p, x, mask, weight)
			require.NoError(t, err)
			require.Equal(t, byCells, len(all.filled) < len(all.patterns.patterns))
			require.InDelta(t, want, loss, 1e-9)
			require.InDeltaSlice(t, all.ByMean, got.ByMean, 1e-9)
			require.InDeltaSlice(t, all.ByP, got.ByP, 1e-9)
		}
		require.Zero(t, testing.AllocsPerRun(10, func() {
			p[0] += 1e-3 // so that it is prepared again
			_, _ = got.Loss(mu, p, x, mask, weight)
		}))
	}
}

func TestElimination(t *testing.T) {
	const d = 90
	rng := rand.New(rand.NewPCG(3, 1))
	e := NewElimination(d, Gonum.Factor)
	for _, neighbours := range []float64{0, 1, 3, 8, 40, 2} {
		p := mat.NewSymDense(d, sparse(d, neighbours, rng))
		row := func(j int) []float64 { return p.RawSymmetric().Data[j*d+j : j*d+d] }
		b := make([]float64, d)
		for j := range b {
			b[j] = rng.NormFloat64()
		}
		var eigen mat.EigenSym
		require.True(t, eigen.Factorize(p, false))
		least := eigen.Values(nil)[0]
		for _, floor := range []float64{0, least * 0.999, least * 1.001} {
			got, ok := e.Factor(row, floor)
			var c mat.Cholesky
			shifted := mat.NewSymDense(d, nil)
			for j := range d {
				for k := range j + 1 {
					shifted.SetSym(j, k, p.At(j, k))
				}
				shifted.SetSym(j, j, p.At(j, j)-floor)
			}
			require.Equal(t, c.Factorize(shifted), ok)
			require.Equal(t, floor < least, ok)
			if !ok {
				continue
			}
			require.Equal(t, neighbours < 8, len(e.order) > d/2, "columns are eliminated")
			require.InDelta(t, c.LogDet(), got, 1e-9)
			x, want := append([]float64(nil), b...), mat.NewVecDense(d, nil)
			e.Solve(x)
			require.NoError(t, c.SolveVecTo(want, mat.NewVecDense(d, b)))
			require.InDeltaSlice(t, want.RawVector().Data, x, 1e-8)
		}
	}
}
