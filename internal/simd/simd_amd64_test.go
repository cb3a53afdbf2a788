package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Every length, so that all ways through the loops are taken.
func TestLoopsEqualThePlainOnes(t *testing.T) {
	t.Logf("instructions: %s", Instructions())
	t.Run("float64", loops[float64])
	t.Run("float32", loops[float32])
}

func loops[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	epsilon := epsilonOf[T]()
	for n := range 150 {
		x, y := numbers[T](rng, n, 0.2), numbers[T](rng, n, 0.2)
		k := T(rng.NormFloat64())
		got, want := make([]T, n), make([]T, n)
		same := func(name string) { require.Equal(t, want, got, "%s, %d numbers", name, n) }
		Add(got, x, y)
		add(want, x, y)
		same("add")
		Sub(got, x, y)
		sub(want, x, y)
		same("sub")
		Mul(got, x, y)
		mul(want, x, y)
		same("mul")
		Scale(got, k, x)
		scale(want, k, x)
		same("scale")
		Gate(got, x, y)
		gate(want, x, y)
		same("gate")
		copy(got, x)
		copy(want, x)
		Rectify(got, y)
		rectify(want, y)
		same("rectify")
		copy(got, x)
		copy(want, x)
		Axpy(got, k, y) // fused multiplication and addition round once
		axpy(want, k, y)
		size := T(0)
		for i := range got {
			require.InDelta(t, want[i], got[i], 2*epsilon*(math.Abs(float64(x[i]))+math.Abs(float64(k*y[i]))), "axpy, %d numbers", n)
			size += T(math.Abs(float64(x[i] * y[i])))
		}
		require.InDelta(t, dot(x, y), Dot(x, y), float64(n)*epsilon*float64(size), "dot, %d numbers", n)
	}
}

func TestLoopsOverGroupsWithoutVectors(t *testing.T) {
	defer func(was, wasFaster bool) { fast, faster = was, wasFaster }(fast, faster)
	fast, faster = false, false
	t.Run("float64", groupLoops[float64])
	t.Run("float32", groupLoops[float32])
}

func TestRectifyAndGateKeepNaN(t *testing.T) {
	nan := math.NaN()
	x := []float64{nan, 1, 2, 3, nan}
	Rectify(x, make([]float64, 5))
	require.True(t, math.IsNaN(x[0]) && math.IsNaN(x[4]))
	Gate(x, []float64{1, 1, 1, 1, 1}, []float64{nan, 1, 1, 1, nan})
	require.True(t, math.IsNaN(x[0]) && math.IsNaN(x[4]))
}

func TestAdamEqualsThePlainLoopToTheBit(t *testing.T) {
	t.Run("float64", adamSteps[float64])
	t.Run("float32", adamSteps[float32])
}

func adamSteps[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	c := AdamConstants{0.9, 0.1, 0.999, 0.001, 0.02, 1e-8}
	k := constants[T](&c)
	exponent := -126 // of the smallest normal number
	if double[T]() {
		exponent = -1022
	}
	for n := range 80 {
		var a, b [4][]T
		for i := range a {
			a[i] = numbers[T](rng, n, 0)
			if i == 2 {
				mul(a[i], a[i], a[i])
			}
			for j := range a[i] {
				if rng.IntN(4) == 0 { // about the smallest normal number, and 0
					a[i][j] = T(math.Ldexp(rng.Float64()*float64(rng.IntN(2)), exponent-rng.IntN(8)+4))
				}
			}
			b[i] = append([]T{}, a[i]...)
		}
		Adam(a[0], a[1], a[2], a[3], &c)
		adam(b[0], b[1], b[2], b[3], &k)
		for i := range a {
			require.Equal(t, b[i], append([]T{}, a[i]...))
		}
	}
}

