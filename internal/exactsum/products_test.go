package exactsum

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// columnsOf are the columns of rows.
func columnsOf(d int, rows [][]float64) []*Column {
	out := make([]*Column, d)
	for j := range out {
		out[j] = &Column{}
		for _, row := range rows {
			out[j].Append(row[j])
		}
	}
	return out
}

// rational is Σ_i x_ij x_ik by math/big.
func rational(rows [][]float64, j, k int) *big.Rat {
	sum := new(big.Rat)
	for _, row := range rows {
		sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(row[j]), new(big.Rat).SetFloat64(row[k])))
	}
	return sum
}

// asRational is a Number.
func asRational(n Number) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(n.Exponent, -n.Exponent)))
	out := new(big.Rat).SetInt(&n.Whole)
	if n.Exponent < 0 {
		return out.Quo(out, new(big.Rat).SetInt(power))
	}
	return out.Mul(out, new(big.Rat).SetInt(power))
}

func requireSums(t require.TestingT, p *Products, rows [][]float64) {
	for j := range p.Dim() {
		for k := j; k < p.Dim(); k++ {
			want, got := rational(rows, j, k), p.At(j, k)
			require.Zero(t, want.Cmp(asRational(got)), "%d %d: %s", j, k, want.FloatString(20))
			require.Equal(t, got, p.At(k, j))
			x, _ := want.Float64()
			require.Equal(t, x, got.Float64())
		}
	}
}

// Numbers of any size and sign up to 1e±300, subnormal ones, zeros, sums that cancel.
func finite() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64Range(-10, 10),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 1e300, -1e300, 1e-300, 5e-324, -5e-324, 2.2250738585072014e-308, 1e16, 1 + 0x1p-52, 1e8 + 0.5, -1e16}),
		rapid.Map(rapid.Uint64(), func(b uint64) float64 {
			if x := math.Float64frombits(b); !math.IsNaN(x) && !math.IsInf(x, 0) {
				return x
			}
			return 0.1
		}),
	)
}

// Exactly what math/big says, whatever the order, and however the rows are divided.
func TestSumsAreExactInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 4).Draw(t, "d")
		rows := rapid.SliceOfN(rapid.SliceOfN(finite(), d, d), 0, 12).Draw(t, "rows")
		all := New(d)
		all.Add(columnsOf(d, rows))
		requireSums(t, all, rows)

		shuffled := rapid.Permutation(rows).Draw(t, "shuffled")
		cut := rapid.IntRange(0, len(rows)).Draw(t, "cut")
		left, right := New(d), New(d)
		left.Add(columnsOf(d, shuffled[:cut]))
		right.Add(columnsOf(d, shuffled[cut:]))
		right.Merge(left)
		again := New(d)
		for j := range d {
			for k := j; k < d; k++ {
				require.Equal(t, all.At(j, k), right.At(j, k))
				again.Put(j, k, all.At(j, k))
			}
		}
		requireSums(t, again, rows)
	})
}

func TestHardCases(t *testing.T) {
	for _, rows := range [][][]float64{
		{{1e150, 1}, {1, 1}, {-1e150, 1}, {0x1p-1074, 0x1p-1074}},        // what float64 loses at both ends
		{{0x1p-1074, 0x1p-1074}, {0x1p-1074, -0x1p-1074}},                // below the smallest float64
		{{1 + 0x1p-52, 1 - 0x1p-53}, {-1, 1}, {0x1p-300, 1}},             // all bits of a product
		{{math.MaxFloat64, math.MaxFloat64}, {-math.MaxFloat64, 1}},      // a sum beyond float64
		{{0x1p511, 0x1p511}, {0x1p511, -0x1p511}, {3, 0x1p-1}, {-3, -1}}, // one that is not
	} {
		p := New(2)
		p.Add(columnsOf(2, rows))
		requireSums(t, p, rows)
	}
	p := New(1)
	p.Add(columnsOf(1, [][]float64{{math.MaxFloat64}}))
	require.True(t, math.IsInf(p.At(0, 0).Float64(), 1))
}

// Carries run through all words: the largest terms many times, then a unit of the last place.
func TestCarries(t *testing.T) {
	p, want := New(1), new(big.Rat)
	var rows [][]float64
	for range 300 {
		rows = append(rows, []float64{0x1.fffffffffffffp31})
	}
	for range 5 {
		p.Add(columnsOf(1, rows))
		want.Add(want, rational(rows, 0, 0))
		twice := New(1)
		twice.Merge(p)
		p.Merge(twice)
		want.Add(want, want)
	}
	require.Zero(t, want.Cmp(asRational(p.At(0, 0))))
}

// With a mean of 1e8 and a deviation of 1 the sum of squares about the mean is that of math/big.
func TestCentredMomentsLoseNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows [][]float64
	for range 1000 {
		rows = append(rows, []float64{1e8 + rng.NormFloat64(), 1})
	}
	p := New(2)
	p.Add(columnsOf(2, rows))
	sum, n := p.At(0, 1), Int(len(rows))
	centred := p.At(0, 0).Times(n).Minus(sum.Times(sum)).Over(n.Times(n))
	got, _ := centred.Float64()
	mean := new(big.Rat).Quo(rational(rows, 0, 1), big.NewRat(1000, 1))
	want := new(big.Rat)
	for _, row := range rows {
		off := new(big.Rat).Sub(new(big.Rat).SetFloat64(row[0]), mean)
		want.Add(want, off.Mul(off, off))
	}
	x, _ := want.Quo(want, big.NewRat(1000, 1)).Float64()
	require.Equal(t, x, got)
}

func BenchmarkProducts(b *testing.B) {
	const d, n = 21, 1000
	rng := rand.New(rand.NewPCG(1, 2))
	var rows [][]float64
	for range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		rows = append(rows, row)
	}
	columns, p := columnsOf(d, rows), New(d)
	for b.Loop() {
		p.Add(columns)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*Pairs(d)), "ns/product")
}
