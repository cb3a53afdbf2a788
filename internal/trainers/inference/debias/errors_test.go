package debias

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/inference"
)

// Normal rows with a third of the cells missing, each times one of two factors.
func scaled(t *testing.T, n int, seed uint64, small, large float64) (*data.Table, *mat.SymDense) {
	t.Helper()
	const d = 4
	p := mat.NewSymDense(d, []float64{1, 0.4, 0, 0, 0.4, 1, 0.4, 0, 0, 0.4, 1, 0.4, 0, 0, 0.4, 1})
	g := simulate.Gaussian{Mean: []float64{1, 2, 3, 4}, Precision: p}
	table, err := g.Sample(n, stream.New(seed, stream.Simulate))
	require.NoError(t, err)
	hide(table, seed)
	rng := stream.New(seed, stream.Replicate)
	for i := range n {
		by := []float64{small, large}[rng.IntN(2)]
		for j := range d {
			table.Values[i*d+j] = g.Mean[j] + by*(table.Values[i*d+j]-g.Mean[j])
		}
	}
	q := mat.NewSymDense(d, nil)
	q.ScaleSym(2/(small*small+large*large), p)
	return table, q
}

func tailsOf(t *testing.T, table *data.Table, mu []float64, p mat.Symmetric) tails {
	o, multiply := rowsOf(t, table, mu, p)
	return o.tails(multiply, table.Weights != nil)
}

// E D² = k(k + 2) E s⁴/(E s²)², 1.64 times the normal value for factors ½ and 3⁄2. With fitted moments
// Mardia's kurtosis is smaller by 2k(k + 2)/(n + 1), about √(k(k + 2)/2n) of z; k is 2.8 here.
func TestTails(t *testing.T) {
	const tables = 300
	var ratios, known, fitted []float64
	mu := []float64{1, 2, 3, 4}
	for seed := range uint64(tables) {
		table, p := scaled(t, 400, seed, 1, 1)
		known = append(known, tailsOf(t, table, mu, p).z)
		n := likeliest(t, table)
		fitted = append(fitted, tailsOf(t, table, n.mu, n.p).z)
		if seed < 40 {
			table, p = scaled(t, 500, seed, 0.5, 1.5)
			tails := tailsOf(t, table, mu, p)
			require.Greater(t, tails.z, 5.)
			require.Contains(t, tails.warnings()[0], "take Spec.Inference robust")
			ratios = append(ratios, tails.ratio)
		}
	}
	mean, sd := stat.MeanStdDev(ratios, nil)
	require.InDelta(t, 2*(math.Pow(0.5, 4)+math.Pow(1.5, 4))/math.Pow(0.25+2.25, 2), mean, 4*sd/math.Sqrt(40))
	for i, z := range [][]float64{known, fitted} {
		mean, sd := stat.MeanStdDev(z, nil)
		require.InDelta(t, -float64(i)*math.Sqrt(2.8*4.8/2/400), mean, 4*sd/math.Sqrt(tables))
		require.InDelta(t, 1, sd, 4*sd*math.Sqrt((stat.ExKurtosis(z, nil)+2)/4/tables))
	}
}

// 1/√(n − k − 3), with k columns held constant (Fisher 1924).
func TestFewRowsIsFishers(t *testing.T) {
	const d, n = 6, 30
	for name, c := range map[string]struct {
		edge float64
		k    float64
	}{"all edges": {0.1, d - 2}, "no edges": {0, 0}} {
		p := mat.NewSymDense(d, nil)
		var e Estimate
		for j := range d {
			p.SetSym(j, j, 1)
			for k := j + 1; k < d; k++ {
				p.SetSym(j, k, c.edge)
				rho := float64(j-k) / d
				e.Partial, e.SE = append(e.Partial, rho), append(e.SE, (1-rho*rho)/math.Sqrt(n))
			}
		}
		by := Estimate{Partial: e.Partial, SE: slices.Clone(e.SE)}
		require.Zero(t, e.forFewRows(p, false))
		require.Zero(t, by.forFewRows(p, true))
		for i, rho := range e.Partial {
			require.InDelta(t, 1/math.Sqrt(n-c.k-3), e.SE[i]/(1-rho*rho), 1e-12, name)
			require.InDelta(t, math.Sqrt(n)/(n-c.k-3), by.SE[i]/(1-rho*rho), 1e-12, name)
		}
	}
	e := Estimate{Partial: []float64{0.5}, SE: []float64{0.75 / math.Sqrt(3)}}
	require.Equal(t, 1, e.forFewRows(mat.NewSymDense(2, []float64{1, 0.5, 0.5, 1}), false))
	require.True(t, math.IsNaN(e.SE[0]), "three rows tell nothing of two columns")
	require.True(t, math.IsNaN(inference.Normal(0.5, e.SE[0], 0.95, 3).Low))
}
