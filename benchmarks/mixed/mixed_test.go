package mixed

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/gaps"
	"missingscore/data"
	"missingscore/internal/stream"
)

func TestTruthsOfNumbers(t *testing.T) {
	a := mat.NewSymDense(2, []float64{0, 1, 1, 0})
	for name, truth := range truths {
		values, err := truth(a, []int{1, 1}, 4000, stream.New(1, stream.Simulate))
		require.NoError(t, err)
		var x, y []float64
		for i := range 4000 {
			x, y = append(x, values[2*i]), append(y, values[2*i+1])
		}
		require.InDelta(t, 0.4, math.Abs(stat.Correlation(x, y, nil)), 0.05, name)
		require.InDelta(t, 1/(1-0.16), stat.Variance(x, nil), 0.1, name)
	}
}

// E(a² − 1)² = 2, E|b| = √(2/π), E exp(c/2) = e^(1/8); E(a·ac·c) = 1.
func TestCurved(t *testing.T) {
	x, err := Source{Made: "curved", Rows: 20000}.Table(t.Context(), 1)
	require.NoError(t, err)
	mean := func(f func(row []float64) float64) (sum float64) {
		for i := range x.N {
			sum += f(x.Values[i*8:i*8+8]) / float64(x.N)
		}
		return sum
	}
	for want, got := range map[float64]float64{
		2 + 0.09:               mean(func(r []float64) float64 { return r[3] * r[3] }),
		math.Exp(-2) * 2:       mean(func(r []float64) float64 { return r[1] * r[4] }),
		1:                      mean(func(r []float64) float64 { return r[0] * r[2] * r[5] }),
		math.Sqrt(2 / math.Pi): mean(func(r []float64) float64 { return r[6] }),
		math.Exp(1. / 8):       mean(func(r []float64) float64 { return r[7] }),
	} {
		require.InDelta(t, want, got, 0.1)
	}
}

// The log odds ratio is 4w for any a.
func TestPairwiseOfTwoLevels(t *testing.T) {
	a := mat.NewSymDense(2, []float64{0, 1, 1, 0})
	values, err := pairwise(a, []int{2, 2}, 4000, stream.New(2, stream.Simulate))
	require.NoError(t, err)
	var odds [2][2]float64
	for i := range 4000 {
		odds[int(values[2*i])][int(values[2*i+1])]++
	}
	require.InDelta(t, 4*0.4, math.Log(odds[0][0]*odds[1][1]/odds[0][1]/odds[1][0]), 0.25)
}

func TestChosenLevels(t *testing.T) {
	rng := stream.New(3, stream.Simulate)
	count := make([]float64, 5)
	for range 20000 {
		z := make([]float64, 4)
		for k := range z {
			z[k] = rng.NormFloat64()
		}
		count[chosen(z, make([]float64, 4))]++
	}
	for _, c := range count {
		require.InDelta(t, 0.2, c/20000, 0.015)
	}
}

func TestSimulatedTable(t *testing.T) {
	d := design{Truth: "latent", Graph: "chain", Columns: 7, Rows: 200}
	truth, whole, err := d.simulate(1)
	require.NoError(t, err)
	require.Equal(t, 6, truth.Count())
	require.True(t, truth.Has(2, 3))
	numbers := 0
	for j := range 7 {
		if levels := data.Coded(whole, j); levels == nil {
			numbers++
		} else {
			for i := range 200 {
				require.Less(t, int(whole.Values[i*7+j]), len(levels))
			}
		}
	}
	require.Equal(t, 2, numbers)
	hidden, err := Hide(gaps.Law{Missing: 0.2}, whole, 1)
	require.NoError(t, err)
	require.Equal(t, whole.Levels, hidden.Levels)
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, Write(path, hidden))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, `^x1,x2,x3,x4,x5,x6,x7\n`, string(text))
}
