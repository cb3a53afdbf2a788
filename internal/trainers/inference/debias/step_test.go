package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/losses"
)

func likeliest(t *testing.T, table *data.Table) *normal {
	t.Helper()
	m := model.NewGaussian(table.D, model.Natural)
	e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: "em-exact", Batch: 100})
	require.NoError(t, err)
	var s em.State
	for s.Count == 0 || s.Relative > 1e-10 {
		require.NoError(t, (&em.Turns{Engine: e, Model: m, Rows: e.Table.AllRows()}).Turn(t.Context(), &s, em.Unpenalised))
		require.Less(t, s.Count, 2000)
	}
	return newNormal(t, m.Mean(), m.Precision())
}

// R 4.2.2, lavaan 0.6-14, a saturated normal model of airquality: lavaan(…, missing = "fiml",
// information = "observed", observed.information = "hessian", rel.tol = 1e-14), "ML" and "MLR",
// with the delta method for partial correlations (Ozone, Solar.R), (Ozone, Wind), (Ozone, Temp),
// (Solar.R, Wind), (Solar.R, Temp), (Wind, Temp), and errors of the means.
var lavaan = struct{ partial, se, robust, means, robustMeans []float64 }{
	[]float64{0.2431854720, -0.4200681681, 0.5377976105, 0.1780861066, 0.1045273532, -0.1274071593},
	[]float64{0.08861067843, 0.07688668520, 0.06621125257, 0.08320553509, 0.08725887049, 0.08407412255},
	[]float64{0.06708836750, 0.07322102839, 0.07871566723, 0.08823108464, 0.09220882755, 0.08403467779},
	[]float64{2.7824979277, 7.4283724493, 0.2838854761, 0.7627168806},
	[]float64{2.7477898846, 7.4963547754, 0.2838854728, 0.7627168697},
}

