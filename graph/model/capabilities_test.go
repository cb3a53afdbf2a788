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
	"missingscore/internal/testtables"
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

func TestModelOfFewParts(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model { return exponential{graph.NewParam("log rate", 1, d)} })
}

func TestCapabilities(t *testing.T) {
	g := model.NewGaussian(2, model.CholeskyFactor)
	fair := &model.LogisticMissingness{Intercept: graph.NewParam("a", 1, 2), Slope: graph.NewParam("b", 2, 2)}
	positive := exponential{graph.NewParam("log rate", 1, 2)}
	whole := model.Capabilities{Density: true, Diagonal: true, HessianProduct: true}
	constant := whole
	constant.ConstantHessian = true
	changed := func(change func(*model.Evaluation)) model.Model { return testtables.Changed{Model: g, Change: change} }
	bare := changed(func(t *model.Evaluation) { *t = model.Evaluation{Score: t.Score} })
	alone := changed(func(t *model.Evaluation) { t.LogDensity, t.ConstantHessian = nil, false })
	second := model.Capabilities{Diagonal: true, HessianProduct: true}
	mean, deviation := []float64{1, 2}, []float64{1, 2}
	for _, c := range []struct {
		name string
		m    model.Model
		want model.Capabilities
	}{
		{"gaussian", g, constant},
		{"natural gaussian", model.NewGaussian(2, model.Natural), constant},
		{"quartic", model.NewQuartic(2), whole},
		{"score alone", alone, second},
		{
			"joint", &model.Joint{Model: g, Missingness: fair},
			model.Capabilities{Density: true, Diagonal: true, HessianProduct: true, MaskConditional: true},
		},
		{
			"joint of few parts", &model.Joint{Model: positive, Missingness: fair},
			model.Capabilities{Density: true, MaskConditional: true, Support: positive.Support()},
		},
		{"rescaled", model.Rescaled{Model: g, Mean: mean, Deviation: deviation}, constant},
		{"rescaled score alone", model.Rescaled{Model: alone, Mean: mean, Deviation: deviation}, second},
		{"rescaled of few parts", model.Rescaled{Model: bare, Mean: mean, Deviation: deviation}, model.Capabilities{}},
	} {
		got, err := model.CapabilitiesOf(c.m)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
	support := model.SupportOf(model.Rescaled{Model: positive, Mean: []float64{1, -2}, Deviation: []float64{2, 3}})
	require.Equal(t, []float64{1, -2}, support.Lower, "x = mean + deviation z with z ≥ 0")
	require.Nil(t, model.SupportOf(g))
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
	box := domain.All(2)
	box.Lower[0] = 0
	x, err := model.SampleRows(g, 50, box, stream.New(1))
	require.NoError(t, err)
	require.Len(t, x, 100)
	for i := 0; i < len(x); i += 2 {
		require.Positive(t, x[i])
	}
}
