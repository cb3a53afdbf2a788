package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// scaled are normal rows with a third of their cells missing, each times one of two numbers, and
// the precision of the complete rows.
func scaled(t *testing.T, n int, seed uint64, small, large float64) (*data.Table, *mat.SymDense) {
	t.Helper()
	const d = 4
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1)
		if j > 0 {
			p.SetSym(j-1, j, 0.4)
		}
	}
	g := simulate.Gaussian{Mean: []float64{1, 2, 3, 4}, Precision: p}
	table, err := g.Sample(n, stream.New(seed, stream.Simulate))
	require.NoError(t, err)
	hide(table, false, seed)
	rng := stream.New(seed, stream.Replicate)
	for i := range n {
		by := small
		if rng.IntN(2) == 1 {
			by = large
		}
		for j := range d {
			table.Values[i*d+j] = g.Mean[j] + by*(table.Values[i*d+j]-g.Mean[j])
		}
	}
	q := mat.NewSymDense(d, nil)
	q.ScaleSym(2/(small*small+large*large), p)
	return table, q
}

// Rows times ½ or 3⁄2 at random have E D² = k(k + 2) E s⁴/(E s²)², 1.64 times that of normal
// rows, whatever cells are missing.
func TestTailsOfScaledRows(t *testing.T) {
	var ratios []float64
	for seed := range uint64(40) {
		table, p := scaled(t, 500, seed, 0.5, 1.5)
		tails, err := tailsOf(table, []float64{1, 2, 3, 4}, p, 1)
		require.NoError(t, err)
		require.Greater(t, tails.z, 5.)
		require.Contains(t, tails.warnings()[0], "take --inference robust")
		ratios = append(ratios, tails.ratio)
	}
	mean, sd := stat.MeanStdDev(ratios, nil)
	require.InDelta(t, 2*(math.Pow(0.5, 4)+math.Pow(1.5, 4))/math.Pow(0.25+2.25, 2), mean, 4*sd/math.Sqrt(40))
}

// Of normal rows z is standard normal, at the true mean and precision, and at those fitted to
// the rows.
func TestTailsOfNormalRows(t *testing.T) {
	const tables = 300
	all := mat.NewSymDense(4, nil)
	for j := range 4 {
		for k := j; k < 4; k++ {
			all.SetSym(j, k, 1)
		}
	}
	var known, fitted []float64
	for seed := range uint64(tables) {
		table, p := scaled(t, 400, seed, 1, 1)
		tails, err := tailsOf(table, []float64{1, 2, 3, 4}, p, 1)
		require.NoError(t, err)
		known = append(known, tails.z)
		standard, _ := data.Standardise(table)
		m := refitted(t, standard, all)
		tails, err = tailsOf(standard, m.Mean(), m.Precision(), 1)
		require.NoError(t, err)
		fitted = append(fitted, tails.z)
	}
	// Of rows whose mean and covariance are fitted Mardia's kurtosis has a mean smaller by
	// 2k(k + 2)/(n + 1), which is √(k(k + 2)/2n) of z at first order; k is 2.8 here.
	for i, z := range [][]float64{known, fitted} {
		mean, sd := stat.MeanStdDev(z, nil)
		require.InDelta(t, -float64(i)*math.Sqrt(2.8*4.8/2/400), mean, 4*sd/math.Sqrt(tables))
		require.InDelta(t, 1, sd, 4*sd*math.Sqrt((stat.ExKurtosis(z, nil)+2)/4/tables))
	}
}