func TestStandardErrorsAgainstLavaan(t *testing.T) {
	table, err := data.ReadCSV("../../../../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	require.NoError(t, err)
	z, scale := data.Standardise(table)
	n := likeliest(t, z)
	p := Problem{Table: z, Mean: n.mu, Precision: n.p, Robust: true, Own: true, Workers: 2}
	m, g := atProblem(t, p)
	h := m.hessian
	floats.Add(h, m.own)
	require.True(t, m.invert())
	var step mat.VecDense
	inverse := mat.NewSymDense(len(m.gradient), h)
	step.MulVec(inverse, mat.NewVecDense(len(m.gradient), m.gradient))
	require.InDelta(t, 0, mat.Norm(&step, math.Inf(1)), 1e-8)
	variancesOf := func(rows bool, c []contrast) []float64 {
		if rows {
			return p.rowVariances(g, h, c)
		}
		return variances(c, inverse, 1/m.effective)
	}
	for _, c := range []struct {
		rows      bool
		se, means []float64
	}{{false, lavaan.se, lavaan.means}, {true, lavaan.robust, lavaan.robustMeans}} {
		e := &Estimate{Precision: n.p}
		contrasts := e.contrasts()
		e.errors(contrasts, variancesOf(c.rows, contrasts))
		require.InDeltaSlice(t, lavaan.partial, e.Partial, 1e-6)
		require.InDeltaSlice(t, c.se, e.SE, 2e-6)
		for j, want := range c.means {
			v := variancesOf(c.rows, []contrast{{at: [3]int{j, j, j}, w: [3]float64{1, 0, 0}}})
			require.InDelta(t, want, scale.Deviation[j]*math.Sqrt(v[0]), 2e-4*want)
		}
	}
	e, err := Step(p)
	require.NoError(t, err)
	require.Equal(t, 1., e.Own)
	require.InDeltaSlice(t, lavaan.robust, e.SE, 2e-6)
	require.InDeltaSlice(t, lavaan.partial, e.Partial, 1e-6)
}

// The variance of a partial correlation is (1 − ρ²)²/n.
func TestWithoutGaps(t *testing.T) {
	_, table := testtables.Star(t, 6, 200, 0)
	n := likeliest(t, table)
	e, err := Step(Problem{Table: table, Mean: n.mu, Precision: n.p})
	require.NoError(t, err)
	for i, rho := range e.Partial {
		require.InDelta(t, (1-rho*rho)/math.Sqrt(200), e.SE[i], 1e-9)
	}
	both, err := Step(Problem{Table: table, Mean: n.mu, Precision: n.p, Robust: true})
	require.NoError(t, err)
	marginal, err := Step(Problem{Table: table, Mean: n.mu, Precision: n.p, Equation: Marginal, Robust: true})
	require.NoError(t, err)
	require.InDeltaSlice(t, both.SE, marginal.SE, 1e-9)
	// Newton's step on a quadratic loss.
	e, err = Step(Problem{Table: table, Mean: n.mu, Precision: shrunk(n.p, 0.9)})
	require.NoError(t, err)
	require.InDeltaSlice(t, partials(n.p), e.Partial, 0.02)
}

func hide(t *data.Table, seed uint64) {
	rng := stream.New(seed, stream.Hide)
	for i := range t.Observed {
		t.Observed[i] = rng.Float64() >= 0.3
	}
}

func shrunk(p *mat.SymDense, share float64) *mat.SymDense {
	q := mat.NewSymDense(p.SymmetricDim(), nil)
	q.CopySym(p)
	for j := range p.SymmetricDim() {
		for k := range j {
			q.SetSym(j, k, share*p.At(j, k))
		}
	}
	return q
}

// The observed Hessian is used while a tenth of the expected information is left.
func TestOwnHessianIsBlended(t *testing.T) {
	const d = 6
	g, err := simulate.Star(d, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	// Whether the expected Hessian plus the share of the own one exceeds floor times the expected.
	exceeds := func(expected, own *mat.SymDense, share, floor float64) bool {
		h := mat.NewSymDense(expected.SymmetricDim(), nil)
		for i := range h.SymmetricDim() {
			for j := range i + 1 {
				h.SetSym(i, j, (1-floor)*expected.At(i, j)+share*own.At(i, j))
			}
		}
		return new(mat.Cholesky).Factorize(h)
	}
	seen := map[float64]bool{}
	for rows := 20; rows < 300; rows += 20 {
		table, err := g.Sample(rows, stream.New(uint64(rows), stream.Simulate))
		require.NoError(t, err)
		hide(table, uint64(rows))
		for i, observed := range table.Observed {
			if !observed {
				table.Values[i] = math.NaN() // nothing may read it
			}
		}
		m, _ := atProblem(t, Problem{Table: table, Mean: make([]float64, d), Precision: g.Precision, Own: true})
		expected, own := whole(m, m.hessian), whole(m, m.own)
		share := m.blend()
		seen[share] = true
		require.True(t, exceeds(expected, own, share, ownFloor-1e-9))
		if share < 1 {
			require.False(t, exceeds(expected, own, share+0.25, ownFloor+1e-9))
		}
		e, err := Step(Problem{Table: table, Mean: make([]float64, d), Precision: g.Precision, Robust: true, Own: true})
		require.NoError(t, err)
		require.Equal(t, share, e.Own)
	}
	require.Greater(t, len(seen), 2)
}

func TestSingular(t *testing.T) {
	table := &data.Table{Names: names[:2], N: 3, D: 2, Values: []float64{1, 0, 2, 0, 0, 1}, Observed: []bool{true, false, true, false, false, true}}
	_, err := Step(Problem{Table: table, Mean: make([]float64, 2), Precision: mat.NewDiagDense(2, []float64{1, 1})})
	require.ErrorIs(t, err, errSingular) // never observed together
	_, err = Step(Problem{Table: table, Mean: make([]float64, 2), Precision: mat.NewSymDense(2, []float64{1, 2, 2, 1})})
	require.ErrorIs(t, err, losses.ErrNotPositiveDefinite)
	_, err = Step(Problem{Table: &data.Table{D: DirectColumns + 1}, Equation: Marginal})
	require.ErrorIs(t, err, errTooManyColumns)
}

func whole(m *moments, lower []float64) *mat.SymDense {
	size := len(m.gradient)
	h := mat.NewSymDense(size, nil)
	for i := range size {
		for j := range i + 1 {
			h.SetSym(i, j, lower[i*size+j])
		}
	}
	return h
}

// Several blocks of rows and of parameters give the sandwich of all rows at once, also with sampling
// weights w_i, of effective size (Σ w)²/Σ w².
func TestBlocks(t *testing.T) {
	const d, n = 24, 2*blockRows + 16
	g, table := testtables.Star(t, d, n, 0.3)
	for range 2 {
		var made []*Estimate
		for _, workers := range []int{1, 3} {
			p := Problem{Table: table, Mean: make([]float64, d), Precision: g.Precision, Robust: true, Workers: workers}
			m, gradients := atProblem(t, p)
			require.Greater(t, len(m.gradient), blockRows)
			var rows []float64
			sum, squares := 0.0, 0.0
			multiply, err := graph.NewProduct()
			require.NoError(t, err)
			gradients.each(multiply, 0, n, func(i int, g []float64) {
				w := gradients.weight[i]
				sum, squares = sum+w, squares+w*w
				rows = append(rows, floats.ScaleTo(make([]float64, len(g)), w, g)...)
			})
			require.InEpsilon(t, sum*sum/squares, m.effective, 1e-12)
			var inverse, steps mat.Dense
			require.NoError(t, inverse.Inverse(whole(m, m.hessian)))
			steps.Mul(mat.NewDense(n, len(m.gradient), rows), &inverse)
			var v mat.SymDense
			stat.CovarianceMatrix(&v, &steps, nil)
			e, err := Step(p)
			require.NoError(t, err)
			want := variances((&Estimate{Precision: e.Precision}).contrasts(), &v, float64(n-1)/n/n)
			for i, se := range e.SE {
				require.InDelta(t, math.Sqrt(want[i]), se, 1e-10)
			}
			made = append(made, e)
		}
		require.Equal(t, made[0], made[1])
		for i := range n {
			table.Weights = append(table.Weights, 0.5+float64(i%3)/2)
		}
	}
}

// Standard errors by draws agree within five of their relative standard errors √(1/400).
func TestLargeStep(t *testing.T) {
	g, err := simulate.Star(7, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err := g.Sample(150, stream.New(2, stream.Simulate))
	require.NoError(t, err)
	hide(table, 3)
	for j := range 7 {
		table.Observed[5*7+j] = false // a row without values
	}
	for k, robust := range []bool{false, true, false, true} {
		if k == 2 {
			for i := range table.N {
				table.Weights = append(table.Weights, 0.5+float64(i%3)/2)
			}
		}
		p := Problem{Table: table, Mean: []float64{0.1, -0.2, 0, 0.3, 0.1, 0, -0.1}, Precision: shrunk(g.Precision, 0.9), Robust: robust, Workers: 1, Seed: 7}
		want, err := Step(p)
		require.NoError(t, err)
		large := func(p Problem) *Estimate {
			o, multiply := rowsOf(t, p.Table, p.Mean, p.Precision)
			e, err := p.largeStep(multiply, o)
			require.NoError(t, err)
			e.tails = want.tails
			return e
		}
		got := large(p)
		require.InDeltaSlice(t, want.Partial, got.Partial, 1e-5)
		sum := 0.0
		for i, se := range want.SE {
			require.InDelta(t, 1, got.SE[i]/se, 5/math.Sqrt(2*errorDraws))
			sum += got.SE[i] / se / float64(len(want.SE))
		}
		require.InDelta(t, 1, sum, 3/math.Sqrt(2*errorDraws))
		p.Workers = 3
		require.Equal(t, got, large(p))
	}
}