// The moments of a parameter whose gradient is 0 from some step on end at 0, not at subnormal numbers.
func TestMomentsWithoutGradientEnd(t *testing.T) {
	c := AdamConstants{0.9, 0.1, 0.999, 0.001, 0.02, 1e-8}
	n := 19 // vectors, and a remainder
	w, m, v, g := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for j := range g {
		g[j] = float32(1+j) * 1e-3
	}
	Adam(w, m, v, g, &c)
	clear(g)
	for range 1000 { // 0.9¹⁰⁰⁰ is 10⁻⁴⁶
		Adam(w, m, v, g, &c)
	}
	for j := range m {
		require.Zero(t, m[j])
		require.NotZero(t, v[j])
		require.NotZero(t, w[j])
	}
}

func TestNarrowAndWiden(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for n := range 30 {
		x := numbers[float64](rng, n, 0)
		got, back := make([]float32, n), make([]float64, n)
		Narrow(got, x)
		Widen(back, got)
		for i, v := range x {
			require.Equal(t, float32(v), got[i])
			require.Equal(t, float64(got[i]), back[i])
		}
	}
}

// Products with zeros against the three loops of the definition.
func TestProduct(t *testing.T) {
	if !fast {
		t.Skip("this machine has no AVX2")
	}
	t.Run("float64", product[float64])
	t.Run("float32", product[float32])
	defer func(was bool) { faster = was }(faster)
	faster = false // the lists written by the plain loop
	t.Run("float64 by AVX2 alone", product[float64])
}

func product[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for share, p := range map[float64]*Product[T]{0.6: {}, 0: {Dense: true}} { // of zeros
		against(t, p, share)
	}
	var p Product[T]
	a, b, c := numbers[T](rng, 100*100, 0), numbers[T](rng, 100*100, 0), make([]T, 100*100)
	require.False(t, p.Multiply(false, false, 100, 100, 100, a, b, c), "without zeros the library is faster")
}

// against compares products of matrices with a share of zeros with their definition.
func against[T Float](t *testing.T, p *Product[T], share float64) {
	rng := rand.New(rand.NewPCG(5, 2))
	epsilon := epsilonOf[T]()
	for _, s := range [][3]int{{100, 200, 50}, {201, 65, 33}, {97, 66, 101}, {50, 73, 200}, {300, 77, 43}, {64, 95, 77}, {33, 90, 34}} {
		m, n, k := s[0], s[1], s[2]
		for _, ta := range []bool{false, true} {
			for _, tb := range []bool{false, true} {
				a, b := numbers[T](rng, m*k, share), numbers[T](rng, k*n, 0)
				c := numbers[T](rng, m*n, 0)
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
						require.InDelta(t, sum, c[i*n+j], float64(k)*epsilon*size, "%v %v %v at %d, %d", s, ta, tb, i, j)
					}
				}
			}
		}
	}
}

// Panels of 256 bytes add up in the order of those of 128.
func TestWidePanelsOfProducts(t *testing.T) {
	if !faster {
		t.Skip("this machine has no AVX-512")
	}
	t.Run("float64", widePanels[float64])
	t.Run("float32", widePanels[float32])
}

func widePanels[T Float](t *testing.T) {
	defer func() { faster = true }()
	rng := rand.New(rand.NewPCG(7, 2))
	var p Product[T]
	for n := narrowest; n < 300; n += 13 {
		m, k := 32+n%7, 32+n%50
		for _, tb := range []bool{false, true} {
			a, b := numbers[T](rng, m*k, 0.6), numbers[T](rng, k*n, 0)
			wide, narrow := make([]T, m*n), make([]T, m*n)
			faster = true
			require.True(t, p.Multiply(false, tb, m, n, k, a, b, wide))
			faster = false
			require.True(t, p.Multiply(false, tb, m, n, k, a, b, narrow))
			require.Equal(t, narrow, wide, "%d columns", n)
		}
	}
}

// Groups of every size, with any number of columns that vary; every width of b.
func TestProductOfRepeatedRows(t *testing.T) {
	if !faster {
		t.Skip("this machine has no AVX-512")
	}
	t.Run("float64", repeatedRows[float64])
	t.Run("float32", repeatedRows[float32])
}

