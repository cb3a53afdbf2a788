package path

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/internal/stream"
)

// A ridge estimate's likelihood in the rows that it was fitted to is greater than in others by
// its degrees of freedom, on average over tables.
func TestFreedom(t *testing.T) {
	const d, n, tables = 4, 400, 4000
	sigma := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range d {
			sigma.SetSym(j, k, math.Pow(0.6, math.Abs(float64(j-k))))
		}
	}
	var factor mat.Cholesky
	require.True(t, factor.Factorize(sigma))
	var l mat.TriDense
	factor.LTo(&l)
	for _, alpha := range []float64{0, 0.3, 0.7} {
		var gains, counts []float64
		for table := range tables {
			rng := stream.New(uint64(table), 1)
			x := mat.NewDense(n, d, nil)
			for i := range n {
				for j := range d {
					x.Set(i, j, rng.NormFloat64())
				}
			}
			x.Mul(x, l.T())
			var s mat.SymDense
			s.SymOuterK(1./n, x.T())
			shrunk := mat.NewSymDense(d, nil)
			for j := range d {
				for k := j + 1; k < d; k++ {
					shrunk.SetSym(j, k, (1-alpha)*s.At(j, k))
				}
				shrunk.SetSym(j, j, s.At(j, j))
			}
			var of mat.Cholesky
			require.True(t, of.Factorize(shrunk))
			var p mat.SymDense
			require.NoError(t, of.InverseTo(&p))
			var off, product mat.Dense
			off.Sub(sigma, &s)
			product.Mul(&off, &p)
			gains, counts = append(gains, n*mat.Trace(&product)/2), append(counts, freedom(&p, alpha))
		}
		mean, sd := stat.MeanStdDev(gains, nil)
		require.InDelta(t, stat.Mean(counts, nil), mean, 4*sd/math.Sqrt(tables)+0.1, alpha) // 0.1: terms of order 1/n
		if alpha == 0 {
			require.InDelta(t, d*(d+1)/2, counts[0], 1e-9)
		}
	}
}
