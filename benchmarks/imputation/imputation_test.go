package imputation

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/benchmarks/mixed"
	"missingscore/data"
	"missingscore/internal/stream"
)

// Draws (3, 4), (0, 0), (0, 8) of (0, 0): mean distance (5 + 0 + 8)/3; pairs 5, 5 and 8, half their
// mean 3.
func TestEnergyScoreByHand(t *testing.T) {
	require.InDelta(t, 13./3-3, energyScore([]float64{0, 0}, [][]float64{{3, 0, 0}, {4, 0, 8}}), 1e-12)
	require.InDelta(t, 5, energyScore([]float64{0, 0}, [][]float64{{3}, {4}}), 1e-12)
	require.Zero(t, energyScore(nil, nil))
}

// N(0, I), within four standard errors (Gneiting and Raftery 2007, section 4.2): CRPS x(2Φ(x) − 1)
// + 2φ(x) − 1/√π, and at 0 in two dimensions √(π/2) (1 − 1/√2).
func TestEnergyScoreOfANormal(t *testing.T) {
	rng := stream.New(1, stream.Sample)
	crps := func(x float64) float64 {
		return x*(2*distuv.UnitNormal.CDF(x)-1) + 2*distuv.UnitNormal.Prob(x) - 1/math.Sqrt(math.Pi)
	}
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{0}, crps(0)}, {[]float64{1.3}, crps(1.3)}, {[]float64{0, 0}, math.Sqrt(math.Pi/2) * (1 - math.Sqrt(0.5))}} {
		for _, m := range []int{2, 20} {
			sum, squares := 0.0, 0.0
			const repeats = 10000
			for range repeats {
				draws := make([][]float64, len(c.x))
				for j := range draws {
					for range m {
						draws[j] = append(draws[j], rng.NormFloat64())
					}
				}
				s := energyScore(c.x, draws)
				sum, squares = sum+s, squares+s*s
			}
			mean := sum / repeats
			require.InDelta(t, c.want, mean, 4*math.Sqrt((squares/repeats-mean*mean)/repeats), "x = %v, %d draws", c.x, m)
		}
	}
}

// First row: 1 with draws 0, 0, 2, 4, and b with draws b, b, c, a. The second row is out of sample.
func TestMeasure(t *testing.T) {
	whole := &data.Table{Names: []string{"x", "y"}, N: 3, D: 2, Values: []float64{1, 1, 0, 0, 2, 2},
		Observed: []bool{true, true, true, true, true, true}, Kinds: []data.Kind{data.Number, data.Nominal}, Levels: [][]string{nil, {"a", "b", "c"}}}
	hidden := *whole
	hidden.Observed = []bool{false, false, false, true, true, true}
	_, scale := data.Standardise(mixed.Codes(whole))
	sd := scale.Deviation[0]
	draws := [][]float64{{0, 0, 2, 4}, {1, 1, 2, 0}, {2, 1, 2, 3}}
	far, apart := 6./4, (0+2+2+4+4+2.)/12
	text := func(x float64) string { return share(x, 1, true) }
	score := text((far - apart) / sd)
	require.Equal(t, []string{"1", "1.00000", text(-math.Log(3. / 7)), "0", "-", "-", "1", text(0.5 / sd), text(0.5 / sd), score, score, "1.00000", text(4 / sd)},
		measure(whole, &hidden, draws, 0, 1))
	score = text((2 - (1+0+1+1+2+1)/12.) / sd)
	require.Equal(t, []string{"0", "-", "-", "0", "-", "-", "1", text(2 / sd), text(2 / sd), score, score, "0.00000", text(2 / sd)},
		measure(whole, &hidden, draws, 1, 3))
	require.Equal(t, []string{"1", "0.00000", "-", "0", "-", "-", "1", text(1 / sd), text(1 / sd), text(1 / sd), text(1 / sd), "-", "-"},
		measure(whole, &hidden, [][]float64{{0}, {2}, {0}}, 0, 1))
	both := &data.Table{Names: []string{"x", "y"}, N: 2, D: 2, Values: []float64{1, 3, -1, -3}, Observed: []bool{true, true, true, true}}
	none := *both
	none.Observed = []bool{false, false, true, true}
	got := measure(both, &none, [][]float64{{4, 4}, {3, 15}}, 0, 2) // in deviations 1 and 3: off by (3, 0) and (3, 4), apart (0, 4)
	require.Equal(t, []string{text((3 + 2) / 2.), text((3+5)/2./2 - 4./2/2)}, []string{got[7+0], got[10]})
}

func TestReadDraws(t *testing.T) {
	table := &data.Table{Names: []string{"x", "y"}, N: 2, D: 2, Values: make([]float64, 4), Observed: []bool{false, true, true, false},
		Kinds: []data.Kind{data.Number, data.Nominal}, Levels: [][]string{nil, {"a", "b", "c"}}}
	path := filepath.Join(t.TempDir(), "completed.csv")
	put := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	put(".imp,.id,x,y\n0,1,NA,a\n0,2,3,NA\n1,1,-1.5,a\n1,2,3,c\n2,1,7,a\n2,2,3,b\n")
	got, err := readDraws(path, table)
	require.NoError(t, err)
	require.Equal(t, [][]float64{{-1.5, 7}, {2, 1}}, got)
	put(".imp,.id,x,y\n1,2,3,z\n")
	_, err = readDraws(path, table)
	require.ErrorContains(t, err, `column y has "z" in row 2 of draw 1`)
}
