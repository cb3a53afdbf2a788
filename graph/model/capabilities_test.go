package model_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/internal/stream"
)

type exponential struct{ log *graph.Param }

func (m exponential) Dim() int               { return m.log.Cols }
func (m exponential) Params() []*graph.Param { return []*graph.Param{m.log} }

func (m exponential) Support() *domain.Domain {
	s := domain.All(m.Dim())
	clear(s.Lower)
	return s
}

func (m exponential) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	minus := b.Rows(b.Scale(-1, b.Map(graph.Exp, b.Param(m.log))), n)
	root := &graph.Function{Name: "checked", F: func(v float64) float64 { // as √x would, it knows its support
		if v < 0 {
			return math.NaN()
		}
		return v
	}, Derivative: &graph.Function{Name: "one", F: func(float64) float64 { return 1 }}}
	return model.Evaluation{LogDensity: b.RowDot(b.Map(root, x), minus), Score: minus}
}

type leave struct {
	model.Model
	parts func(*model.Evaluation)
}

func (m leave) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	t := m.Model.Evaluate(b, x)
	m.parts(&t)
	return t
}

func TestModelsOfFewParts(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model { return exponential{graph.NewParam("log rate", 1, d)} })
	for _, parts := range []func(*model.Evaluation){
		func(t *model.Evaluation) { t.LogDensity = nil },
		func(t *model.Evaluation) { t.Diagonal = nil },
		func(t *model.Evaluation) { t.HessianProduct = nil },
		func(t *model.Evaluation) { t.LogDensity, t.Diagonal, t.HessianProduct = nil, nil, nil },
	} {
		modeltest.Run(t, func(d int) model.Model { return leave{newMixture(t, randomMixture(d, 2)), parts} })
	}
}

func TestCapabilities(t *testing.T) {
	g := model.NewGaussian(2, model.CholeskyFactor)
	fair := &model.LogisticMissingness{Intercept: graph.NewParam("a", 1, 2), Slope: graph.NewParam("b", 2, 2)}
	positive := exponential{graph.NewParam("log rate", 1, 2)}
	whole := model.Capabilities{Density: true, Diagonal: true, HessianProduct: true}
	for _, c := range []struct {
		name string
		m    model.Model
		want model.Capabilities
	}{
		{"gaussian", g, model.Capabilities{Density: true, Diagonal: true, HessianProduct: true, ConstantHessian: true}},
		{"quartic", model.NewQuartic(2), whole},
		{"score alone", leave{g, func(t *model.Evaluation) { t.LogDensity, t.ConstantHessian = nil, false }}, model.Capabilities{Diagonal: true, HessianProduct: true}},
		{"joint", &model.Joint{Model: g, Missingness: fair}, model.Capabilities{Density: true, Diagonal: true, HessianProduct: true, MaskConditional: true}},
		{"joint of few parts", &model.Joint{Model: positive, Missingness: fair}, model.Capabilities{Density: true, MaskConditional: true, Support: positive.Support()}},
		{"rescaled", model.Rescaled{Model: g, Mean: []float64{1, 2}, Deviation: []float64{1, 2}}, model.Capabilities{Density: true, Diagonal: true, HessianProduct: true, ConstantHessian: true}},
		{"rescaled of few parts", model.Rescaled{Model: leave{g, func(t *model.Evaluation) { *t = model.Evaluation{Score: t.Score} }}, Mean: []float64{1, 2}, Deviation: []float64{1, 2}}, model.Capabilities{}},
	} {
		got, err := model.CapabilitiesOf(c.m)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
	_, err := model.CapabilitiesOf(leave{g, func(t *model.Evaluation) { t.Score = nil }})
	require.ErrorContains(t, err, "the model gives no score")

	support := model.SupportOf(model.Rescaled{Model: positive, Mean: []float64{1, -2}, Deviation: []float64{2, 3}})
	require.Equal(t, []float64{1, -2}, support.Lower, "x = mean + deviation z with z ≥ 0")
	require.Nil(t, model.SupportOf(g))
}

func TestEvaluatorNeedsAScore(t *testing.T) {
	_, err := model.NewEvaluator(leave{model.NewQuartic(2), func(t *model.Evaluation) { t.Score = nil }}, 1, false)
	require.ErrorContains(t, err, "the model gives no score")
}

type borrowed struct{ *model.Gaussian }

func (m borrowed) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	t := m.Gaussian.Evaluate(b, x)
	return model.Evaluation{Score: b.Prod(t.Score, b.Map(graph.Square, t.Score))}
}

func TestNormalAndSampler(t *testing.T) {
	g := model.NewGaussian(2, model.CholeskyFactor)
	require.NoError(t, g.SetPrecision(mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1})))
	n, ok := model.AsNormal(g)
	require.True(t, ok)
	require.Equal(t, g.Mean(), n.Mean())
	for name, m := range map[string]model.Model{"another": model.NewQuartic(2), "borrowed": borrowed{g}, "of masks": &model.Joint{Model: g}} {
		_, ok := model.AsNormal(m)
		require.False(t, ok, name)
		_, err := model.SampleRows(m, 5, nil, rand.New(rand.NewPCG(1, 1)))
		require.ErrorIs(t, err, model.ErrNoExactSampler, name)
	}
	_, err := graph.Build(func(b *graph.Builder) {
		b.Output("mean", model.NewGaussian(2, model.Natural).MeanNode(b))
	})
	require.ErrorContains(t, err, "the parameter η = Pμ")

	box := domain.All(2)
	box.Lower[0] = 0
	x, err := model.SampleRows(g, 50, box, stream.New(1))
	require.NoError(t, err)
	require.Len(t, x, 100)
	for i := 0; i < len(x); i += 2 {
		require.Positive(t, x[i])
	}
}

func TestTrainingDefaults(t *testing.T) {
	general := model.TrainingOf(model.NewGaussian(2, model.CholeskyFactor))
	require.Equal(t, []float64{200, 0.01, 0.001}, []float64{float64(general.Epochs(7, false)), general.Rate, general.ImputerRate})
	quartic := model.TrainingOf(model.NewQuartic(2))
	require.Equal(t, []float64{25, 84, 0.01, 0.003}, []float64{float64(quartic.Epochs(10, false)), float64(quartic.Epochs(3, true)), quartic.Rate, quartic.ImputerRate})
}

type misshapen struct {
	model.Model
	part string
}

func (m misshapen) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	e := m.Model.Evaluate(b, x)
	switch m.part {
	case "LogDensity":
		e.LogDensity = x
	case "Score":
		e.Score = e.LogDensity
	case "Diagonal":
		e.Diagonal = e.LogDensity
	case "HessianProduct":
		e.HessianProduct = func(graph.Node) graph.Node { return e.LogDensity }
	}
	return e
}

func TestShapesOfEvaluation(t *testing.T) {
	for part, want := range map[string]string{
		"LogDensity": "LogDensity has shape (4, 3), expected (4, 1)", "Score": "Score has shape (4, 1), expected (4, 3)",
		"Diagonal": "Diagonal has shape (4, 1), expected (4, 3)", "HessianProduct": "HessianProduct has shape (4, 1), expected (4, 3)",
	} {
		_, err := graph.Build(func(b *graph.Builder) {
			x := b.Input("x", 4, 3)
			e := model.Evaluate(b, misshapen{model.NewGaussian(3, model.CholeskyFactor), part}, x)
			b.Output("product", e.NeedHessianProduct(b)(x))
		})
		require.EqualError(t, err, "the model's "+want)
	}
}
