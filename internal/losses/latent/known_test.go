package latent

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/stream"
)

// 2/π for a median split, 1 for a number, Σ p E[z | level]² for four levels.
func TestKnownOfThresholds(t *testing.T) {
	cuts := []float64{-1.1, 0.2, 0.9}
	l := newLaw(mixed(nil, nil, 0, 0, 0))
	l.cuts[0], l.cuts[1] = []float64{0}, cuts
	const steps, far = 200_000, 9.0
	share, first := make([]float64, 4), make([]float64, 4)
	for i := range steps {
		z, level := far*(2*(float64(i)+0.5)/steps-1), 0
		for level < len(cuts) && z > cuts[level] {
			level++
		}
		p := 2 * far / steps * distuv.UnitNormal.Prob(z)
		share[level] += p
		first[level] += p * z
	}
	want := 0.0
	for k, p := range share {
		want += first[k] * first[k] / p
	}
	e := l.known()
	require.InDeltaSlice(t, []float64{2 / math.Pi, 0, 0, 0, want, 0, 0, 0, 1}, e, 1e-5)
	require.InDelta(t, 2/math.Pi, e[0], 1e-14)
}

func nominalLaw(mean ...float64) *law {
	l := newLaw(mixed(nil, nil, len(mean)))
	copy(l.mean, mean)
	return l
}

// Against draws from N(a, ½(I + 11ᵀ)), within 4.5 standard errors.
func TestLevels(t *testing.T) {
	const n = 200_000
	for _, a := range [][]float64{{0.3, -0.8}, {-0.4, 0.6, 0, 1.1}} {
		width := len(a)
		l := nominalLaw(a...)
		shares, means := l.levels(l.blocks[0])
		cov := mat.NewSymDense(width, nil)
		for j := range width {
			for k := range j {
				cov.SetSym(j, k, 0.5)
			}
			cov.SetSym(j, j, 1)
		}
		rng := stream.New(1, 1)
		utilities, ok := distmv.NewNormal(make([]float64, width), cov, rng)
		require.True(t, ok)
		w := whitening(width)
		count, sum, square := make([]float64, width+1), mat.NewDense(width+1, width, nil), mat.NewDense(width+1, width, nil)
		u, y := mat.NewVecDense(width, nil), mat.NewVecDense(width, nil)
		for range n {
			utilities.Rand(u.RawVector().Data)
			y.MulVec(w, u) // about its mean
			best, level := 0.0, 0
			for j, mean := range a {
				if v := mean + u.AtVec(j); v > best {
					best, level = v, j+1
				}
			}
			count[level]++
			for j := range width {
				v := y.AtVec(j)
				sum.Set(level, j, sum.At(level, j)+v)
				square.Set(level, j, square.At(level, j)+v*v)
			}
		}
		for k, drawn := range count {
			require.InDelta(t, drawn/n, shares[k], 4.5*math.Sqrt(shares[k]*(1-shares[k])/n), "%d levels: %d", width+1, k)
			for j := range width {
				mean := sum.At(k, j) / drawn
				require.InDelta(t, mean, means[k][j], 4.5*math.Sqrt((square.At(k, j)/drawn-mean*mean)/drawn), "%d levels: %d, %d", width+1, k, j)
			}
		}
	}
}

// The largest of three normals of variance ½ has the mean m = 3/(2√π)/√2, the others −m/2: E =
// 3m²/2 I.
func TestKnownOfThreeEqualLevels(t *testing.T) {
	l := nominalLaw(0, 0)
	shares, _ := l.levels(l.blocks[0])
	require.InDeltaSlice(t, []float64{1. / 3, 1. / 3, 1. / 3}, shares, 1e-10)
	e := 27 / (16 * math.Pi)
	require.InDeltaSlice(t, []float64{e, 0, 0, e}, l.known(), 1e-10)
}