// imputed is a matrix whose rows, in groups of r, differ in a share of columns.
func imputed[T Float](rng *rand.Rand, rows, columns, r int, share float64) []T {
	x := numbers[T](rng, rows*columns, 0)
	for i := 0; i < rows; i += r {
		for j := range columns {
			if rng.Float64() < share {
				continue
			}
			for k := i; k < min(i+r, rows); k++ {
				x[k*columns+j] = x[i*columns+j]
			}
		}
	}
	return x
}

func repeatedRows[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	var p Product[T]
	for n := shortest / sizeOf[T](); n < 110; n++ {
		r, rows, columns := 2+n%17, 32+n%40, 32+n%37
		x := imputed[T](rng, rows, columns, r, 0.3)
		for _, ta := range []bool{false, true} {
			m, k := rows, columns
			if ta {
				m, k = columns, rows
			}
			b, got, want := numbers[T](rng, k*n, 0), numbers[T](rng, m*n, 0), make([]float64, m*n)
			require.True(t, p.repeats(ta, m, n, k, x, b, got), "groups of %d", r)
			for i := range m {
				for l := range k {
					at := i*columns + l
					if ta {
						at = l*columns + i
					}
					v := float64(x[at])
					for j := range n {
						want[i*n+j] += v * float64(b[l*n+j])
					}
				}
			}
			for i, v := range want {
				require.InDelta(t, v, float64(got[i]), 200*epsilonOf[T]()*(1+math.Abs(v)), "%d columns, transposed %v, number %d", n, ta, i)
			}
		}
	}
	x := imputed[T](rng, 300, 100, 10, 0.3)
	b, c := numbers[T](rng, 300*100, 0), make([]T, 300*100)
	require.True(t, p.Multiply(false, false, 300, 100, 100, x, b, c))
	require.Zero(t, testing.AllocsPerRun(5, func() { p.Multiply(false, false, 300, 100, 100, x, b, c) }))
	require.False(t, p.repeats(false, 300, 100, 100, numbers[T](rng, 300*100, 0), b, c), "rows without anything in common")
	require.False(t, p.repeats(false, 300, 100, 100, imputed[T](rng, 300, 100, 10, 0.9), b, c), "too little in common")
}

// Matrices without zeros, against gonum's BLAS.
func BenchmarkProductWithoutZeros(b *testing.B) {
	const m, n, k = 100, 200, 200
	rng := rand.New(rand.NewPCG(5, 2))
	x, y, z := numbers[float64](rng, m*k, 0), numbers[float64](rng, k*n, 0), make([]float64, m*n)
	b.Run("ours", func(b *testing.B) {
		p := Product[float64]{Dense: true}
		for b.Loop() {
			p.Multiply(false, false, m, n, k, x, y, z)
		}
	})
	b.Run("gonum", func(b *testing.B) {
		for b.Loop() {
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, blas64.General{Rows: m, Cols: k, Stride: k, Data: x},
				blas64.General{Rows: k, Cols: n, Stride: n, Data: y}, 0, blas64.General{Rows: m, Cols: n, Stride: n, Data: z})
		}
	})
}

func BenchmarkProduct(b *testing.B) {
	b.Run("float64", products[float64])
	b.Run("float32", products[float32])
}

func products[T Float](b *testing.B) {
	for _, s := range []struct {
		ta, tb  bool
		m, n, k int
	}{{false, false, 100, 200, 200}, {false, true, 100, 200, 200}, {true, false, 200, 200, 100}, {false, false, 100, 100, 200}, {false, true, 100, 200, 50}} {
		rng := rand.New(rand.NewPCG(5, 2))
		x, y, z := numbers[T](rng, s.m*s.k, 0.5), numbers[T](rng, s.n*s.k, 0), make([]T, s.m*s.n)
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			var p Product[T]
			b.ReportAllocs()
			for b.Loop() {
				p.Multiply(s.ta, s.tb, s.m, s.n, s.k, x, y, z)
			}
		})
	}
}
