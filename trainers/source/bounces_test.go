package source

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data/domain"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
)

// strip is the box [−3, 6]² cut by x₁ − x₂ ≥ cut, of gaps 1 and 2 beside an observed column.
func strip(cut float64) *domain.Domain {
	s := domain.All(3)
	for _, j := range []int{1, 2} {
		s.Lower[j], s.Upper[j] = -3, 6
	}
	s.Half = []domain.HalfSpace{{A: []float64{0, -1, 1}, B: -cut}}
	return s
}

// correlated is the precision of columns 1 and 2 with unit variances and a correlation,
// beside a column without part in it.
func correlated(rho float64) *mat.SymDense {
	q := 1 / (1 - rho*rho)
	return mat.NewSymDense(3, []float64{1, 0, 0, 0, q, -rho * q, 0, -rho * q, q})
}

// inStrip are mass, mean of (x₁+x₂)/2, of its square, and of x₁−x₂ under that normal on the
// strip, by Gauss–Legendre nodes in both directions: u = x₁+x₂ and w = x₁−x₂ are
// independent, and the box leaves u from w − 6 to 12 − w.
func inStrip(rho, cut float64) (mass float64, means [3]float64) {
	sum, difference := distuv.Normal{Sigma: math.Sqrt(2 + 2*rho)}, distuv.Normal{Sigma: math.Sqrt(2 - 2*rho)}
	const n = 400
	u, uw, w, ww := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(w, ww, cut, cut+6*difference.Sigma)
	for i, t := range w {
		quad.Legendre{}.FixedLocations(u, uw, t-6, 12-t)
		for k, s := range u {
			p := sum.Prob(s) * difference.Prob(t) * uw[k] * ww[i]
			mass += p
			for a, f := range [3]float64{s / 2, s * s / 4, t} {
				means[a] += p * f
			}
		}
	}
	for a := range means {
		means[a] /= mass
	}
	return mass, means
}

// Draws of two correlated gaps in a narrow strip have the moments of the normal there,
// whether rejection finds the strip or chains draw from it. Gibbs steps along the
// coordinates, which were here before, were off by 0.09 to 1.03 in the mean.
func TestNarrowStrips(t *testing.T) {
	const draws = 5000
	correlations := []float64{0.95}
	if slowtest.Set() {
		correlations = []float64{0.8, 0.9, 0.95}
	}
	for _, rho := range correlations {
		for _, share := range []float64{0.1, 0.02, 1e-4} {
			for _, chains := range []bool{false, true} {
				t.Run(fmt.Sprintf("correlation %v, share %v, chains %v", rho, share, chains), func(t *testing.T) {
					cut := distuv.Normal{Sigma: math.Sqrt(2 - 2*rho)}.Quantile(1 - share)
					mass, want := inStrip(rho, cut)
					require.InEpsilon(t, share, mass, 0.1)
					c := Conditional{Mean: make([]float64, 3), Precision: correlated(rho), Domain: strip(cut)}
					require.NoError(t, c.Condition([]float64{1, 0, 0}))
					rng := new(stream.Stream).At(1, 2)
					var values [3][]float64
					for range draws {
						row := []float64{0.3, 0, 0}
						c.Given(row)
						if chains {
							c.prepareChain()
						}
						_, err := c.Draw(row, rng)
						require.NoError(t, err)
						require.True(t, c.section.Contains(row, c.mask))
						s, d := row[1]+row[2], row[1]-row[2]
						for a, f := range [3]float64{s / 2, s * s / 4, d} {
							values[a] = append(values[a], f)
						}
					}
					for a, x := range values {
						mean, sd := stat.MeanStdDev(x, nil)
						t.Logf("moment %d: %.4f, truth %.4f, z %.2f", a, mean, want[a], (mean-want[a])/(sd/math.Sqrt(draws)))
						require.InDelta(t, want[a], mean, 3.5*sd/math.Sqrt(draws), "moment %d", a)
					}
				})
			}
		}
	}
}
