package posterior_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/posterior"
)

func table(t testing.TB, d int, values []float64, observed []bool) *data.Table {
	names := make([]string, d)
	for j := range names {
		names[j] = string(rune('a' + j))
	}
	x := testtables.Must(data.NewTable(names, values, observed))
	z, _ := data.Standardise(x)
	return z
}

// hide marks missing second cells.
func pairs(t testing.TB, n int, rho float64, seed uint64, hide func(x, u float64) bool) (z *data.Table, whole []float64) {
	rng := stream.New(seed)
	var values []float64
	var observed []bool
	for range n {
		x := rng.NormFloat64()
		y := rho*x + math.Sqrt(1-rho*rho)*rng.NormFloat64()
		values, observed = append(values, x, y), append(observed, true, !hide(x, rng.Float64()))
	}
	return table(t, 2, values, observed), values
}

func draw(t testing.TB, z *data.Table, c posterior.Config) *posterior.Drawn {
	d := testtables.Must(posterior.Draw(t.Context(), z, c))
	require.Len(t, d.Gaps, c.Draws)
	return d
}

// Closed form: Student's t with n − 1 degrees of freedom about the observed mean, with scale s
// √(1/n + 1/m) (Rubin 1987, chapter 3). With fixed parameters the variance would be a third of it.
func TestMeanOfOneColumn(t *testing.T) {
	const n, m, draws = 40, 80, 1000
	rng := stream.New(2)
	values, observed := make([]float64, n+m), make([]bool, n+m)
	for i := range n {
		values[i], observed[i] = rng.NormFloat64(), true
	}
	z := table(t, 1, values, observed)
	d := draw(t, z, posterior.Config{Draws: draws, Components: 1, Seed: 1, Iterations: draws})
	var means []float64
	for _, gaps := range d.Gaps {
		means = append(means, stat.Mean(gaps, nil))
	}
	seen := z.Column(0)
	s2 := stat.Variance(seen, nil)
	want := s2 * (1./n + 1./m) * (n - 1) / (n - 3)
	require.InDelta(t, stat.Mean(seen, nil), stat.Mean(means, nil), 5*math.Sqrt(want/draws))
	require.InEpsilon(t, want, stat.Variance(means, nil), 0.05+5*math.Sqrt(2./draws)) // and a prior of a few rows
	require.Greater(t, stat.Variance(means, nil), 2*s2/m)
}

// From 8 to 20 rows for each number of a row, two clusters have a mixture, one normal none.
func TestComponentsOfFewRows(t *testing.T) {
	for apart, want := range map[float64]float64{0: 1, 3: 2} {
		rng := stream.New(8)
		z := &data.Table{Names: []string{"a", "b", "c"}, N: 45, D: 3}
		for i := range z.N {
			for range z.D {
				z.Values = append(z.Values, rng.NormFloat64()+apart*float64(i%2*2-1))
				z.Observed = append(z.Observed, rng.Float64() > 0.2)
			}
		}
		z, _ = data.Standardise(z)
		require.InDelta(t, want, draw(t, z, posterior.Config{Draws: 1, Seed: 1}).InUse, want-0.999, "clusters %v apart", apart)
	}
}

func TestOneNormalWhereChainsHaveNotMet(t *testing.T) {
	z, _ := pairs(t, 60, 0.7, 1, func(_, u float64) bool { return u < 0.4 })
	c := posterior.Config{Draws: 2, WarmUp: 1, Iterations: 4, Seed: 197}
	d := draw(t, z, c)
	require.True(t, d.Met())
	c.Components = 6 // the default: one for 5d rows
	asked := draw(t, z, c)
	require.False(t, asked.Met())
	require.Nil(t, asked.Mixture)
	require.Equal(t, asked.Least(), d.Mixture)
	c.Components = 1
	one := draw(t, z, c)
	require.Equal(t, one.Gaps, d.Gaps)
	require.Equal(t, one.Mixing, d.Mixing)
}

