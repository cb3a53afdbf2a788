package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
)

// inside is StepInside from the standard normal distribution.
func inside(t *testing.T, p Inside) *Estimate {
	t.Helper()
	p.Start = model.NewGaussian(p.Table.D, model.Natural)
	e, why, err := StepInside(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, why)
	return e
}

// Without missing cells the root is the minimum, for any start. With distant bounds all rows weigh
// the same, and it is ordinary score matching with the errors of the marginal loss, up to the
// correction.
func TestFarBoundsAreScoreMatching(t *testing.T) {
	const n, d = 300, 4
	g, table := testtables.Star(t, d, n, 0)
	s := domain.All(d)
	s.Lower[0] = -1e6
	e := inside(t, Inside{Table: table, Domain: s})
	require.True(t, e.Free)
	likely := likeliest(t, table)
	require.InDeltaSlice(t, partials(likely.p), e.Partial, 1e-8)
	rows, err := Step(Problem{Table: table, Mean: likely.mu, Precision: likely.p, Equation: Marginal, Robust: true})
	require.NoError(t, err)
	for i, want := range rows.SE {
		require.InDelta(t, want*math.Sqrt(n/float64(n-d-1)), e.SE[i], 1e-8)
	}
	start := model.NewGaussian(d, model.Natural)
	require.NoError(t, start.SetPrecision(g.Precision))
	again, why, err := StepInside(t.Context(), Inside{Table: table, Domain: s, Start: start})
	require.NoError(t, err)
	require.Empty(t, why)
	require.InDeltaSlice(t, e.SE, again.SE, 1e-8)
}

// One column above a bound: the variances of η and P are those by quadrature.
func TestTruncatedNormalByQuadrature(t *testing.T) {
	const n, eta, p = 40000, 0.42, 1.4
	g := simulate.Gaussian{Mean: []float64{eta / p}, Precision: mat.NewSymDense(1, []float64{p})}
	s := domain.All(1)
	s.Lower[0] = 0
	table, err := g.SampleInside(s, n, stream.New(9, stream.Simulate))
	require.NoError(t, err)
	e := inside(t, Inside{Table: table, Domain: s})

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
			// The variance of an estimated variance is about (κ − 1)/n of its square; with κ of 10 four
			// standard errors are 0.06, and the curvature adds as much.
			require.InEpsilon(t, cov.At(a, b), n*e.Covariance.At(a, b), 0.12)
		}
	}
}

// A box with two-sided bounds, the third column missing by what the second is.
func box() (simulate.Gaussian, *domain.Domain, missingness.Mechanism) {
	g := simulate.Gaussian{Mean: make([]float64, 3), Precision: mat.NewSymDense(3, []float64{1, 0.4, 0, 0.4, 1, -0.4, 0, -0.4, 1})}
	s := domain.All(3)
	s.Lower[0], s.Lower[2], s.Upper[2] = -0.8, -1, 1.3
	l := missingness.NewLogistic(3)
	l.Intercept[0], l.Intercept[1], l.Intercept[2] = 1, 40, 0.7
	l.Slope.Set(2, 1, 1.5)
	return g, s, l
}

func boxed(t *testing.T, n int, seed uint64) (*data.Table, *domain.Domain) {
	t.Helper()
	g, s, l := box()
	rng := stream.New(seed, stream.Simulate)
	table, err := g.SampleInside(s, n, rng)
	require.NoError(t, err)
	table, err = missingness.Hide(table, l, rng)
	require.NoError(t, err)
	return table, s
}

// Under MAR estimates differ from the truth as their standard errors say.
func TestErrorsUnderMAR(t *testing.T) {
	slowtest.Skip(t, "4 s")
	const tables, n = 40, 400
	g, _, _ := box()
	var squares []float64
	for k := range uint64(tables) {
		table, s := boxed(t, n, k)
		e := inside(t, Inside{Table: table, Domain: s, Seed: k})
		for i, c := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
			z := (e.Partial[i] + g.Precision.At(c[0], c[1])) / e.SE[i]
			squares = append(squares, z*z)
		}
	}
	// z² has mean 1 and deviation 1.4: with the three of a table dependent 4 standard errors are
	// at most 4 × 1.4/√60.
	require.InDelta(t, 1, stat.Mean(squares, nil), 4*math.Sqrt(2./tables))
	require.Greater(t, stat.Mean(squares, nil), 0.6)
}

func TestNoEstimate(t *testing.T) {
	table, s := boxed(t, 4, 1)
	_, why, err := StepInside(t.Context(), Inside{Table: table, Domain: s, Start: model.NewGaussian(3, model.Natural)})
	require.NoError(t, err)
	require.Contains(t, why, "no more rows than columns")
}
