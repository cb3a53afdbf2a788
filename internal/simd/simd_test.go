package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func numbers[T Float](rng *rand.Rand, n int, zeros float64) []T {
	x := make([]T, n)
	for i := range x {
		if rng.Float64() >= zeros {
			x[i] = T(rng.NormFloat64())
		}
	}
	return x
}

func epsilon[T Float]() float64 {
	if double[T]() {
		return math.Nextafter(1, 2) - 1
	}
	return float64(math.Nextafter32(1, 2) - 1)
}

func TestLoops(t *testing.T) {
	t.Logf("instructions: %s", Instructions())
	t.Run("float64", loops[float64])
	t.Run("float32", loops[float32])
}

func loops[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table := map[string]struct {
		loop  func(out, x, y []T) // rows of x, one row y
		value func(x, y float64) float64
	}{
		"add": {Add[T], func(x, y float64) float64 { return x + y }},
		"mul": {Mul[T], func(x, y float64) float64 { return x * y }},
	}
	for n := range 150 {
		rows := 1 + 2*(n%2)
		x, y := numbers[T](rng, rows*n, 0.2), numbers[T](rng, n, 0.2)
		for name, c := range table {
			all := slices.Repeat([]T{7}, rows*n+9)
			c.loop(all[:rows*n], x, y)
			for i, v := range all[:rows*n] {
				a, b := float64(x[i]), float64(y[i%n])
				require.InDelta(t, c.value(a, b), float64(v), 2*epsilon[T]()*(math.Abs(a)+math.Abs(b)), "%s, %d numbers", name, n)
			}
			require.Equal(t, slices.Repeat([]T{7}, 9), all[rows*n:], name)
		}
	}
}

func TestAdamEqualsThePlainLoopToTheBit(t *testing.T) {
	t.Run("float64", func(t *testing.T) { adamSteps[float64](t, -1022) })
	t.Run("float32", func(t *testing.T) { adamSteps[float32](t, -126) })
}

func adamSteps[T Float](t *testing.T, exponent int) {
	rng := rand.New(rand.NewPCG(3, 2))
	c := AdamConstants{0.9, 0.1, 0.999, 0.001, 0.02, 1e-8}
	var k [6]T
	for i, v := range c {
		k[i] = T(v)
	}
	for n := range 80 {
		var a, b [4][]T
		for i := range a {
			a[i] = numbers[T](rng, n, 0)
			for j, v := range a[i] {
				if i == 2 {
					a[i][j] = v * v
				}
				if rng.IntN(4) == 0 { // near the smallest normal number, and 0
					a[i][j] = T(math.Ldexp(rng.Float64()*float64(rng.IntN(2)), exponent-rng.IntN(8)+4))
				}
			}
			b[i] = slices.Clone(a[i])
		}
		Adam(a[0], a[1], a[2], a[3], &c)
		adam(b[0], b[1], b[2], b[3], &k)
		require.Equal(t, b, a)
	}
	w, m, v, g := []T{1, 2, 3}, make([]T, 3), make([]T, 3), []T{1e-3, 2e-3, 3e-3}
	Adam(w, m, v, g, &c)
	clear(g)
	for range 8000 { // 0.9⁸⁰⁰⁰ is 10⁻³⁶⁶
		Adam(w, m, v, g, &c)
	}
	require.Equal(t, make([]T, 3), m, "moments without a gradient end at 0")
}

func TestProduct(t *testing.T) {
	if !fast {
		t.Skip("this machine has no AVX2")
	}
	t.Run("float64", product[float64])
	t.Run("float32", product[float32])
}

func product[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for share, p := range map[float64]*Product[T]{0.6: {}, 0: {Dense: true}} { // of zeros
		for _, s := range [][3]int{{100, 200, 50}, {201, 65, 33}, {97, 66, 101}, {50, 73, 200}, {300, 77, 43}, {64, 95, 77}, {33, 90, 34}} {
			m, n, k := s[0], s[1], s[2]
			for ways := range 4 {
				ta, tb := ways&1 == 1, ways&2 == 2
				a, b, c := numbers[T](rng, m*k, share), numbers[T](rng, k*n, 0), numbers[T](rng, m*n, 0)
				require.True(t, p.Multiply(ta, tb, m, n, k, a, b, c))
				at := func(x []T, transposed bool, rows, cols, i, j int) float64 {
					if transposed {
						return float64(x[j*rows+i])
					}
					return float64(x[i*cols+j])
				}
				for i := range m {
					for j := range n {
						sum, size := 0.0, 0.0
						for l := range k {
							v := at(a, ta, m, k, i, l) * at(b, tb, k, n, l, j)
							sum += v
							size += math.Abs(v)
						}
						if bound := float64(k) * epsilon[T]() * size; !(math.Abs(sum-float64(c[i*n+j])) <= bound) {
							require.InDelta(t, sum, float64(c[i*n+j]), bound, "%v %v %v at %d, %d", s, ta, tb, i, j)
						}
					}
				}
			}
		}
	}
	var p Product[T]
	a, b, c := numbers[T](rng, 100*100, 0), numbers[T](rng, 100*100, 0), make([]T, 100*100)
	require.False(t, p.Multiply(false, false, 100, 100, 100, a, b, c), "without zeros the library is faster")
}

func TestGapsAndSeen(t *testing.T) {
	nan := math.NaN()
	x, mask := []float64{9, 9, 9}, []float64{9, 9, 9}
	Seen(x, mask, []float64{nan, 5, nan}, []bool{false, true, false})
	require.Equal(t, []float64{0, 5, 0}, x)
	require.Equal(t, []float64{0, 1, 0}, mask)
	var g Gaps
	g.Set(mask)
	require.Equal(t, []int{0, 2}, []int(g))
	out := make([]float64, 6)
	Scatter(out, []float64{0, 5, 0}, []float64{1, 2, 3, 4}, g)
	require.Equal(t, []float64{1, 5, 2, 3, 5, 4}, out)
	g.Set([]float64{1})
	require.Empty(t, []int(g))
}
