// Package modeltest is what every model.Model has to pass. A new model's test is one line:
//
//	func TestMyModel(t *testing.T) { modeltest.Run(t, func(d int) model.Model { return NewMyModel(d) }) }
package modeltest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// Run checks a model at random parameters and points, for several sizes:
// score, diagonal and Hessian products against differences, θ-gradients of sums of
// all terms against differences, unique parameter names, inputs left unchanged,
// equal numbers from equal runs, a Hessian that is one if it says so, rows that do not
// influence each other.
func Run(t *testing.T, make func(d int) model.Model) {
	for _, d := range []int{1, 2, 5} {
		m := make(d)
		require.Equal(t, d, m.Dim())
		rng := stream.New(1, uint64(d))
		names := map[string]bool{}
		for _, p := range m.Params() {
			require.False(t, names[p.Name], "two parameters are called %q", p.Name)
			names[p.Name] = true
			for i := range p.Value {
				p.Value[i] += 0.3 * (rng.Float64() - 0.5)
			}
		}
		n := 4
		x := random(n*d, rng.NormFloat64)

		score, diagonal, err := gradcheck.Model(m, x, gradcheck.Step)
		require.NoError(t, err)
		require.Less(t, score.Error, 1e-7, "score is not the gradient of the log density: %+v", score)
		require.Less(t, diagonal.Error, 1e-7, "diagonal is not the derivative of the score: %+v", diagonal)
		product, err := gradcheck.HessianProduct(m, x, random(n*d, rng.NormFloat64), gradcheck.Step)
		require.NoError(t, err)
		require.Less(t, product.Error, 1e-7, "H v is not the derivative of the score along v: %+v", product)

		one, err := graph.Build(func(b *graph.Builder) {
			terms := m.Evaluate(b, b.Input("x", n, d))
			if b.Output("score", terms.Score); terms.ConstantHessian {
				b.Output("product", terms.HessianProduct(b.Constant(1, d, random(d, rng.NormFloat64))))
			}
		})
		require.NoError(t, err)
		if one.HasOutput("product") {
			require.NoError(t, one.Run())
			before := slices.Clone(one.Output("product"))
			copy(one.Input("x"), x)
			require.NoError(t, one.Run())
			require.Equal(t, before, one.Output("product"), "the Hessian is said to be the same everywhere")
		}

		u, v := random(n*d, rng.NormFloat64), random(n*d, rng.NormFloat64)
		p, err := graph.Build(func(b *graph.Builder) {
			terms := m.Evaluate(b, b.Input("x", n, d))
			u, v := b.Input("u", n, d), b.Input("v", n, d)
			b.Output("log density", terms.LogDensity)
			b.Minimise(b.Add(b.Add(b.Sum(terms.LogDensity), b.Sum(b.Prod(u, terms.HessianProduct(v)))), b.Add(
				b.Sum(b.Prod(u, b.Square(terms.Score))),
				b.Sum(b.Prod(v, terms.Diagonal)))), m.Params()...)
		})
		require.NoError(t, err)
		copy(p.Input("x"), x)
		copy(p.Input("u"), u)
		copy(p.Input("v"), v)
		diff, err := gradcheck.Params(p, m.Params(), gradcheck.Step, func() (float64, error) { err := p.Run(); return p.Loss(), err })
		require.NoError(t, err)
		require.Less(t, diff.Error, 1e-7, "gradient by the parameters: %+v", diff)

		require.NoError(t, p.Run())
		loss, log := p.Loss(), append([]float64(nil), p.Output("log density")...)
		require.NoError(t, p.Run())
		require.Equal(t, loss, p.Loss(), "a second run differs")
		require.Equal(t, x, p.Input("x"), "the run changed its input")

		copy(p.Input("x")[d:], random((n-1)*d, rng.NormFloat64))
		require.NoError(t, p.Run())
		require.InDelta(t, log[0], p.Output("log density")[0], 1e-12, "row 0 depends on the other rows")
	}
}

func random(n int, draw func() float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = draw()
	}
	return x
}
