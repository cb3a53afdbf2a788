package model_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
)

func TestRefusals(t *testing.T) {
	g, q, mixture := model.NewGaussian(2, model.CholeskyFactor), model.NewQuartic(2), randomMixture(t, 3, 4)
	indefinite, three := mat.NewSymDense(2, []float64{1, 2, 2, 1}), mat.NewSymDense(3, nil)
	require.NoError(t, model.NewGaussian(2, model.FreeSymmetric).SetPrecision(indefinite))
	noScore := testtables.Changed{Model: g, Change: func(t *model.Evaluation) { t.Score = nil }}
	flat := mixture.Quantities()
	flat[2].Value[1] = 0
	mixed, bent, broken := mixedExample(), mixedExample(), mixedExample()
	bent.Covariances[1][1], bent.Covariances[1][2] = 3, 3
	broken.Shares[1][0] = 0.7
	made := func(name, options string) error {
		_, err := model.New(name, 4, []byte(options), stream.New(1))
		return err
	}
	score := func(m model.Model) error {
		_, err := graph.Build(func(b *graph.Builder) { b.Output("score", m.Evaluate(b, b.Input("x", 1, 2)).Score) })
		return err
	}
	law := model.NewLogisticMissingness(logisticOn(2))
	rescaled := func(mean, deviation []float64) error {
		return score(model.Rescaled{Model: g, Mean: mean, Deviation: deviation})
	}
	second := func(_ any, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{made("gausian", ""), `there is no model "gausian" (did you mean gaussian?); models are gaussian, gaussian-natural,`},
		{made("mixture", `{"components":2,"levels":[0,3]}`), "levels of 2 columns are given, 4 are needed"},
		{made("mixture", `{"components":2,"levels":[0,-3,0,1]}`), "levels: give the number of levels of each column"},
		{g.SetPrecision(indefinite), "not positive definite"},
		{g.SetPrecision(three), "does not fit"},
		{q.SetTheta(indefinite), "not positive definite"},
		{q.SetTheta(three), "does not fit"},
		{mixture.SetQuantities(nil), "weights is missing"},
		{mixture.SetQuantities(flat), "must be positive"},
		{model.NewMixed(mixed).SetQuantities(model.NewMixed(bent).Quantities()), "covariances: component 2 is not positive definite"},
		{model.NewMixed(mixed).SetQuantities(model.NewMixed(broken).Quantities()), "shares: component 2, column 2"},
		{second(model.CapabilitiesOf(noScore)), "the model gives no score"},
		{second(model.NewEvaluator(noScore, 1, false)), "the model gives no score"},
		{score(&model.Joint{Model: g, Missingness: law}), "needs the mask of observed cells"},
		{rescaled([]float64{1}, []float64{1, 2}), "1 means and 2 standard deviations for 2 columns"},
		{rescaled([]float64{1, 1}, []float64{1, 0}), "the standard deviation of column 2 is 0"},
		{second(graph.Build(func(b *graph.Builder) {
			b.Output("mean", model.NewGaussian(2, model.Natural).MeanNode(b))
		})), "the parameter η = Pμ"},
	} {
		require.ErrorContains(t, c.err, c.want)
	}
}

func TestShapesOfEvaluation(t *testing.T) {
	for want, parts := range map[string]func(*model.Evaluation){
		"LogDensity has shape (4, 3), expected (4, 1)": func(e *model.Evaluation) { e.LogDensity = e.Score },
		"Score has shape (4, 1), expected (4, 3)":      func(e *model.Evaluation) { e.Score = e.LogDensity },
		"Diagonal has shape (4, 1), expected (4, 3)":   func(e *model.Evaluation) { e.Diagonal = e.LogDensity },
		"HessianProduct has shape (4, 1), expected (4, 3)": func(e *model.Evaluation) {
			log := e.LogDensity
			e.HessianProduct = func(graph.Node) graph.Node { return log }
		},
	} {
		_, err := graph.Build(func(b *graph.Builder) {
			x := b.Input("x", 4, 3)
			m := testtables.Changed{Model: model.NewGaussian(3, model.CholeskyFactor), Change: parts}
			e := model.Evaluate(b, m, x)
			b.Output("product", e.NeedHessianProduct(b)(x))
		})
		require.EqualError(t, err, "the model's "+want)
	}
}

func TestDerivedRefusals(t *testing.T) {
	root := &graph.Function{Name: "root", F: math.Sqrt}
	mass := func(b *graph.Builder, x graph.Node) graph.Node {
		return b.RowSum(graph.LogMass(b, x, b.Map(graph.Complement, x)))
	}
	diagonal := func(b *graph.Builder, e model.Evaluation) graph.Node { return e.NeedDiagonal(b) }
	zero := func(b *graph.Builder, x graph.Node) graph.Node { return b.Scale(0, x) }
	for name, c := range map[string]struct {
		log  func(b *graph.Builder, x graph.Node) graph.Node
		need func(b *graph.Builder, e model.Evaluation) graph.Node
		want string
	}{
		"no derivative": {
			func(b *graph.Builder, x graph.Node) graph.Node { return b.RowSum(b.Map(root, x)) }, nil,
			"root has no derivative, which is needed here",
		},
		"no second derivative": {
			mass, diagonal,
			"cannot be derived: logmass has no second derivative",
		},
		"no second derivative for a product": {
			mass, func(b *graph.Builder, e model.Evaluation) graph.Node { return e.HessianProduct(zero(b, e.Score)) },
			"has no derivative, which is needed here",
		},
		"mixed rows": {
			func(b *graph.Builder, x graph.Node) graph.Node { return b.RowSum(b.Sub(x, b.Rows(b.ColSum(x), 4))) },
			diagonal,
			"colsum has no second derivative along coordinates, or mixes rows",
		},
		"mixed rows by a product": {
			func(b *graph.Builder, x graph.Node) graph.Node { return b.RowSum(b.MatMul(false, true, x, x)) },
			diagonal,
			"mixes rows of x",
		},
		"a rectifier": {
			func(b *graph.Builder, x graph.Node) graph.Node {
				return b.RowSum(b.Map(graph.Rectifier, b.Affine(x, b.Constant(2, 1, []float64{1, 2}), b.Constant(1, 1, []float64{1}))))
			},
			diagonal,
			"a rectifier has no second derivative: use a smooth activation",
		},
		"wrong shape": {zero, nil, "the log density of 4 rows has shape (4, 2), expected (4, 1)"},
	} {
		_, err := graph.Build(func(b *graph.Builder) {
			m := model.FromLogDensity(2, nil, c.log)
			e := m.Evaluate(b, b.Input("x", 4, 2))
			b.Output("score", e.Score)
			if c.need != nil {
				b.Output("second", c.need(b, e))
			}
		})
		require.ErrorContains(t, err, c.want, name)
	}
}
