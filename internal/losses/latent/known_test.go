package latent

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data/domain"
	"missingscore/internal/testtables"
)

// 2/π for a median split, 1 for a number, Σ p E[z | level]² for four levels.
func TestKnownOfThresholds(t *testing.T) {
	l := lawOf(mixed(nil, nil, 0, 0, 0))
	l.cuts[0], l.cuts[1] = []float64{0}, []float64{-1.1, 0.2, 0.9}
	ends, want := []float64{-9, -1.1, 0.2, 0.9, 9}, 0.0
	first := func(z float64) float64 { return z * distuv.UnitNormal.Prob(z) }
	for k, from := range ends[:4] {
		share := distuv.UnitNormal.CDF(ends[k+1]) - distuv.UnitNormal.CDF(from)
		want += math.Pow(quad.Fixed(first, from, ends[k+1], 100, nil, 0), 2) / share
	}
	require.InDeltaSlice(t, []float64{2 / math.Pi, 0, 0, 0, want, 0, 0, 0, 1}, l.known(), 1e-12)
}

func nominalLaw(mean ...float64) *law {
	l := lawOf(mixed(nil, nil, len(mean)))
	copy(l.mean, mean)
	return l
}

// region is the set of utilities, from the column first of s on, that give a level.
func region(s *domain.Domain, first, width, level int) *domain.Domain {
	for at := first; at < first+width; at++ {
		switch best := first + level - 1; {
		case level == 0:
			s.Upper[at] = 0
		case at == best:
			s.Lower[at] = 0
		default:
			h := domain.HalfSpace{A: make([]float64, len(s.Lower))}
			h.A[at], h.A[best] = 1, -1
			s.Half = append(s.Half, h)
		}
	}
	return s
}

// Utilities are N(a, ½(I + 11ᵀ)).
func TestLevelsAgainstQuadrature(t *testing.T) {
	for _, a := range [][]float64{{0.3, -0.8}, {-0.4, 0.6, 1.1}} {
		width, none := len(a), make([]float64, len(a))
		l := nominalLaw(a...)
		shares, means := l.levels(l.blocks[0])
		utilities, ok := distmv.NewNormal(a, correlated(mixed(nil, nil, width), 1), nil)
		require.True(t, ok)
		for level, share := range shares {
			inside := region(domain.All(width), 0, width, level)
			x, w := testtables.Nodes(inside, none, none, 6, map[int]int{2: 100, 3: 30}[width])
			sum, first := 0.0, mat.NewVecDense(width, nil)
			for i, weight := range w {
				u := x[i*width : (i+1)*width]
				weight *= math.Exp(utilities.LogProb(u))
				sum += weight
				floats.Sub(u, a)
				first.AddScaledVec(first, weight, mat.NewVecDense(width, u))
			}
			require.InDelta(t, sum, share, 1e-3, "level %d of %d", level, width+1)
			var y mat.VecDense
			first.ScaleVec(1/sum, first)
			y.MulVec(whitening(width), first)
			require.InDeltaSlice(t, means[level], y.RawVector().Data, 0.01, "level %d of %d", level, width+1)
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
