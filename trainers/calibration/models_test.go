package calibration

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/data/transform"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

const columns = 3

type subject struct {
	make func(*testing.T) *fitted.Model
	last bool // the last cell of each row is hidden, in place of one or two anywhere
}

func on(s func() *domain.Domain) func(*testing.T) *fitted.Model {
	return func(t *testing.T) *fitted.Model { return gaussian(t, s()) }
}

var subjects = map[string]subject{
	"gaussian":                 {make: func(t *testing.T) *fitted.Model { return gaussian(t, nil) }},
	"gaussian in a box":        {make: on(box)},
	"gaussian in a half-space": {make: on(half)},
	"gaussian on a simplex":    {make: on(func() *domain.Domain { return simplex(-0.6, 0.9) })},
	"gaussian in a corner":     {make: on(func() *domain.Domain { return simplex(0.6, 2.7) })},
	"gaussian, censored":       {make: on(censored), last: true},
	"gaussian with categories": {make: categories, last: true},
	"gaussian with an imputer": {make: func(t *testing.T) *fitted.Model { return imputed(t) }, last: true},
	"mixture":                  {make: mixture},
	alongLevels:                {make: alongNoise},
}

func box() *domain.Domain {
	s := domain.All(columns)
	s.Lower[0], s.Upper[1] = -0.5, 0.7
	return s
}

func half() *domain.Domain {
	s := domain.All(columns)
	s.Half = []domain.HalfSpace{{A: []float64{1, -0.5, 0.7}, B: 0.4}}
	return s
}

// Each number is at least low and their sum at most high.
func simplex(low, high float64) *domain.Domain {
	s := domain.All(columns)
	sum := domain.HalfSpace{B: high}
	for j := range columns {
		s.Lower[j] = low
		sum.A = append(sum.A, 1)
	}
	s.Half = []domain.HalfSpace{sum}
	return s
}

// Numbers of the last column above 0.5 are hidden.
func censored() *domain.Domain {
	none, above := domain.All(columns).Lower, domain.All(columns).Upper
	above[columns-1] = 0.5
	return domain.All(columns).Censoring(none, above)
}

func named(m model.Model, s *domain.Domain) *fitted.Model {
	f := &fitted.Model{Model: m, Domain: s}
	for j := range columns {
		f.Names = append(f.Names, fmt.Sprintf("x%d", j+1))
		f.Scale.Mean, f.Scale.Deviation = append(f.Scale.Mean, 0), append(f.Scale.Deviation, 1)
	}
	return f
}

func gaussian(t *testing.T, s *domain.Domain) *fitted.Model {
	m := model.NewGaussian(columns, model.CholeskyFactor)
	m.SetMean(centre)
	require.NoError(t, m.SetPrecision(precision()))
	return named(m, s)
}

var centre = []float64{0.3, -0.2, 0.1}

func precision() *mat.SymDense {
	return mat.NewSymDense(columns, []float64{1.5, 0.6, -0.4, 0.6, 1.2, 0.3, -0.4, 0.3, 0.9})
}

func mixture(t *testing.T) *fitted.Model {
	m, err := model.New("mixture", columns, []byte(`{"components":2}`), stream.New(1))
	require.NoError(t, err)
	p := m.(model.Parametric)
	q := p.Quantities()
	for i, v := range q {
		switch v.Name {
		case "means":
			copy(q[i].Value, []float64{-0.8, 0.5, 0, 0.7, -0.4, 0.6})
		case "deviations":
			copy(q[i].Value, []float64{0.7, 1, 0.8, 0.9, 0.6, 1.1})
		}
	}
	require.NoError(t, p.SetQuantities(q))
	return named(m, nil)
}

//	E[x_d | others] = μ_d − Σ_j P_dj (x_j − μ_j)/P_dd,   deviation 1/√P_dd
//
// by a network with a rectified unit for each other column and one for its negative.
func imputed(t *testing.T) *fitted.Model {
	f, p := gaussian(t, nil), precision()
	const last, units = columns - 1, 2 * (columns - 1)
	m := nets.NewNormalImputer(columns, nets.NormalOptions{Hidden: units}, stream.New(1))
	for _, q := range m.Params() {
		clear(q.Value)
	}
	first, second, third, constant := m.Params()[0], m.Params()[2], m.Params()[4], m.Params()[5]
	constant.Value[last] = centre[last]
	for j := range last {
		slope := -p.At(last, j) / p.At(last, last)
		constant.Value[last] -= slope * centre[j]
		for side, sign := range []float64{1, -1} {
			unit := 2*j + side
			first.Value[j*units+unit] = sign
			second.Value[unit*units+unit] = 1
			third.Value[unit*columns+last] = sign * slope
		}
	}
	m.LogSD.Value[0] = -math.Log(p.At(last, last)) / 2
	f.Imputer = m
	return f
}

var thresholds = [][]float64{{-0.6, 0.4}, {0.1}}

// All columns but the last are ordered categories.
func categories(t *testing.T) *fitted.Model {
	f := gaussian(t, nil)
	var err error
	f.Transform, err = transform.Read([]byte(`{"x1": {"kind": "ordinal", "categories": [0, 1, 2], "thresholds": [-0.6, 0.4]}, "x2": {"kind": "ordinal", "categories": [0, 1], "thresholds": [0.1]}}`), f.Names)
	require.NoError(t, err)
	return f
}

// N(0, Σ) by the score of its noisy rows, Σ = QΛQᵀ: ∇ log N(x; 0, a²Σ + σ²I) = −Q (a²Λ + σ²)⁻¹ Qᵀ x
type noisy struct {
	*model.Gaussian
	e mat.EigenSym // of Σ

	signal, sigma graph.Node // of AtNoise
}

// With the default schedule of denoising.
func alongNoise(t *testing.T) *fitted.Model {
	m, correlations := &noisy{Gaussian: model.NewGaussian(columns, model.CholeskyFactor)}, mat.NewSymDense(columns, []float64{1, 0.8, 0.5, 0.8, 1, 0.3, 0.5, 0.3, 1})
	var c mat.Cholesky
	var inverse mat.SymDense
	require.True(t, c.Factorize(correlations) && m.e.Factorize(correlations, true))
	require.NoError(t, c.InverseTo(&inverse))
	require.NoError(t, m.SetPrecision(&inverse))
	schedule, err := noise.Schedule{}.WithDefaults()
	require.NoError(t, err)
	f := named(m, nil)
	f.Noise = &schedule
	return f
}

func (m *noisy) AtNoise(signal, sigma graph.Node) model.Model {
	at := *m
	at.signal, at.sigma = signal, sigma
	return &at
}

func (m *noisy) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	if m.signal == nil {
		return m.Gaussian.Evaluate(b, x)
	}
	n, d := graph.Shape(x)
	var q mat.Dense
	m.e.VectorsTo(&q)
	values := m.e.Values(nil)
	return model.Evaluation{Score: b.Apply(graph.Op{Name: "score with noise", Rows: n, Cols: d, Kernel: func(out []float64, in [][]float64) error {
		along, score := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
		for i := range n {
			along.MulVec(q.T(), mat.NewVecDense(d, in[0][i*d:(i+1)*d]))
			for k, value := range values {
				along.SetVec(k, -along.AtVec(k)/(in[1][i]*in[1][i]*value+in[2][i]*in[2][i]))
			}
			score.MulVec(&q, along)
			copy(out[i*d:], score.RawVector().Data)
		}
		return nil
	}}, x, m.signal, m.sigma)}
}
