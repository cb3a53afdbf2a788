package calibration

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/data/noise"
	"missingscore/data/transform"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

const columns = 3

// subject is a model with independent draws of its own.
type subject struct {
	make func() (*fitted.Model, error)
	last bool // the last cell of each row is hidden, in place of one or two anywhere
}

// subjects are those that rows are drawn from, by name. A new one is a line here.
var subjects = map[string]subject{
	"gaussian":                 {make: func() (*fitted.Model, error) { return gaussian(nil) }},
	"gaussian in a box":        {make: func() (*fitted.Model, error) { return gaussian(box()) }},
	"gaussian in a half-space": {make: func() (*fitted.Model, error) { return gaussian(half()) }},
	"gaussian on a simplex":    {make: func() (*fitted.Model, error) { return gaussian(simplex(-0.6, 0.9)) }},
	"gaussian in a corner":     {make: func() (*fitted.Model, error) { return gaussian(simplex(0.6, 2.7)) }},
	"gaussian, censored":       {make: func() (*fitted.Model, error) { return gaussian(censored()) }, last: true},
	"gaussian with categories": {make: categories, last: true},
	"gaussian with an imputer": {make: func() (*fitted.Model, error) { return imputed(right) }, last: true},
	"gaussian, poor imputer":   {make: func() (*fitted.Model, error) { return imputed(poor) }, last: true},
	"mixture":                  {make: mixture},
	"gaussian along noise":     {make: alongNoise},
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

// simplex is where each number is at least low and their sum at most high.
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

// censored hides the last column's numbers above 0.5.
func censored() *domain.Domain {
	none, above := domain.All(columns).Lower, domain.All(columns).Upper
	above[columns-1] = 0.5
	return domain.All(columns).Censoring(none, above)
}

// named is a model of rows in units of their own.
func named(m model.Model, s *domain.Domain) *fitted.Model {
	f := &fitted.Model{Model: m, Domain: s}
	for j := range columns {
		f.Names = append(f.Names, fmt.Sprintf("x%d", j+1))
		f.Scale.Mean, f.Scale.Deviation = append(f.Scale.Mean, 0), append(f.Scale.Deviation, 1)
	}
	return f
}

func gaussian(s *domain.Domain) (*fitted.Model, error) {
	m := model.NewGaussian(columns, model.CholeskyFactor)
	m.SetMean(centre)
	return named(m, s), m.SetPrecision(precision())
}

var centre = []float64{0.3, -0.2, 0.1}

func precision() *mat.SymDense {
	return mat.NewSymDense(columns, []float64{1.5, 0.6, -0.4, 0.6, 1.2, 0.3, -0.4, 0.3, 0.9})
}

// mixture has two modes that chains cross.
func mixture() (*fitted.Model, error) {
	m, err := model.New("mixture", columns, []byte(`{"components":2}`), stream.New(1))
	if err != nil {
		return nil, err
	}
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
	return named(m, nil), p.SetQuantities(q)
}

// lastGiven is a conditional normal of the gaussian's last column given the others,
//
//	E[x_d | others] = μ_d − share Σ_j P_dj (x_j − μ_j)/P_dd,   deviation wider/√P_dd
type lastGiven struct{ share, wider float64 }

var (
	right = lastGiven{share: 1, wider: 1}    // the exact one
	poor  = lastGiven{share: 0, wider: 0.72} // of an imputer that training has hardly begun
)

// line is that mean as constant + Σ_j slopes_j x_j, and the deviation.
func (l lastGiven) line() (constant float64, slopes []float64, sd float64) {
	p, last := precision(), columns-1
	constant = centre[last]
	for j := range last {
		slopes = append(slopes, -l.share*p.At(last, j)/p.At(last, last))
		constant -= slopes[j] * centre[j]
	}
	return constant, slopes, l.wider / math.Sqrt(p.At(last, last))
}

// imputed is a gaussian whose imputer's network is that conditional: with a rectified unit for
// each other column, one for its negative, and these once more.
func imputed(l lastGiven) (*fitted.Model, error) {
	f, err := gaussian(nil)
	if err != nil {
		return nil, err
	}
	const last, units = columns - 1, 2 * (columns - 1)
	m := nets.NewNormalImputer(columns, nets.NormalOptions{Hidden: units}, stream.New(1))
	for _, q := range m.Params() {
		clear(q.Value)
	}
	first, second, third, constant := m.Params()[0], m.Params()[2], m.Params()[4], m.Params()[5]
	at, slopes, sd := l.line()
	constant.Value[last] = at
	for j, slope := range slopes {
		for side, sign := range []float64{1, -1} {
			unit := 2*j + side
			first.Value[j*units+unit] = sign
			second.Value[unit*units+unit] = 1
			third.Value[unit*columns+last] = sign * slope
		}
	}
	m.LogSD.Value[0] = math.Log(sd)
	f.Imputer = m
	return f, nil
}

// thresholds of the columns that categories knows by intervals.
var thresholds = [][]float64{{-0.6, 0.4}, {0.1}}

// categories is a gaussian whose columns but the last are known by ordered categories.
func categories() (*fitted.Model, error) {
	f, err := gaussian(nil)
	if err == nil {
		f.Transform, err = transform.Read([]byte(`{"x1": {"kind": "ordinal", "categories": [0, 1, 2], "thresholds": [-0.6, 0.4]}, "x2": {"kind": "ordinal", "categories": [0, 1], "thresholds": [0.1]}}`), f.Names)
	}
	return f, err
}

// correlations are those of a Gaussian of standardised columns.
func correlations() *mat.SymDense {
	return mat.NewSymDense(columns, []float64{1, 0.8, 0.5, 0.8, 1, 0.3, 0.5, 0.3, 1})
}

// noisy is a Gaussian N(0, Σ) that knows the score of its rows with noise, with Σ = QΛQᵀ
//
//	∇ log N(x; 0, a²Σ + σ²I) = −Q (a²Λ + σ²)⁻¹ Qᵀ x
type noisy struct {
	*model.Gaussian
	vectors []float64 // Q (d, d)
	values  []float64 // Λ (d)

	signal, sigma graph.Node // of AtNoise
}

// alongNoise is that model as a fit by denoising with the default schedule, whose error is none.
func alongNoise() (*fitted.Model, error) {
	g := model.NewGaussian(columns, model.CholeskyFactor)
	var c mat.Cholesky
	c.Factorize(correlations())
	var inverse mat.SymDense
	if err := c.InverseTo(&inverse); err != nil {
		return nil, err
	}
	if err := g.SetPrecision(&inverse); err != nil {
		return nil, err
	}
	var e mat.EigenSym
	e.Factorize(correlations(), true)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	schedule, err := noise.Schedule{}.WithDefaults()
	f := named(&noisy{Gaussian: g, vectors: vectors.RawMatrix().Data, values: e.Values(nil)}, nil)
	f.Noise = &schedule
	return f, err
}

// AtNoise implements model.NoiseConditional.
func (m *noisy) AtNoise(signal, sigma graph.Node) model.Model {
	at := *m
	at.signal, at.sigma = signal, sigma
	return &at
}

// Evaluate implements model.Model: of rows with noise there is the score alone.
func (m *noisy) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	if m.signal == nil {
		return m.Gaussian.Evaluate(b, x)
	}
	n, d := graph.Shape(x)
	return model.Evaluation{Score: b.Apply(graph.Op{Name: "score with noise", Rows: n, Cols: d, Kernel: func(out []float64, in [][]float64) error {
		for i := range n {
			m.score(out[i*d:(i+1)*d], in[0][i*d:(i+1)*d], in[1][i], in[2][i])
		}
		return nil
	}}, x, m.signal, m.sigma)}
}

// score is that at one row.
func (m *noisy) score(s, x []float64, a, sigma float64) {
	clear(s)
	d := len(x)
	for k, value := range m.values {
		along := 0.0
		for j, v := range x {
			along -= m.vectors[j*d+k] * v
		}
		along /= a*a*value + sigma*sigma
		for j := range s {
			s[j] += m.vectors[j*d+k] * along
		}
	}
}
