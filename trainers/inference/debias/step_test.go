package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/internal/testtables"
)

// likeliest is maximum likelihood's normal distribution of a table.
func likeliest(t *testing.T, table *data.Table) *normal {
	t.Helper()
	m := model.NewGaussian(table.D, model.Natural)
	e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}, engine.Config{Method: "em-exact", Batch: 100})
	require.NoError(t, err)
	var s em.State
	for s.Count == 0 || s.Relative > 1e-10 {
		require.NoError(t, em.Turns{Engine: e, Model: m, Rows: e.AllRows()}.Turn(t.Context(), &s, em.Unpenalised))
		require.Less(t, s.Count, 2000)
	}
	n, err := newNormal(m.Mean(), m.Precision())
	require.NoError(t, err)
	return n
}

// From R 4.2.2 and lavaan 0.6-14, a saturated normal model of four columns of airquality:
// lavaan(…, missing = "fiml", information = "observed", observed.information = "hessian",
// rel.tol = 1e-14), estimator "ML" (observed information) and "MLR" (sandwich), and by them
// the delta method for partial correlations with central differences, pairs (Ozone, Solar.R),
// (Ozone, Wind), (Ozone, Temp), (Solar.R, Wind), (Solar.R, Temp), (Wind, Temp); and the
// standard errors of the means.
var lavaan = struct{ partial, se, robust, means, robustMeans []float64 }{
	[]float64{0.2431854720, -0.4200681681, 0.5377976105, 0.1780861066, 0.1045273532, -0.1274071593},
	[]float64{0.08861067843, 0.07688668520, 0.06621125257, 0.08320553509, 0.08725887049, 0.08407412255},
	[]float64{0.06708836750, 0.07322102839, 0.07871566723, 0.08823108464, 0.09220882755, 0.08403467779},
	[]float64{2.7824979277, 7.4283724493, 0.2838854761, 0.7627168806},
	[]float64{2.7477898846, 7.4963547754, 0.2838854728, 0.7627168697},
}

