package debias

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers/inference"
)

// Of complete rows the standard error of z is Fisher's 1/√(n − k − 3), k columns held constant
// (Fisher 1924), if all of them are neighbours; without an edge k is 0.
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

// Of 95 % intervals of 15 complete rows 95 % cover, within four standard errors; without the
// factor 0.90 do.
func TestFewRowsCover(t *testing.T) {
	const tables, d, n, rho = 4000, 4, 15, 0.4
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1)
	}
	p.SetSym(0, 1, -rho)
	all := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			all.SetSym(j, k, 1)
		}
	}
	g := simulate.Gaussian{Mean: make([]float64, d), Precision: p}
	covered, before := 0., 0.
	for seed := range uint64(tables) {
		table, err := g.Sample(n, stream.New(seed, stream.Simulate))
		require.NoError(t, err)
		var s, inverse mat.Dense
		var c mat.SymDense
		stat.CovarianceMatrix(&c, mat.NewDense(n, d, table.Values), nil)
		s.CloneFrom(&c)
		require.NoError(t, inverse.Inverse(&s))
		r := -inverse.At(0, 1) / math.Sqrt(inverse.At(0, 0)*inverse.At(1, 1))
		e := Estimate{Partial: make([]float64, 6), SE: make([]float64, 6)}
		e.Partial[0], e.SE[0] = r, (1-r*r)/math.Sqrt(n)
		cover := func() float64 {
			if u := inference.Normal(r, e.SE[0], 0.95, n); u.Low <= rho && rho <= u.High {
				return 1
			}
			return 0
		}
		before += cover() / tables
		require.Zero(t, e.forFewRows(all, false))
		covered += cover() / tables
	}
	se := math.Sqrt(0.95 * 0.05 / tables)
	require.InDelta(t, 0.95, covered, 4*se)
	require.Less(t, before, 0.95-4*se)
}

// What numbers rest on says nothing of missing cells where there are none.
func TestRestsOnNoGaps(t *testing.T) {
	require.Equal(t, "one Newton step from the penalised estimate, errors as normal rows have them; cells missing completely at random", rests(fromPenalised, false, false, false))
	require.Contains(t, rests(fromLikelihood, true, true, false), "errors by the rows; normal rows, cells missing at random")
	require.NotContains(t, rests(fromLikelihood, true, false, true), "missing")
	require.NotContains(t, rests(fromNetwork, false, false, true), "missing")
}
