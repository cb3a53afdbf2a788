package sandwich

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
)

// fromQuartic draws from a quartic model of two columns by rejection; the mass beyond 3 is
// negligible.
func fromQuartic(t testing.TB, m *model.Quartic, n int, rng *rand.Rand) *data.Table {
	theta := m.Theta()
	var x []float64
	for len(x) < 2*n {
		a, b := 6*rng.Float64()-3, 6*rng.Float64()-3
		z := mat.NewVecDense(2, []float64{a * a, b * b})
		if math.Log(rng.Float64()) < mat.Inner(z, theta, z) {
			x = append(x, a, b)
		}
	}
	table, err := data.NewTable([]string{"a", "b"}, x, nil)
	require.NoError(t, err)
	return table
}

// Over simulated tables estimates have the reported standard errors, and intervals cover. A factor
// 2 in variances is far beyond the tolerances of three standard errors.
func TestCoverage(t *testing.T) {
	slowtest.Skip(t, "10 s")
	quartic := model.NewQuartic(2)
	require.NoError(t, quartic.SetTheta(mat.NewSymDense(2, []float64{-0.6, -0.05, -0.05, -0.4})))
	mixed := simulate.Mixture{Weights: []float64{0.6, 0.4}, Means: [][]float64{{-1.5, 0}, {1.5, 0.5}}, Deviations: [][]float64{{0.8, 1}, {0.7, 1}}}
	ofQuartic := func(t testing.TB, rng *rand.Rand) *data.Table { return fromQuartic(t, quartic, 500, rng) }
	ofMixture := func(t testing.TB, rng *rand.Rand) *data.Table {
		table, err := mixed.Sample(1000, rng)
		require.NoError(t, err)
		return table
	}
	for name, c := range map[string]struct {
		method  string
		missing float64
		tables  uint64
		draw    func(testing.TB, *rand.Rand) *data.Table
		scaling scaling
		model   func(testing.TB) model.Parametric
	}{
		"quartic, no gaps": {"full", 0, 60, ofQuartic, aboutZero, func(t testing.TB) model.Parametric { return copied(t, quartic) }},
		"quartic, iw":      {"iw", 0.2, 30, ofQuartic, aboutZero, func(t testing.TB) model.Parametric { return copied(t, quartic) }},
		"mixture, no gaps": {"full", 0, 60, ofMixture, byDeviation, func(t testing.TB) model.Parametric { return mixture(t, mixed) }},
		"mixture, em-full": {"em-full", 0.15, 20, ofMixture, byDeviation, func(t testing.TB) model.Parametric { return mixture(t, mixed) }},
	} {
		t.Run(name, func(t *testing.T) {
			n := float64(c.tables)
			var truth []float64
			q := &quantities{c.model(t), data.UnitScale(2), false}
			all, err := q.at(nil)
			require.NoError(t, err)
			for _, m := range q.members(make([]string, q.model.Dim())) {
				truth = append(truth, all[m.place])
			}
			estimates, se, share := make([][]float64, len(truth)), make([]float64, len(truth)), make([]float64, c.tables)
			for k := range c.tables {
				rng := stream.New(k, stream.Simulate)
				table := c.draw(t, rng)
				if c.missing > 0 {
					table, err = data.HideMCAR(table, c.missing, rng)
					require.NoError(t, err)
				}
				r := of(t, table, c.model(t), c.scaling, c.method, nil, engine.Config{Draws: 4, Seed: k})
				require.NotNil(t, r.Uncertainty, "%v", r.Warnings)
				require.Equal(t, c.scaling == byDeviation, strings.Contains(r.Uncertainty.Rests, "the order of components is arbitrary"))
				for i, p := range r.Uncertainty.Parameters {
					estimates[i] = append(estimates[i], p.Estimate)
					se[i] += p.SE / n
					if p.Low <= truth[i] && truth[i] <= p.High {
						share[k] += 1 / float64(len(truth))
					}
				}
			}
			ratio := 0.
			for i := range truth {
				ratio += se[i] / stat.StdDev(estimates[i], nil) / float64(len(truth))
				require.InDelta(t, 1, se[i]/stat.StdDev(estimates[i], nil), 4/math.Sqrt(2*n), "parameter %d", i)
			}
			mean, sd := stat.MeanStdDev(share, nil)
			t.Logf("coverage %.3f (standard error %.3f), standard errors over spread %.2f", mean, sd/math.Sqrt(n), ratio)
			require.InDelta(t, 1, ratio, 3/math.Sqrt(2*n))
			require.InDelta(t, 0.95, mean, 3*sd/math.Sqrt(n)+0.01)
		})
	}
}

// copied is another model with the same coefficients.
func copied(t testing.TB, q *model.Quartic) *model.Quartic {
	t.Helper()
	m := model.NewQuartic(q.Dim())
	require.NoError(t, m.SetTheta(q.Theta()))
	return m
}

func mixture(t testing.TB, of simulate.Mixture) *model.Mixture {
	t.Helper()
	m, err := model.NewMixture(of)
	require.NoError(t, err)
	return m
}
