package simd

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// Blocks of one matrix, of every size up to a few tiles: inverse, its products and determinant
// are those of gonum.
func TestInversesOfBlocks(t *testing.T) {
	const d = 30
	rng := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(d+5, d, numbers[float64](rng, (d+5)*d, 0))
	var p mat.SymDense
	p.SymOuterK(1, x.T())
	whole := mat.DenseCopyOf(&p).RawMatrix().Data
	var m Inverses
	for n := 1; n < 20; n++ {
		m.Begin(n)
		var at [Together][]int
		for l := range at {
			size := max(1, n-l%3)
			for j := range d {
				if len(at[l]) < size && (rng.Float64() < 0.6 || d-j <= size-len(at[l])) {
					at[l] = append(at[l], j)
				}
			}
		}
		m.Take(whole, d, at[:])
		m.Invert()
		sum, want, weight := make([]float64, d*d), make([]float64, d*d), numbers[float64](rng, Together, 0)
		m.Add(sum, d, at[:], weight)
		for l, of := range at {
			block := mat.NewSymDense(len(of), nil)
			for a, j := range of {
				for b, k := range of {
					block.SetSym(a, b, p.At(j, k))
				}
			}
			var c mat.Cholesky
			require.True(t, c.Factorize(block))
			logDet, ok := m.LogDet(l)
			require.True(t, ok)
			require.InDelta(t, c.LogDet(), logDet, 1e-10)
			var inverse mat.SymDense
			require.NoError(t, c.InverseTo(&inverse))
			from, to, own := numbers[float64](rng, m.Room(), 0), make([]float64, m.Room()), mat.NewVecDense(len(of), nil)
			m.Apply(from, to)
			for a := range of {
				own.SetVec(a, from[a*Together+l])
			}
			var product mat.VecDense
			product.MulVec(&inverse, own)
			for a, j := range of {
				require.InDelta(t, -product.AtVec(a), to[a*Together+l], 1e-10)
				for b, k := range of[:a+1] {
					want[j*d+k] += weight[l] * inverse.At(a, b)
				}
			}
		}
		require.InDeltaSlice(t, want, sum, 1e-10)
	}
}

func TestInversesOfWhatIsNotPositiveDefinite(t *testing.T) {
	var m Inverses
	m.Begin(2)
	m.Take([]float64{
		1, 2, 0, 0,
		2, 1, 0, 0,
		0, 0, 4, 0,
		0, 0, 0, 2,
	}, 4, [][]int{nil, {0, 1}, {2, 3}})
	m.Invert()
	_, ok := m.LogDet(1)
	require.False(t, ok)
	logDet, ok := m.LogDet(2)
	require.True(t, ok)
	require.InDelta(t, 2.0794415416798357, logDet, 1e-15) // log 8
}

// The instructions give what the plain loops give, but for rounding.
func TestTilesEqualThePlainLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 1; n < 4; n++ {
		a, w, u := numbers[float64](rng, n*tileSize, 0), numbers[float64](rng, tileSize, 0), numbers[float64](rng, n*tileSize, 0)
		b := append([]float64(nil), a...)
		tiles(a, w, u, n)
		plainTiles(b, w, u, n)
		require.InDeltaSlice(t, b, a, 1e-13)
		turnTiles(a, u, n)
		plainTurnTiles(b, u, n)
		require.Equal(t, b, a)
		x, y := numbers[float64](rng, 2*n*tileSide*Together, 0), numbers[float64](rng, 2*tileSide*Together, 0)
		own, other := slices.Clone(y), slices.Clone(x)
		half := n * tileSide * Together
		applyTiles(x[:half], u, x[half:], y[:len(y)/2], y[len(y)/2:], n)
		plainApplyTiles(other[:half], u, other[half:], own[:len(y)/2], own[len(y)/2:], n)
		require.InDeltaSlice(t, other, x, 1e-13)
		require.InDeltaSlice(t, own, y, 1e-13)
	}
	a := make([]float64, tileSize)
	for l := range Together {
		x := numbers[float64](rng, 16, 0)
		for i := range tileSide {
			for j := range tileSide {
				for k := range tileSide {
					a[(i*tileSide+j)*Together+l] += x[i*tileSide+k] * x[j*tileSide+k]
				}
			}
		}
	}
	b := append([]float64(nil), a...)
	p, q := make([]float64, tileSide*Together), make([]float64, tileSide*Together)
	pivotTile(a, p)
	plainPivotTile(b, q)
	for i := range a {
		require.InEpsilon(t, b[i], a[i], 1e-6)
	}
	for i := range p {
		require.InEpsilon(t, q[i], p[i], 1e-8)
	}
}

// A group of blocks of 40 of 200 columns, from and to the whole matrix.
func BenchmarkInverses(b *testing.B) {
	const d, n = 200, 40
	rng := rand.New(rand.NewPCG(3, 4))
	whole, at := make([]float64, d*d), make([][]int, Together)
	for j := range d {
		whole[j*d+j] = 1
	}
	for l := range at {
		at[l] = rng.Perm(d)[:n]
		slices.Sort(at[l])
	}
	var m Inverses
	m.Begin(n)
	b.Run("take", func(b *testing.B) {
		for b.Loop() {
			m.Take(whole, d, at)
		}
	})
	b.Run("invert", func(b *testing.B) {
		for b.Loop() {
			m.Begin(n)
			m.Take(whole, d, at)
			m.Invert()
		}
	})
	sum, weight := make([]float64, d*d), make([]float64, Together)
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			m.Add(sum, d, at, weight)
		}
	})
}
