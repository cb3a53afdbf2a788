package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows of every length, groups of one and more.
func TestLoopsOverGroups(t *testing.T) {
	t.Run("float64", groupLoops[float64])
	t.Run("float32", groupLoops[float32])
}

func groupLoops[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for m := 1; m < 50; m++ {
		for _, r := range []int{1, 3, 10} {
			for _, n := range []int{1, 2, 9} {
				eachGroupLoop[T](t, rng, m, r, n)
			}
		}
	}
}

// eachGroupLoop compares with calls for each row to the bit, and with the definition in float64.
func eachGroupLoop[T Float](t *testing.T, rng *rand.Rand, m, r, n int) {
	c, w, x := numbers[T](rng, n*m, 0.2), numbers[T](rng, n*r, 0.2), numbers[T](rng, n*r*m, 0.2)
	same := func(name string, size int, loop func(out []T), each func(i, k int, c, x, out []T), definition func(i, k, j int) (at int, value float64)) {
		t.Helper()
		all, want := numbers[T](rng, size+40, 0), make([]T, size)
		behind := append([]T{}, all[size:]...)
		loop(all[:size])
		sums, sizes := make([]float64, size), make([]float64, size)
		for k := range n * r {
			each(k/r, k, c[k/r*m:k/r*m+m], x[k*m:k*m+m], want)
			for j := range m {
				at, v := definition(k/r, k, j)
				sums[at] += v
				sizes[at] += math.Abs(v)
			}
		}
		if !slices.Equal(want, all[:size]) {
			require.Equal(t, want, all[:size], "%s, %d groups of %d rows of %d", name, n, r, m)
		}
		require.True(t, slices.Equal(behind, all[size:]), "%s writes nothing behind its result", name)
		for i, v := range sums {
			if bound := float64(n*r*m+2) * epsilonOf[T]() * sizes[i]; !(math.Abs(v-float64(all[i])) <= bound) {
				require.InDelta(t, v, float64(all[i]), bound, "%s, %d groups of %d rows of %d, number %d", name, n, r, m, i)
			}
		}
	}
	at := func(k, j int) float64 { return float64(x[k*m+j]) }
	by := func(i, j int) float64 { return float64(c[i*m+j]) }
	same("outer", n*r*m, func(out []T) { GroupOuter(out, c, w, m, r) },
		func(_, k int, c, _, out []T) { Scale(out[k*m:k*m+m], w[k], c) },
		func(i, k, j int) (int, float64) { return k*m + j, float64(w[k]) * by(i, j) })
	same("add", n*r*m, func(out []T) { GroupAdd(out, c, x, m, r) },
		func(_, k int, c, x, out []T) { Add(out[k*m:k*m+m], x, c) },
		func(i, k, j int) (int, float64) { return k*m + j, at(k, j) + by(i, j) })
	same("squares' slope", n*r*m, func(out []T) { GroupSquaresSlope(out, c, x, w, m, r) },
		func(_, k int, c, x, out []T) {
			Scale(out[k*m:k*m+m], 2*w[k], c)
			Mul(out[k*m:k*m+m], out[k*m:k*m+m], x)
		},
		func(i, k, j int) (int, float64) { return k*m + j, 2 * float64(w[k]) * by(i, j) * at(k, j) })
	same("dot", n*r, func(out []T) { GroupDot(out, c, x, m, r) },
		func(_, k int, c, x, out []T) { out[k] = Dot(c, x) },
		func(i, k, j int) (int, float64) { return k, by(i, j) * at(k, j) })
	squares := make([]T, m)
	same("squares", n*r, func(out []T) { GroupSquares(out, c, x, m, r) },
		func(_, k int, c, x, out []T) {
			Mul(squares, x, x)
			out[k] = Dot(c, squares)
		},
		func(i, k, j int) (int, float64) { return k, by(i, j) * at(k, j) * at(k, j) })
	same("mean", n*m, func(out []T) { GroupMean(out, w, x, m, r) },
		func(i, k int, _, x, out []T) { Axpy(out[i*m:i*m+m], w[k], x) },
		func(i, k, j int) (int, float64) { return i*m + j, float64(w[k]) * at(k, j) })
	product := make([]T, m)
	same("slope", m, func(out []T) { GroupSlope(out, c, w, m, r) },
		func(_, k int, c, _, out []T) {
			Scale(product, w[k], c)
			Add(out, out, product)
		},
		func(i, k, j int) (int, float64) { return j, float64(w[k]) * by(i, j) })
}

func BenchmarkGroups(b *testing.B) {
	for _, m := range []int{10, 50, 100} {
		b.Run(fmt.Sprintf("float64/m=%d", m), func(b *testing.B) { groupBenchmarks[float64](b, m) })
		b.Run(fmt.Sprintf("float32/m=%d", m), func(b *testing.B) { groupBenchmarks[float32](b, m) })
	}
}

func groupBenchmarks[T Float](b *testing.B, m int) {
	const n, r = 40, 10
	rng := rand.New(rand.NewPCG(8, 2))
	c, w, x, out := numbers[T](rng, n*m, 0), numbers[T](rng, n*r, 0), numbers[T](rng, n*r*m, 0), make([]T, n*r*m)
	for _, of := range []struct {
		name          string
		vectors, each func()
	}{
		{"outer", func() { GroupOuter(out, c, w, m, r) }, func() { groupOuter(out, c, w, m, r) }},
		{"add", func() { GroupAdd(out, c, x, m, r) }, func() { groupAdd(out, c, x, m, r) }},
		{"squares' slope", func() { GroupSquaresSlope(out, c, x, w, m, r) }, func() { groupSquaresSlope(out, c, x, w, m, r) }},
		{"dot", func() { GroupDot(out[:n*r], c, x, m, r) }, func() { groupDot(out[:n*r], c, x, m, r) }},
		{"squares", func() { GroupSquares(out[:n*r], c, x, m, r) }, func() { groupSquares(out[:n*r], c, x, m, r) }},
		{"mean", func() { GroupMean(out[:n*m], w, x, m, r) }, func() { groupMean(out[:n*m], w, x, m, r) }},
		{"slope", func() { GroupSlope(out[:m], c, w, m, r) }, func() { groupSlope(out[:m], c, w, m, r) }},
	} {
		b.Run(of.name+"/at once", func(b *testing.B) {
			for b.Loop() {
				of.vectors()
			}
		})
		b.Run(of.name+"/row by row", func(b *testing.B) {
			for b.Loop() {
				of.each()
			}
		})
	}
}
