// Package modeltest tests implementations of model.Model. A new model's test is one line:
//
//	func TestMyModel(t *testing.T) { modeltest.Run(t, func(d int) model.Model { return NewMyModel(d) }) }
package modeltest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// Run checks a model at random parameters and points inside its support, for several sizes: parts
// and θ-gradients against differences, parameter names, reproducible runs, independent rows, and
// its optional interfaces. Missing parts are not checked.
func Run(t *testing.T, make func(d int) model.Model) {
	for _, d := range []int{1, 2, 5} {
		c := newCase(t, make(d), d)
		c.derivatives(t)
		c.constantHessian(t)
		c.program(t)
		statements(t, c)
	}
}

const n = 4 // points

type testCase struct {
	model model.Model
	at    model.Model // the model with fixed masks if it is a MaskConditional
	has   model.Capabilities
	d     int
	x     []float64 // (n, d)
	rng   *rand.Rand
}

func newCase(t *testing.T, m model.Model, d int) testCase {
	t.Helper()
	require.Equal(t, d, m.Dim(), "Dim")
	c := testCase{model: m, at: m, d: d, rng: stream.New(1, uint64(d))}
	names := map[string]bool{}
	for _, p := range m.Params() {
		require.False(t, names[p.Name], "two parameters are called %q", p.Name)
		names[p.Name] = true
		for i := range p.Value {
			p.Value[i] += 0.3 * (c.rng.Float64() - 0.5)
		}
	}
	var err error
	c.has, err = model.CapabilitiesOf(m)
	require.NoError(t, err)
	if p, ok := m.(model.MaskConditional); ok {
		mask := slices.Repeat([]float64{1}, d)
		mask[d-1] = 0
		c.at = model.Observing(p, mask)
	}
	require.NoError(t, c.has.Support.Check(slices.Repeat([]string{"a column"}, d)), "the support")
	c.x = c.points(t)
	return c
}

// points are N(0, 1), shrunk towards an interior point into the support.
func (c testCase) points(t *testing.T) []float64 {
	x := c.normals(n * c.d)
	if !c.has.Support.Bounded() {
		return x
	}
	none := make([]float64, c.d)
	inner, ok := c.has.Support.Interior(none, none)
	require.True(t, ok, "the model's support has no interior")
	closer := func(row []float64) {
		for j := range row {
			row[j] = inner[j] + 0.7*(row[j]-inner[j])
		}
	}
	for row := range slices.Chunk(x, c.d) {
		for !c.has.Support.Contains(row) {
			closer(row)
		}
		closer(row) // off the boundary
	}
	return x
}

func (c testCase) normals(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = c.rng.NormFloat64()
	}
	return x
}

const tolerance = 1e-7 // of differences

func (c testCase) derivatives(t *testing.T) {
	score, diagonal, err := gradcheck.Model(c.at, c.x, gradcheck.Step)
	require.NoError(t, err)
	require.Less(t, score.Error, tolerance, "score is not the gradient of the log density: %+v", score)
	require.Less(t, diagonal.Error, tolerance, "diagonal is not the derivative of the score: %+v", diagonal)
	if c.has.HessianProduct {
		product, err := gradcheck.HessianProduct(c.at, c.x, c.normals(n*c.d), gradcheck.Step)
		require.NoError(t, err)
		require.Less(t, product.Error, tolerance, "H v is not the derivative of the score along v: %+v", product)
	}
}

func (c testCase) constantHessian(t *testing.T) {
	if !c.has.ConstantHessian {
		return
	}
	require.True(t, c.has.HessianProduct, "the Hessian is declared constant, but there is no Hessian product")
	p, err := graph.Build(func(b *graph.Builder) {
		v := b.Constant(1, c.d, c.normals(c.d))
		b.Output("product", c.at.Evaluate(b, b.Input("x", n, c.d)).NeedHessianProduct(b)(v))
	})
	require.NoError(t, err)
	require.NoError(t, p.Run())
	before := slices.Clone(p.Output("product"))
	copy(p.Input("x"), c.x)
	require.NoError(t, p.Run())
	require.Equal(t, before, p.Output("product"), "the Hessian is declared constant, but changes with x")
}

func (c testCase) program(t *testing.T) {
	u, v := c.normals(n*c.d), c.normals(n*c.d)
	first := "score"
	p, err := graph.Build(func(b *graph.Builder) {
		terms := model.Evaluate(b, c.at, b.Input("x", n, c.d))
		u, v := b.Input("u", n, c.d), b.Input("v", n, c.d)
		sum := b.Sum(b.Prod(u, b.Map(graph.Square, terms.NeedScore(b))))
		b.Output("score", terms.Score)
		if c.has.Density {
			sum, first = b.Add(sum, b.Sum(terms.LogDensity)), "log density"
			b.Output(first, terms.LogDensity)
		}
		if c.has.Diagonal {
			sum = b.Add(sum, b.Sum(b.Prod(v, terms.Diagonal)))
		}
		if c.has.HessianProduct {
			sum = b.Add(sum, b.Sum(b.Prod(u, terms.HessianProduct(v))))
		}
		b.Minimise(sum, c.model.Params()...)
	})
	require.NoError(t, err)
	copy(p.Input("x"), c.x)
	copy(p.Input("u"), u)
	copy(p.Input("v"), v)
	diff, err := gradcheck.Params(p, c.model.Params(), gradcheck.Step, func() (float64, error) { err := p.Run(); return p.Loss(), err })
	require.NoError(t, err)
	require.Less(t, diff.Error, tolerance, "gradient by the parameters: %+v", diff)

	require.NoError(t, p.Run())
	loss, one := p.Loss(), slices.Clone(p.Output(first))
	require.NoError(t, p.Run())
	require.Equal(t, loss, p.Loss(), "a second run differs")
	require.Equal(t, c.x, p.Input("x"), "the run changed its input")

	copy(p.Input("x")[c.d:], c.points(t)[c.d:])
	require.NoError(t, p.Run())
	require.InDelta(t, one[0], p.Output(first)[0], 1e-12, "row 0 depends on the other rows")
}

func (c testCase) score(t *testing.T, m model.Model, x []float64) []float64 {
	t.Helper()
	e, err := model.NewEvaluator(m, len(x)/c.d, false)
	require.NoError(t, err)
	_, score, err := e.At(x)
	require.NoError(t, err)
	return score
}