// The share of missing cells above the cut 0 follows the probit.
func TestCuts(t *testing.T) {
	const n, draws = 600, 20
	rng := stream.New(5)
	var values []float64
	var observed []bool
	for range n {
		x := rng.NormFloat64()
		y := math.Copysign(1, 0.8*x+0.6*rng.NormFloat64())
		values, observed = append(values, x, y), append(observed, true, rng.Float64() > 0.4)
	}
	x := testtables.Must(data.NewTable([]string{"x", "y"}, values, observed))
	d := draw(t, x, posterior.Config{Draws: draws, Components: 1, Seed: 1, Cuts: [][]float64{nil, {0}}})
	require.True(t, d.Met())
	right, expected, gap := 0.0, 0.0, 0
	for i := range n {
		if observed[i*2+1] {
			continue
		}
		above := 0.0
		for _, gaps := range d.Gaps {
			if gaps[gap] > 0 {
				above += 1. / draws
			}
		}
		gap++
		p := distuv.UnitNormal.CDF(0.8 * values[i*2] / 0.6)
		right += math.Abs(above - p)
		expected += math.Sqrt(p * (1 - p) / draws * 2 / math.Pi) // mean absolute error of the draws' mean
	}
	require.Less(t, right/float64(gap), expected/float64(gap)+0.04) // the parameters' error: 360 rows
}

// Collinear columns, 50 levels and a level of one cell.
func TestHardTables(t *testing.T) {
	rng := stream.New(6)
	z := &data.Table{Names: []string{"x", "double", "round", "many", "rare"}, N: 90, D: 5}
	for i := range z.N {
		x := rng.NormFloat64()
		z.Values = append(z.Values, x, 2*x, math.Round(x), float64(min(i, rng.IntN(50))), float64((1-min(i, 1))*2+i%2))
		z.Observed = append(z.Observed, i%3 > 0, i%4 > 0, i%5 > 0 && i > 5, i%5 > 0, i == 0 || i%4 > 0)
	}
	d := draw(t, z, posterior.Config{Draws: 5, Seed: 1, Levels: []int{0, 0, 0, 50, 3}, WarmUp: 10, Iterations: 20})
	for _, gaps := range d.Gaps {
		require.False(t, floats.HasNaN(gaps))
		require.Less(t, floats.Norm(gaps, math.Inf(1)), 51.)
	}
	require.False(t, math.IsNaN(d.Mixing.RHat), "a level that no draw has, or every one, has met")
	full := table(t, 1, []float64{1, 2, 3}, []bool{true, true, true})
	d = draw(t, full, posterior.Config{Draws: 2})
	require.Equal(t, [][]float64{nil, nil}, d.Gaps)
	require.True(t, d.Met())
	_, err := posterior.Draw(t.Context(), full, posterior.Config{Draws: -1})
	require.EqualError(t, err, "-1 draws, 1 components, 0 iterations after a warm-up of 100, 1 workers: all must be positive")
}

// Missing where the first column is above 0: the drawn mean equals the hidden cells'.
func TestDonors(t *testing.T) {
	const n, draws = 1000, 20
	z, whole := pairs(t, n, 0.8, 3, func(x, u float64) bool { return x > 0 && u < 0.5 })
	d := draw(t, z, posterior.Config{Draws: draws, Seed: 1, Components: 1, Donors: 5})
	var means, hidden, observed []float64
	for _, gaps := range d.Gaps {
		require.Subset(t, z.Column(1), gaps)
		means = append(means, stat.Mean(gaps, nil))
	}
	for i := range n {
		if z.Observed[2*i+1] {
			observed = append(observed, whole[2*i+1])
		} else {
			hidden = append(hidden, whole[2*i+1])
		}
	}
	mean, deviation := stat.PopMeanStdDev(observed, nil)
	want := (stat.Mean(hidden, nil) - mean) / deviation
	require.Greater(t, want, 0.5)
	require.InDelta(t, want, stat.Mean(means, nil), 0.12)
}

// A group of rows never observes a column. With means drawn given completed rows, R-hat would be
// 1.55.
func TestColumnThatAGroupLacks(t *testing.T) {
	rng := stream.New(3)
	var values []float64
	var observed []bool
	for range 300 {
		group := float64(rng.IntN(2))
		x := 1.7*group - 0.85 + 0.4*rng.NormFloat64()
		values, observed = append(values, x, 0.5*x+0.8*rng.NormFloat64()), append(observed, true, group == 1)
	}
	d := draw(t, table(t, 2, values, observed), posterior.Config{Draws: 1, Components: 6, Iterations: 100, Seed: 1})
	require.Less(t, d.Mixing.Worst, 1.2)
}