// At the maximum of the likelihood the observed Hessian is R's observed information, and the
// rows' spread its sandwich; the step is none.
func TestStandardErrorsAgainstLavaan(t *testing.T) {
	table, err := data.ReadCSV("../../../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	require.NoError(t, err)
	z, scale := data.Standardise(table)
	n := likeliest(t, z)
	m, err := likelihood(z, n, true, true, 1)
	require.NoError(t, err)
	m.hessian = m.observed
	h, step, err := m.solve(1)
	require.NoError(t, err)
	require.InDeltaSlice(t, make([]float64, len(step)), step, 1e-8)
	for _, c := range []struct {
		rows      bool
		se, means []float64
	}{{false, lavaan.se, lavaan.means}, {true, lavaan.robust, lavaan.robustMeans}} {
		e := &Estimate{Precision: n.p}
		require.NoError(t, e.partial(m, h, c.rows))
		require.InDeltaSlice(t, lavaan.partial, e.Partial, 1e-6)
		require.InDeltaSlice(t, c.se, e.SE, 2e-6)
		for j, want := range c.means {
			v, err := m.variances(h, []contrast{{at: [3]int{j, j, j}, w: [3]float64{1, 0, 0}}}, c.rows)
			require.NoError(t, err)
			require.InDelta(t, want, scale.Deviation[j]*math.Sqrt(v[0]), 2e-4*want)
		}
	}
	e, err := Step(Problem{Table: z, Mean: n.mu, Precision: n.p, Robust: true, Own: true, Workers: 2})
	require.NoError(t, err)
	require.Equal(t, 1., e.Own)
	require.InDeltaSlice(t, lavaan.robust, e.SE, 2e-6)
	require.InDeltaSlice(t, lavaan.partial, e.Partial, 1e-6)
}

// Without gaps the variance of a partial correlation is (1 − ρ²)²/n, whatever the other
// columns are, by likelihood and, at its maximum, by score matching, which has the same root.
func TestWithoutGaps(t *testing.T) {
	_, table := testtables.Star(t, 6, 200, 0)
	n := likeliest(t, table)
	for _, q := range []Equation{Likelihood, Marginal} {
		e, err := Step(Problem{Table: table, Mean: n.mu, Precision: n.p, Equation: q})
		require.NoError(t, err)
		for i, rho := range e.Partial {
			require.InDelta(t, (1-rho*rho)/math.Sqrt(200), e.SE[i], 1e-9)
		}
	}
	// One step of the marginal loss by its expected Hessian is Newton's on a quadratic loss
	// where P is its minimum: from elsewhere it comes near.
	e, err := Step(Problem{Table: table, Mean: n.mu, Precision: shrunk(n.p, 0.9)})
	require.NoError(t, err)
	require.InDeltaSlice(t, partials(n.p), e.Partial, 0.02)
}

// shrunk is p with its off-diagonal entries times a share.
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

func partials(p *mat.SymDense) (out []float64) {
	for j := range p.SymmetricDim() {
		for k := j + 1; k < p.SymmetricDim(); k++ {
			out = append(out, -p.At(j, k)/math.Sqrt(p.At(j, j)*p.At(k, k)))
		}
	}
	return out
}

// A step of the likelihood gives partial correlations and errors that do not change with the units of the columns.
func TestUnitsDoNotMatter(t *testing.T) {
	table, n := someRows(t), someNormal(t)
	scale := data.Scale{Mean: []float64{1, -2, 0, 3}, Deviation: []float64{10, 0.1, 3, 1}}
	for _, own := range []bool{false, true} {
		before, err := Step(Problem{Table: table, Mean: n.mu, Precision: n.p, Robust: own, Own: own})
		require.NoError(t, err)
		after, err := Step(Problem{Table: scale.Restore(table), Mean: scale.Location(n.mu), Precision: scale.Precision(n.p), Robust: own, Own: own})
		require.NoError(t, err)
		require.InDeltaSlice(t, before.Partial, after.Partial, 1e-9)
		require.InDeltaSlice(t, before.SE, after.SE, 1e-9)
	}
}

// On a domain a step is to the minimum: the gradient is zero there, from wherever it was made.
// Where the bounds are far away all rows weigh the same, and it is ordinary score matching's.
func TestStepOnADomain(t *testing.T) {
	g, table := testtables.Star(t, 4, 300, 0)
	s, err := g.TruncateBelow(2, 0.2)
	require.NoError(t, err)
	inside, err := g.SampleInside(s, 300, stream.New(3, stream.Simulate))
	require.NoError(t, err)
	p := Problem{Table: inside, Mean: g.Mean, Precision: g.Precision, Equation: Truncated, Robust: true, Domain: s}
	e, err := Step(p)
	require.NoError(t, err)
	var eta mat.VecDense
	eta.MulVec(e.Precision, mat.NewVecDense(4, e.Mean))
	m := truncated(inside, eta.RawVector().Data, e.Precision, s, p.Weight, true, 1)
	require.InDeltaSlice(t, make([]float64, len(m.gradient)), m.gradient, 1e-9)
	p.Mean, p.Precision = make([]float64, 4), mat.NewDiagDense(4, []float64{1, 1, 1, 1})
	again, err := Step(p)
	require.NoError(t, err)
	require.InDeltaSlice(t, e.Partial, again.Partial, 1e-9)
	require.InDeltaSlice(t, e.SE, again.SE, 1e-9)

	s.Lower = []float64{-1e6, math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	far, err := Step(Problem{Table: table, Mean: g.Mean, Precision: g.Precision, Equation: Truncated, Robust: true, Domain: s})
	require.NoError(t, err)
	n := likeliest(t, table)
	require.InDeltaSlice(t, partials(n.p), far.Partial, 1e-9)
	rows, err := Step(Problem{Table: table, Mean: n.mu, Precision: n.p, Equation: Marginal, Robust: true})
	require.NoError(t, err)
	for i, want := range rows.SE { // but for the correction and the mean, held by neither
		require.InDelta(t, want*math.Sqrt(300./(300-5)), far.SE[i], 1e-9)
	}
}

// The rows' own Hessian is used as far as a tenth of the expected information is left in every
// direction, by gonum's eigenvalues, and no further.
func TestOwnHessianIsBlended(t *testing.T) {
	const d = 6
	g, err := simulate.Star(d, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	least := func(m *moments, expected *mat.SymDense, share float64) float64 {
		var c mat.Cholesky
		require.True(t, c.Factorize(expected))
		var l mat.TriDense
		c.LTo(&l)
		var half, whole mat.Dense
		h := mat.NewDense(expected.SymmetricDim(), expected.SymmetricDim(), nil)
		h.Apply(func(i, j int, _ float64) float64 { return share*m.observed.At(i, j) + (1-share)*expected.At(i, j) }, h)
		require.NoError(t, half.Solve(&l, h))
		require.NoError(t, whole.Solve(&l, half.T()))
		var e mat.EigenSym
		require.True(t, e.Factorize(symmetric(&whole), false))
		return e.Values(nil)[0]
	}
	seen := map[float64]bool{}
	for rows := 20; rows < 300; rows += 20 {
		table, err := g.Sample(rows, stream.New(uint64(rows), stream.Simulate))
		require.NoError(t, err)
		hide(table, false, uint64(rows))
		for i, observed := range table.Observed {
			if !observed {
				table.Values[i] = math.NaN() // nothing may read it
			}
		}
		n, err := newNormal(make([]float64, d), g.Precision)
		require.NoError(t, err)
		m, err := likelihood(table, n, false, true, 1)
		require.NoError(t, err)
		expected := m.hessian
		share, err := m.blend(1)
		require.NoError(t, err)
		seen[share] = true
		require.GreaterOrEqual(t, least(m, expected, share), ownFloor-1e-9)
		if share < 1 {
			require.Less(t, least(m, expected, share+0.25), ownFloor+1e-9)
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
	require.ErrorIs(t, err, ErrSingular) // never together, nothing to tell one from the other
	_, err = Step(Problem{Table: table, Mean: make([]float64, 2), Precision: mat.NewSymDense(2, []float64{1, 2, 2, 1})})
	require.ErrorIs(t, err, losses.ErrNotPositiveDefinite)
	_, err = Step(Problem{Table: table, Mean: make([]float64, 2), Precision: mat.NewDiagDense(2, []float64{1, 1}), Equation: Truncated})
	require.ErrorIs(t, err, ErrSingular)
}

// The factor against gonum's, in several blocks, for matrices and for one number of workers
// and another.
func TestFactor(t *testing.T) {
	const n = 2*blockWidth + 17
	rng := stream.New(4, stream.Simulate)
	a := mat.NewDense(n, n, nil)
	a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
	h := mat.NewSymDense(n, nil)
	h.SymOuterK(1, a)
	for i := range n {
		h.SetSym(i, i, h.At(i, i)+1)
	}
	var c mat.Cholesky
	require.True(t, c.Factorize(h))
	var want mat.SymDense
	require.NoError(t, c.InverseTo(&want))
	var solved [][]float64
	for _, workers := range []int{1, 3} {
		f, err := factorise(h, workers)
		require.NoError(t, err)
		unit := make([]float64, n)
		unit[100] = 1
		x, err := f.solve(unit)
		require.NoError(t, err)
		require.InDeltaSlice(t, mat.Col(nil, 100, &want), x, 1e-10)
		solved = append(solved, x)
		m := &moments{d: 0, n: 1, total: 1, squares: 1, gradient: unit, variance: h}
		one := []contrast{{at: [3]int{100, 101, 205}, w: [3]float64{1, 2, -1}}}
		at := mat.NewVecDense(n, nil)
		at.SetVec(100, 1)
		at.SetVec(101, 2)
		at.SetVec(205, -1)
		v, err := m.variances(f, one, false)
		require.NoError(t, err)
		require.InDelta(t, mat.Inner(at, &want, at), v[0], 1e-9)
		m.variance = nil
		v, err = m.variances(f, one, false)
		require.NoError(t, err)
		require.InDelta(t, mat.Inner(at, &want, at), v[0], 1e-9)
	}
	require.Equal(t, solved[0], solved[1])
	h.SetSym(150, 150, -1)
	_, err := factorise(h, 2)
	require.ErrorIs(t, err, ErrSingular)
}

// Conjugate gradients come to what the factorisation comes to; errors by draws to its errors,
// within five standard errors, √(1/400) of them each.
func TestLargeStep(t *testing.T) {
	g, err := simulate.Star(7, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err := g.Sample(150, stream.New(2, stream.Simulate))
	require.NoError(t, err)
	hide(table, false, 3)
	for j := range 7 {
		table.Observed[5*7+j] = false // a row without values
	}
	for _, robust := range []bool{false, true} {
		p := Problem{Table: table, Mean: []float64{0.1, -0.2, 0, 0.3, 0.1, 0, -0.1}, Precision: shrunk(g.Precision, 0.9), Robust: robust, Workers: 1, Seed: 7}
		want, err := Step(p)
		require.NoError(t, err)
		got, err := p.largeStep()
		require.NoError(t, err)
		require.InDeltaSlice(t, want.Partial, got.Partial, 1e-5)
		require.InDeltaSlice(t, want.Mean, got.Mean, 1e-9)
		sum := 0.0
		for i, se := range want.SE {
			require.InDelta(t, 1, got.SE[i]/se, 5/math.Sqrt(2*errorDraws))
			sum += got.SE[i] / se / float64(len(want.SE))
		}
		require.InDelta(t, 1, sum, 3/math.Sqrt(2*errorDraws))
		p.Workers = 3
		again, err := p.largeStep()
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	require.NoError(t, Problem{Table: table}.largeRoom())
}

// More columns than a factorisation is for; without gaps the errors are near (1 − ρ²)/√n.
func TestStepOfManyColumns(t *testing.T) {
	const d, n = DirectColumns + 1, 1000
	g := simulate.Gaussian{Mean: make([]float64, d), Precision: mat.NewSymDense(d, nil)}
	for j := range d {
		g.Precision.SetSym(j, j, 1)
	}
	table, err := g.Sample(n, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	p := Problem{Table: table, Mean: g.Mean, Precision: g.Precision, Workers: 2}
	e, err := Step(p)
	require.NoError(t, err)
	ratio := 0.0
	for _, se := range e.SE {
		ratio += se * math.Sqrt(n) / float64(len(e.SE))
	}
	require.InDelta(t, 1, ratio, 0.05)
	p.Equation = Marginal
	_, err = Step(p)
	require.ErrorIs(t, err, ErrTooManyColumns)
}

// Errors by the rows are of gradients less their mean.
func TestRowsAreCentred(t *testing.T) {
	table, n := someRows(t), someNormal(t)
	m := momentsOf(t, table, n, Likelihood)
	h, _, err := m.solve(1)
	require.NoError(t, err)
	var e Estimate
	e.Precision = n.p
	contrasts := e.contrasts()
	before, err := m.variances(h, contrasts, true)
	require.NoError(t, err)
	for i := range m.n {
		row := m.rows.RawRowView(i)
		for j := range row {
			row[j] += 3
		}
	}
	after, err := m.variances(h, contrasts, true)
	require.NoError(t, err)
	require.InDeltaSlice(t, before, after, 1e-9)
}

// With all signs positive the rows' gradients less their mean come to nothing.
func TestSignsOfRows(t *testing.T) {
	table, n := someRows(t), someNormal(t)
	o, err := newOperator(table, n)
	require.NoError(t, err)
	multiply, err := graph.NewProduct()
	require.NoError(t, err)
	z := make([]float64, o.rows*4)
	for a, i := range o.tableRows {
		for j := range 4 {
			z[a*4+j] = table.Values[i*4+j] - n.mu[j]
		}
	}
	delta := o.completed(multiply, z)
	gradient := o.gradient(multiply, delta)
	signs := make([]float64, o.rows)
	for i := range signs {
		signs[i] = 1
	}
	require.InDeltaSlice(t, make([]float64, 16), o.signed(multiply, delta, gradient, signs), 1e-12)
	m := momentsOf(t, table, n, Likelihood)
	for j := range 4 { // the mean gradient by cells is that by packed coordinates
		require.InDelta(t, m.gradient[4+graph.PackedIndex(4, j, j)], gradient[j*4+j], 1e-12)
	}
}

// Rows that are not kept, but whose products are summed, and patterns in parts, come to what rows
// that are kept and whole patterns do: by every equation, with sampling weights and without.
func TestManyRowsComeToTheSame(t *testing.T) {
	kept, part := keptGradients, patternRows
	t.Cleanup(func() { keptGradients, patternRows = kept, part })
	g, table := testtables.Star(t, 4, 1500, 0.2)
	_, complete := testtables.Star(t, 4, 1500, 0)
	weighted := *table
	for i := range table.N {
		weighted.Weights = append(weighted.Weights, 0.5+float64(i%3)/2)
	}
	half, err := domain.Parse([]byte(`{"lower":{"x1":-1}}`), complete.Names)
	require.NoError(t, err)
	var inside []int
	for i := range complete.N {
		if complete.Values[i*4] > -1 {
			inside = append(inside, i)
		}
	}
	positive, err := complete.Rows(inside)
	require.NoError(t, err)
	for name, p := range map[string]Problem{
		"likelihood": {Table: table, Own: true},
		"weighted":   {Table: &weighted},
		"marginal":   {Table: table, Equation: Marginal},
		"truncated":  {Table: positive, Equation: Truncated, Domain: half, Weight: domain.Weight{Cap: 1}},
	} {
		p.Mean, p.Precision, p.Robust = []float64{0.1, 0, -0.1, 0.2}, shrunk(g.Precision, 0.9), true
		keptGradients, patternRows = 1<<40, 1<<40
		want, err := Step(p)
		require.NoError(t, err, name)
		for _, p.Workers = range []int{1, 3} {
			keptGradients, patternRows = 0, 100
			got, err := Step(p)
			require.NoError(t, err, name)
			require.InEpsilonSlice(t, want.SE, got.SE, 1e-9, name)
			require.InEpsilonSlice(t, want.Partial, got.Partial, 1e-9, name)
		}
	}
}

// A step of so many rows that they are not kept has the errors (1 − ρ²)/√n without gaps.
func TestStepOfManyRows(t *testing.T) {
	g, table := testtables.Star(t, 20, 20_000, 0)
	require.True(t, tooMany(table.N, parameters(table.D)))
	e, err := Step(Problem{Table: table, Mean: g.Mean, Precision: g.Precision, Robust: true, Workers: 2})
	require.NoError(t, err)
	ratio := 0.0
	for i, rho := range e.Partial {
		ratio += e.SE[i] * math.Sqrt(float64(table.N)) / (1 - rho*rho) / float64(len(e.SE))
	}
	require.InDelta(t, 1, ratio, 0.01)
}
