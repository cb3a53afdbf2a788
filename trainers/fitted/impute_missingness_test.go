package fitted_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/trainers/fitted"
)

// Self-masked cells against quadrature, censored ones beyond their threshold.
func TestImputeNotAtRandom(t *testing.T) {
	m := model.NewGaussian(2, model.CholeskyFactor)
	require.NoError(t, m.SetPrecision(mat.NewSymDense(2, []float64{1, -0.4, -0.4, 1.2})))
	known := func(told *missingness.Model) *fitted.Model {
		f, err := (&fitted.Saved{Kind: "gaussian", Model: m, Names: []string{"a", "b"}, Missingness: told,
			Scale: data.Scale{Mean: []float64{0.5, 0}, Deviation: []float64{2, 0.5}}}).Fitted()
		require.NoError(t, err)
		return f
	}
	regressed := &missingness.Model{Logistic: missingness.NewLogistic(2)}
	regressed.Logistic.Intercept[1] = -0.5
	regressed.Logistic.Slope.Set(1, 1, -1.5)
	regressed.Logistic.Slope.Set(1, 0, 0.8)
	censored := &missingness.Model{Censored: domain.All(2)}
	censored.Censored.Upper[1] = 0.9
	const a, draws = 0.7, 4000
	for name, c := range map[string]struct {
		known  *missingness.Model
		hidden func(b float64) float64 // probability that b is missing
		by     string
	}{
		"regressed": {regressed, func(b float64) float64 { return 1 / (1 + math.Exp(-0.5-1.5*b+0.8*a)) }, "mcmc"},
		"censored":  {censored, func(b float64) float64 { return math.Max(0, math.Copysign(1, b-0.9)) }, "exact"},
		"at random": {nil, func(float64) float64 { return 1 }, "exact"},
	} {
		t.Run(name, func(t *testing.T) {
			f := known(c.known)
			r := impute(t, f, table(f.Names, []float64{a, nan}), fitted.ImputeConfig{Draws: draws, Seed: 1})
			require.Equal(t, c.by, r.Sampler)
			moment := func(g func(b float64) float64) float64 {
				sum := 0.0
				for _, ends := range [][2]float64{{-6, 0.9}, {0.9, 8}} {
					sum += quad.Fixed(func(b float64) float64 {
						return g(b) * c.hidden(b) * math.Exp(-0.5*1.2*b*b+0.4*a*b)
					}, ends[0], ends[1], 200, nil, 0)
				}
				return sum
			}
			total := moment(func(float64) float64 { return 1 })
			mean := moment(func(b float64) float64 { return b }) / total
			variance := moment(func(b float64) float64 { return b*b - mean*mean }) / total
			got := 0.0
			for k := range draws {
				got += r.Values[2*k+1] / draws
			}
			size := float64(draws)
			if r.Mixing != nil {
				require.True(t, r.Mixing.Converged())
				size = min(size, r.Mixing.Size[0])
			}
			require.InDelta(t, mean, got, 4.5*math.Sqrt(variance/size))

			// E[s_a + ∂_a log φ] = ∂_a log ∫ q φ db
			s, err := fitted.Score(t.Context(), f, table(f.Names, []float64{nan, 0.2}, []float64{a, nan}), fitted.ImputeConfig{Draws: draws, Seed: 2})
			require.NoError(t, err)
			slope := func(b float64) float64 { return -a + 0.4*b }
			if name == "regressed" {
				slope = func(b float64) float64 { return -a + 0.4*b - 0.8*(1-c.hidden(b)) }
			}
			want := moment(slope) / total
			require.InDelta(t, want, s.Score[2], 4.5*s.Error[2])
			require.Less(t, s.Error[2], 0.05)
		})
	}
}
