package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/gaussian/mcem"
)

func inside(t *testing.T, by mcem.Setting) *Estimate {
	t.Helper()
	e, err := StepInside(t.Context(), by, model.NewGaussian(by.Table.D, model.Natural))
	require.NoError(t, err)
	return e
}

// Distant bounds: ordinary score matching with the errors of the marginal loss.
func TestFarBoundsAreScoreMatching(t *testing.T) {
	const n, d = 300, 4
	g, table := testtables.Star(t, d, n, 0)
	s := domain.All(d)
	s.Lower[0] = -1e6
	e := inside(t, mcem.Setting{Table: table, Domain: s})
	likely := likeliest(t, table)
	require.InDeltaSlice(t, partials(likely.p), e.Partial, 1e-8)
	rows, err := Step(Problem{Table: table, Mean: likely.mu, Precision: likely.p, Equation: Marginal, Robust: true})
	require.NoError(t, err)
	for i, want := range rows.SE {
		require.InDelta(t, want*math.Sqrt(n/float64(n-d-1)), e.SE[i], 1e-8)
	}
	start := model.NewGaussian(d, model.Natural)
	require.NoError(t, start.SetPrecision(g.Precision))
	again, err := StepInside(t.Context(), mcem.Setting{Table: table, Domain: s}, start)
	require.NoError(t, err)
	require.InDeltaSlice(t, e.SE, again.SE, 1e-8)
}

func TestTruncatedNormalByQuadrature(t *testing.T) {
	const n, eta, p = 40000, 0.42, 1.4
	g := simulate.Gaussian{Mean: []float64{eta / p}, Precision: mat.NewSymDense(1, []float64{p})}
	s := domain.All(1)
	s.Lower[0] = 0
	table, err := g.SampleInside(s, n, stream.New(9, stream.Simulate))
	require.NoError(t, err)
	e := inside(t, mcem.Setting{Table: table, Domain: s})

	density := func(x float64) float64 { return math.Exp(eta*x - 0.5*p*x*x) }
	over := func(f func(x float64) float64) float64 { // g has a kink at 1
		h := func(x float64) float64 { return f(x) * density(x) }
		return quad.Fixed(h, 0, 1, 60, quad.Legendre{}, 0) + quad.Fixed(h, 1, 8, 80, quad.Legendre{}, 0)
	}
	mass := over(func(float64) float64 { return 1 })
	curvature, spread := mat.NewSymDense(2, nil), mat.NewSymDense(2, nil)
	for a := range 2 {
		for b := a; b < 2; b++ {
			z := func(a int, x float64) float64 { return []float64{1, -x}[a] }
			u := func(a int, x float64) float64 {
				weight, slope := min(1, x), 0.
				if x < 1 {
					slope = 1
				}
				v := (weight*(eta-p*x) + slope) * z(a, x)
				if a == 1 {
					v -= weight
				}
				return v
			}
			curvature.SetSym(a, b, over(func(x float64) float64 { return min(1, x) * z(a, x) * z(b, x) })/mass)
			spread.SetSym(a, b, over(func(x float64) float64 { return u(a, x) * u(b, x) })/mass)
		}
	}
	var inverse, half, cov mat.Dense
	require.NoError(t, inverse.Inverse(curvature))
	half.Mul(&inverse, spread)
	cov.Mul(&half, &inverse)
	require.InDelta(t, p, e.Precision.At(0, 0), 4*math.Sqrt(cov.At(1, 1)/n))
	for a := range 2 {
		for b := range 2 {
			// The variance of an estimated variance is about (κ − 1)/n of its square, κ = 10: four standard
			// errors are 0.06, and the curvature adds as much.
			require.InEpsilon(t, cov.At(a, b), n*e.Covariance.At(a, b), 0.12)
		}
	}
}
